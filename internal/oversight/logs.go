package oversight

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
)

// coverage is what a reading covers: the logs that were read, and those of other processes
// that were not.
type coverage struct {
	Logs   []logView `json:"logs"` // that of this process first
	Unread []logView `json:"unread"`
}

// logView is one log, in its own words.
type logView struct {
	Name    string `json:"name"`              // of its process
	File    string `json:"file,omitempty"`    // where it is read
	Events  uint64 `json:"events"`            // number of the last one
	Problem string `json:"problem,omitempty"` // why it was not read, or not to its beginning
}

// covers lists the logs that are read, and by their newest heads in Redis those that are not.
func (s *Service) covers(ctx context.Context) (coverage, error) {
	c, read := coverage{Logs: []logView{}, Unread: []logView{}}, map[string]bool{}
	for _, path := range s.o.Logs {
		view := logView{Name: filepath.Base(path), File: filepath.Base(path)}
		head, err := audit.About(path)
		if err != nil {
			view.Problem = err.Error()
		} else {
			view.Name, view.Events, read[head.Log] = cmp.Or(head.Name, view.Name), head.Seq, true
		}
		c.Logs = append(c.Logs, view)
	}
	if s.o.Heads == nil {
		return c, nil
	}
	heads, err := s.o.Heads(ctx)
	for _, h := range heads {
		if !read[h.Log] && h.Signed() { // anyone who can write to Redis can make others
			c.Unread = append(c.Unread, logView{Name: cmp.Or(h.Name, h.Log), Events: h.Seq})
		}
	}
	slices.SortFunc(c.Unread, func(a, b logView) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Events, b.Events)) })
	return c, err
}

// logEvent is an event with the number of its log.
type logEvent struct {
	audit.Event
	log int
}

// reading reads several logs as one, the newest event first, each by its process's own clock.
type reading struct {
	tails    []*tail
	answered map[string]bool // requests that had another step than their opening, in what was read
}

// tail is one log, read from its end.
type tail struct {
	next    func() (audit.Event, error, bool)
	stop    func()
	event   audit.Event // the newest that was not yielded
	more    bool        // there is one
	before  uint64      // only events before this one are wanted; 0: all
	problem string
}

// read begins to read the logs, each before a position; none: from their ends. What is after
// the positions is read too, for the answers in it.
func (s *Service) read(before []uint64) *reading {
	r := &reading{answered: map[string]bool{}}
	for i, path := range s.o.Logs {
		t := &tail{}
		if t.next, t.stop = iter.Pull2(audit.Newest(path)); len(before) > 0 {
			t.before = before[i]
		}
		r.advance(t)
		r.tails = append(r.tails, t)
	}
	return r
}

// advance finds the next event of a log. A line that cannot be read ends it.
func (r *reading) advance(t *tail) {
	for {
		e, err, more := t.next()
		if err != nil {
			t.problem, more = err.Error(), false
		}
		if t.more = more; !more {
			return
		}
		if e.Confirmation != "" && e.Step != opened && e.Kind != audit.Denial { // an answer that was refused has no effect
			r.answered[e.Confirmation] = true
		}
		if t.before == 0 || e.Seq < t.before {
			t.event = e
			return
		}
	}
}

// expiry is when a request expired without an answer; zero: the event is not its opening, it
// was answered, or its time is not over. No line of a log says that a request expired. The
// event is the one that was yielded last: all newer ones have been read.
func (r *reading) expiry(e audit.Event, now time.Time) time.Time {
	ends := e.Time.Add(confirm.TTL)
	if e.Confirmation == "" || e.Step != opened || e.Kind == audit.Denial || r.answered[e.Confirmation] || !now.After(ends) {
		return time.Time{}
	}
	return ends
}

// opened is the first step of a confirmation in the log.
const opened = "opened"

// rest is before which event of each log to go on, to begin with those that were not
// yielded, or with the one that was yielded last.
func (r *reading) rest() string {
	var all []string
	for _, t := range r.tails {
		next := uint64(1) // nothing is left
		if t.more {
			next = t.event.Seq + 1
		}
		all = append(all, strconv.FormatUint(next, 10))
	}
	return strings.Join(all, ",")
}

// end ends the reading, and says in the logs' views what was wrong with them.
func (r *reading) end(c *coverage) {
	for i, t := range r.tails {
		t.stop()
		if c.Logs[i].Problem == "" {
			c.Logs[i].Problem = t.problem
		}
	}
}

// events yields the events of all logs.
func (r *reading) events() iter.Seq[logEvent] {
	return func(yield func(logEvent) bool) {
		for {
			newest := -1
			for i, t := range r.tails {
				if t.more && (newest < 0 || t.event.Time.After(r.tails[newest].event.Time)) {
					newest = i
				}
			}
			if newest < 0 {
				return
			}
			if !yield(logEvent{r.tails[newest].event, newest}) {
				return
			}
			r.advance(r.tails[newest])
		}
	}
}
