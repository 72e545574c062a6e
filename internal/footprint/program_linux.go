package footprint

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram unmaps the pages of the program file that are read only. Whatever goes
// wrong costs memory alone, so it is not reported.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line) // such as 00400000-02868000 r-xp 00000000 fe:00 17 /usr/bin/countersign
		if len(fields) != 6 || fields[5] != program || !strings.HasPrefix(fields[1], "r-") {
			continue
		}
		first, last, _ := strings.Cut(fields[0], "-")
		from, err := strconv.ParseUint(first, 16, 64)
		to, bad := strconv.ParseUint(last, 16, 64)
		if err == nil && bad == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(from), uintptr(to-from), syscall.MADV_DONTNEED)
		}
	}
}
