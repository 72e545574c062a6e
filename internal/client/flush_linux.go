package client

import "golang.org/x/sys/unix"

// flush drops what was typed and not read yet.
func flush(terminal int) { _ = unix.IoctlSetInt(terminal, unix.TCFLSH, unix.TCIFLUSH) }
