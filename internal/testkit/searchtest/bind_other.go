//go:build !linux

package searchtest

import "os/exec"

// bindToParent does nothing here: a node keeps running when its test binary is
// killed.
func bindToParent(*exec.Cmd) {}
