package testkit

import (
	"os"
	"os/exec"
	"testing"
)

// Git runs git in a folder, without the settings of the machine. It skips the test where there is
// none.
func Git(t testing.TB, folder string, args ...string) {
	t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		Missing(t, "git")
	}
	c := exec.Command(program, append([]string{"-c", "user.name=Nina", "-c", "user.email=nina@example.com"}, args...)...)
	c.Dir = folder
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", args, err, out)
	}
}
