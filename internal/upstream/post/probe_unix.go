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
