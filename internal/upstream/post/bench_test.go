package post_test

import (
	"net"
	"net/http"
	"syscall"
	"testing"

	"countersign.dev/internal/upstream/post"
)

// BenchmarkSend asks what one exchange costs by our own client, against http.Transport
// with the same server, which allocates nothing and reads no header.
func BenchmarkSend(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	answer := []byte(plain(string(make([]byte, 900))))
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				for in := make([]byte, 64<<10); ; { // a request comes in one piece
					if _, err := c.Read(in); err != nil {
						return
					}
					_, _ = c.Write(answer)
				}
			}()
		}
	}()
	base := "http://" + l.Addr().String()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	for name, sender := range map[string]post.Sender{"client": client(b, base), "transport": post.Transport{Base: base, HTTP: transport, MaxAnswer: most}} {
		b.Run(name, func(b *testing.B) {
			r := request(string(make([]byte, 300)))
			b.ReportAllocs()
			before := used(b)
			for b.Loop() {
				if a, err := sender.Send(b.Context(), r); err != nil || len(a.Body) != 900 {
					b.Fatal(err)
				}
			}
			b.ReportMetric((used(b)-before)/float64(b.N), "cpu-µs/op")
		})
	}
}

// used is the CPU time of this process, in microseconds.
func used(b *testing.B) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1000
}
