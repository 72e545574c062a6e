package testkit

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Git runs git in a folder, without the settings of the machine, and returns what it prints. It
// skips the test where there is none.
func Git(t testing.TB, folder string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		Missing(t, "git")
	}
	var errors strings.Builder
	c := exec.Command(program, append([]string{"-c", "user.name=Nina", "-c", "user.email=nina@example.com", "-c", "core.excludesFile=" + os.DevNull}, args...)...)
	c.Dir = folder
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	c.Stderr = &errors
	out, err := c.Output()
	if err != nil {
		t.Fatalf("git %v: %v: %s%s", args, err, out, &errors)
	}
	return string(out)
}
