package quota

import (
	"sync"
	"time"

	"countersign.dev/internal/access"
)

// personTool is one person's use of one tool.
type personTool struct {
	owner access.Owner
	tool  string
}

// callBudget is what a person called of a tool, of which the limit is forgotten
// each minute.
type callBudget struct {
	mu   sync.Mutex
	used float64
	at   time.Time
}

// ToolCalls counts calls of connected servers' tools, in this process. A nil
// *ToolCalls has no limit.
type ToolCalls struct {
	q     *Quotas
	known generations[personTool, callBudget]
}

// NewToolCalls makes the counters of a process.
func NewToolCalls(q *Quotas) *ToolCalls {
	c := &ToolCalls{q: q}
	c.known.half = maxCallers / 2
	return c
}

// Count counts one person's call of a tool. Over the limit it is RATE_LIMITED, and
// not counted.
func (c *ToolCalls) Count(o access.Owner, tool string) error {
	if c == nil || c.q == nil {
		return nil
	}
	limit := c.q.o.Limits.Calls
	wait := c.known.of(personTool{o, tool}).take(float64(limit), c.q.o.Now())
	if wait <= 0 {
		return nil
	}
	return c.q.Refuse(Calls, max(wait, time.Second), "You called %s more than %d times a minute.", tool, limit)
}

// take counts a call, or returns how long it is until there is room for it.
func (b *callBudget) take(limit float64, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = max(0, b.used-max(0, now.Sub(b.at).Minutes())*limit)
	b.at = now
	if over := b.used + 1 - limit; over > 0 {
		return time.Duration(over / limit * float64(time.Minute))
	}
	b.used++
	return 0
}
