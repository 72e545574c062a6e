package testkit

import (
	"slices"
	"testing"
	"time"
)

// Measure runs a call and reports the median and the 95th percentile besides
// the mean.
func Measure(b *testing.B, call func()) {
	call() // the first one prepares statements
	times := make([]time.Duration, 0, 1000)
	for b.Loop() {
		started := time.Now()
		call()
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[int(q*float64(len(times)-1))].Seconds() * 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
}
