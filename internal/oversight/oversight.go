// Package oversight serves what auditors read of a gateway: the record of who asked
// for, read and changed what, whether its chain is whole, every tool with its roles
// and pin, what people used, and the requests that were not answered in time.
//
// It reads the audit log of its own process and those of others that it is given, names
// those that it does not read, and changes nothing. Every reading is
// recorded before it is made, and so is every refusal: see [Service].
package oversight

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/usage"
)

// Servers are the servers behind the gateway. Package upstream has it.
type Servers interface {
	// Tools lists the tools, open and closed to the principal.
	Tools(ctx context.Context) agent.Toolset
	// EachServer reports the state of each server.
	EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration))
}

// Usage is what people used. Package usage has it.
type Usage interface {
	// Days returns the days of a person, the newest first.
	Days(ctx context.Context, o access.Owner) ([]usage.Day, error)
}

// Options are the parts of a Service. Logs, Audit and Servers are required.
type Options struct {
	Logs    []string   // paths of audit logs; the first is that of this process
	Audit   audit.Sink // readings are recorded in it
	Servers Servers
	Held    func(report func(server string, held map[string]string)) // reports tools whose definitions are not accepted; nil: none
	Heads   func(context.Context) ([]audit.SignedHead, error)        // of the logs of all processes; nil: none
	Usage   Usage                                                    // nil: nothing is counted
	Now     func() time.Time                                         // nil: time.Now
}

// Service has the handlers of the routes, each for the role auditor alone.
type Service struct {
	o         Options
	verifying sync.Mutex
}

// declared is a tool with its server.
type declared struct {
	server string
	info   result.ToolInfo
}

// New makes a service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Service{o: o}
}

// Handler is a handler of an authenticated person.
type Handler = func(w http.ResponseWriter, r *http.Request, p *access.Principal) error

// forAuditors records who reads what, and refuses everyone but auditors. plan reads the
// request: what it refuses is recorded as that, and not as a reading. What cannot be
// recorded is not read.
func (s *Service) forAuditors(what string, plan func(*http.Request) (Handler, error)) Handler {
	return func(w http.ResponseWriter, r *http.Request, p *access.Principal) error {
		if !p.HasAny(access.Auditor) {
			_ = s.o.Audit.Append(r.Context(), audit.Event{Kind: audit.Denial, Tool: what, Outcome: fault.Insufficient.Name}) // refused either way
			return p.Lacks(fault.Insufficient.New("Only an auditor may read this.").Suggest("Ask someone who has the role auditor."), string(access.Auditor))
		}
		read, refused := plan(r)
		outcome := result.StatusSuccess
		if refused != nil {
			outcome = fault.From(refused).Code.Name
		}
		if err := s.o.Audit.Append(r.Context(), audit.Event{Kind: audit.Outcome, Tool: what, Outcome: outcome}); err != nil || refused != nil {
			return cmp.Or(refused, err)
		}
		return read(w, r, p)
	}
}

// plain is the plan of a route without parameters.
func plain(h Handler) func(*http.Request) (Handler, error) {
	return func(*http.Request) (Handler, error) { return h, nil }
}

type principal = *access.Principal

// toolsOf are all tools of the servers that answer, open to the caller or not.
func toolsOf(set agent.Toolset) (all []declared) {
	for _, t := range set.Open {
		all = append(all, declared{t.Server, t.ToolInfo})
	}
	for _, t := range set.Closed {
		all = append(all, declared{t.Server, t.Info})
	}
	slices.SortFunc(all, func(a, b declared) int {
		return cmp.Or(cmp.Compare(a.server, b.server), cmp.Compare(a.info.Name, b.info.Name))
	})
	return all
}
