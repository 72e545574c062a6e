//go:build !unix

package mcplock

import "os"

func lockFile(*os.File) error { return nil } // where files have no advisory locks
