//go:build !unix

package supervise

import (
	"fmt"
	"os"
	"syscall"
)

const runningExecutable = ""

func ownGroup() *syscall.SysProcAttr { return nil }

// Main refuses: no way to end all processes of a program is built for this system.
func Main([]string) int {
	fmt.Fprintln(os.Stderr, "servers over stdio need Linux or another Unix")
	return 1
}
