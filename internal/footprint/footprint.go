// Package footprint keeps the memory of a process small: it gives back to the system what
// only the start of the process needed, and what served requests long ago, and collects
// sooner while much is alive.
package footprint

import (
	"context"
	"runtime/debug"
	"time"
)

// Trim returns to the system what the collector has freed, and on Linux the pages of the
// program file: the initialisation of packages reads most of it, serving a part. A page
// that is used again is mapped again.
func Trim() {
	debug.FreeOSMemory()
	releaseProgram()
}

// period is how often Watch looks: what is in use is mapped again within milliseconds.
const period = time.Minute

// Watch releases the pages of the program file each minute until ctx ends: what is used
// rarely, such as the beginning of sessions, is not resident for the rest of the process.
func Watch(ctx context.Context) {
	again := time.NewTicker(period)
	defer again.Stop()
	for {
		select {
		case <-again.C:
			releaseProgram()
		case <-ctx.Done():
			return
		}
	}
}
