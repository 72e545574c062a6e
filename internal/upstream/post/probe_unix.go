//go:build unix

package post

import "syscall"

// silent reports whether a connection that does not block is open and has nothing to
// read. It reads what there is: the connection is not used again then.
func silent(fd uintptr) bool {
	var one [1]byte
	n, err := syscall.Read(int(fd), one[:])
	return n < 0 && (err == syscall.EAGAIN || err == syscall.EWOULDBLOCK)
}

// written writes as much as a connection that does not block takes at once. An error
// is left to the next write.
func written(fd uintptr, b []byte) int {
	n, err := syscall.Write(int(fd), b)
	if err != nil {
		return 0
	}
	return n
}
