package testkit

import (
	"slices"
	"testing"
	"time"
)

// Measure runs a call, and reports and returns the median and the 95th percentile in
// milliseconds, besides the mean.
func Measure(b *testing.B, call func()) (p50, p95 float64) {
	call() // the first one prepares statements
	times := make([]time.Duration, 0, 1000)
	for b.Loop() {
		started := time.Now()
		call()
		times = append(times, time.Since(started))
	}
	return Percentiles(b, times)
}

// Percentiles reports and returns the median and the 95th percentile of some times in
// milliseconds.
func Percentiles(b *testing.B, times []time.Duration) (p50, p95 float64) {
	slices.Sort(times)
	at := func(q float64) float64 { return times[int(q*float64(len(times)-1))].Seconds() * 1000 }
	p50, p95 = at(0.5), at(0.95)
	b.ReportMetric(p50, "p50-ms")
	b.ReportMetric(p95, "p95-ms")
	return p50, p95
}
