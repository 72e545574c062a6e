//go:build !unix

package sqlite

import "os"

func lockFile(*os.File) error   { return nil } // SQLite's own lock is enough, though not in turn
func unlockFile(*os.File) error { return nil }
