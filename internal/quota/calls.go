package quota

import (
	"context"
	"time"

	"countersign.dev/internal/access"
)

// personTool is one person's use of one tool.
type personTool struct {
	owner access.Owner
	tool  string
}

// ToolCalls counts calls of connected servers' tools, over all replicas. A nil
// *ToolCalls has no limit.
type ToolCalls struct {
	q     *Quotas
	known generations[personTool, lease]
}

// NewToolCalls makes the counters of a process.
func NewToolCalls(q *Quotas) *ToolCalls {
	c := &ToolCalls{q: q}
	c.known.half = maxCallers / 2
	return c
}

// callTokens is what a call costs: a limit of one call a minute is one token a
// second.
const callTokens = int(time.Minute / time.Second)

// bucket is that of a person's calls of one tool. A replica leases one call, and
// the next one while that runs: two replicas exceed no limit, and may leave one
// call each unused.
func (c *ToolCalls) bucket(u personTool) bucket {
	limit := c.q.o.Limits.Calls
	return bucket{kind: "calls", owner: u.owner, tool: u.tool, rate: limit, burst: limit * callTokens, slice: callTokens, unit: callTokens}
}

// Count counts one person's call of a tool. Over the limit it is RATE_LIMITED, and
// not counted.
func (c *ToolCalls) Count(ctx context.Context, o access.Owner, tool string) error {
	if c == nil || c.q == nil {
		return nil
	}
	use := personTool{o, tool}
	allowed, wait, err := c.q.pay(ctx, c.known.of(use), c.bucket(use), callTokens)
	if err != nil || allowed {
		return err
	}
	return c.q.Refuse(Calls, max(wait, time.Second), "You called %s more than %d times a minute.", tool, c.q.o.Limits.Calls).
		Tell("This was asked for more than %d times within a minute, which is the limit.", c.q.o.Limits.Calls)
}
