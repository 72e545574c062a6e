package conversation

import (
	"cmp"
	"time"
)

// writeTime is for what is still written when a turn or its client has ended.
const writeTime = 5 * time.Second

// Limits bound what one person can ask for. Zero fields take the default.
type Limits struct {
	Turns    int           // turns of one person at a time, on this replica; 4
	TurnTime time.Duration // of one turn; 3 minutes
	Answer   time.Duration // of one answer of a model that has no timeout of its own; 1 minute
	History  int           // tokens of one request to a model that has no budget of its own; 8,192
	Rows     int           // rows of a tool's answer in an event; 50
	Data     int           // bytes of a tool's answer in an event; 64 KiB
}

func (l *Limits) fill() {
	l.Turns, l.History = cmp.Or(l.Turns, 4), cmp.Or(l.History, 8192)
	l.TurnTime, l.Answer = cmp.Or(l.TurnTime, 3*time.Minute), cmp.Or(l.Answer, time.Minute)
	l.Rows, l.Data = cmp.Or(l.Rows, 50), cmp.Or(l.Data, 64<<10)
}
