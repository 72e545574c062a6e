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
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, s := range releasable(string(mappings), program) {
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, s.from, s.to-s.from, syscall.MADV_DONTNEED)
	}
}

// addressRange is a part of the address space.
type addressRange struct{ from, to uintptr }

// releasable are the mappings of a file, of those in the format of /proc/PID/smaps, that
// are read only and as the file has them. Pages that were changed are not in the file and
// would be lost: the loader relocates pointers in programs that run at any address.
func releasable(mappings, file string) (ranges []addressRange) {
	var current addressRange
	for line := range strings.Lines(mappings) {
		fields := strings.Fields(line)
		switch {
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"): // such as 00400000-02868000 r-xp 00000000 fe:00 17 /usr/bin/countersign
			current = addressRange{}
			if len(fields) == 6 && fields[5] == file && strings.HasPrefix(fields[1], "r-") {
				current = rangeOf(fields[0])
			}
		case fields[0] == "Anonymous:" && fields[1] == "0" && current != addressRange{}:
			ranges = append(ranges, current)
		}
	}
	return ranges
}

func rangeOf(addresses string) addressRange {
	first, last, _ := strings.Cut(addresses, "-")
	from, err := strconv.ParseUint(first, 16, 64)
	to, bad := strconv.ParseUint(last, 16, 64)
	if err != nil || bad != nil {
		return addressRange{}
	}
	return addressRange{uintptr(from), uintptr(to)}
}
