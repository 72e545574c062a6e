package agent

import (
	"context"
	"sync"
	"time"

	"countersign.dev/internal/result"
)

// Limits of the progress of one call.
const (
	reportPause = time.Second // at least, between two reports
	maxReports  = 100
)

// callReport is a report of the call of that index.
type callReport struct {
	index    int
	progress result.Progress
}

// withReports asks for the progress of one call. Reports beyond the limits are
// dropped, and so is one that the turn has no time to take.
func withReports(ctx context.Context, index int, reports chan<- callReport) context.Context {
	var (
		mu    sync.Mutex
		count int
		last  time.Time
	)
	return result.WithProgress(ctx, func(p result.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now := time.Now()
		if count == maxReports || count > 0 && now.Sub(last) < reportPause {
			return
		}
		select {
		case reports <- callReport{index, p}:
			count, last = count+1, now
		default:
		}
	})
}
