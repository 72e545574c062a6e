package testkit

import (
	"os"
	"syscall"
)

const (
	memory     = "/dev/shm"
	memoryRoom = 2 << 30 // bytes; the largest test binary takes less than 1 GB
	memoryKind = 0x01021994
	noPrograms = 8 // no file in it may be run
)

// InMemory makes the temporary folders of this process and of its children ones in
// memory, where the machine has room for that: tests make private databases by the
// dozen, and their thousands of files cost more on a disk than all that is done with
// them. A TestMain calls it first. A TMPDIR that is set stays.
func InMemory() {
	var about syscall.Statfs_t
	if os.Getenv("TMPDIR") != "" || syscall.Statfs(memory, &about) != nil {
		return
	}
	room := about.Bavail * uint64(about.Bsize)
	if about.Type == memoryKind && about.Flags&noPrograms == 0 && room >= memoryRoom {
		_ = os.Setenv("TMPDIR", memory) // else they are on the disk
	}
}
