package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"testing"
)

// portsTaken are those that FreePort has given out in this process.
var portsTaken sync.Map

// FreePort finds a port of loopback at which nothing listens, whose neighbours at
// those distances are free too, for what is started there later, or again. It
// looks below the range from which systems take ports by themselves: one of
// those can be the end of someone's connection by then.
func FreePort(t testing.TB, neighbours ...int) string {
	t.Helper()
	for range 1000 {
		port := 10000 + 100*rand.IntN(200)
		if _, taken := portsTaken.LoadOrStore(port, true); !taken && allFree(port, neighbours) {
			return strconv.Itoa(port)
		}
	}
	t.Fatal("no free port was found")
	return ""
}

func allFree(port int, neighbours []int) bool {
	for _, distance := range append([]int{0}, neighbours...) {
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+distance)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}
