// Package footprint gives memory back to the system that only the start of a process
// needed.
package footprint

import "runtime/debug"

// Trim returns to the system what the collector has freed, and on Linux the pages of the
// program file: the initialisation of packages reads most of it, serving a part. A page
// that is used again is mapped again.
func Trim() {
	debug.FreeOSMemory()
	releaseProgram()
}
