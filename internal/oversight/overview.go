package oversight

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcplock"
	"countersign.dev/internal/result"
)

// Bounds of the overview.
const (
	lookBack   = 31 * 24 * time.Hour // for people
	expiredFor = 7 * 24 * time.Hour  // requests that expired are listed so long
	mostPeople = 50                  // who were active last
	mostOpen   = 100                 // requests that expired
)

// The shapes of the overview on the wire.
type (
	overviewView struct {
		coverage               // of people and of requests that expired
		Servers  []serverView  `json:"servers"`
		Tools    []toolView    `json:"tools"`
		Held     []heldView    `json:"held"`    // not offered until their definitions are accepted
		People   []personView  `json:"people"`  // the one who was active last first
		Expired  []expiredView `json:"expired"` // requests that were not answered in time, the newest first
	}
	serverView struct {
		Name      string  `json:"name"`
		Healthy   bool    `json:"healthy"`
		Calls     int64   `json:"calls"`
		Failures  int64   `json:"failures"`
		AverageMS float64 `json:"averageMs"`
	}
	toolView struct {
		Name   string      `json:"name"`
		Title  string      `json:"title,omitempty"`
		Server string      `json:"server"`
		Kind   result.Kind `json:"kind"`
		Roles  []string    `json:"roles"`         // any of them opens it; none: no person may call it
		Pin    string      `json:"pin,omitempty"` // of the accepted definition, for a connected server's tool
	}
	heldView struct {
		Server string `json:"server"`
		Tool   string `json:"tool"`
		Why    string `json:"why"`
	}
	personView struct {
		Username string           `json:"username"`
		Issuer   string           `json:"issuer"`
		Subject  string           `json:"sub"`
		Seen     time.Time        `json:"seen"`
		Roles    []string         `json:"roles,omitempty"` // at the last sign-in with a browser of 31 days; none: not known, or too many to be recorded
		Usage    *agent.UsageView `json:"usage,omitempty"` // of the last 31 days

		rolesRead bool // of the last sign-in, which may not have all of them
	}
	expiredView struct {
		Confirmation string    `json:"confirmation"`
		Username     string    `json:"username"`
		Issuer       string    `json:"issuer"`
		Subject      string    `json:"sub"`
		Server       string    `json:"server,omitempty"`
		Tool         string    `json:"tool,omitempty"`
		TaintedBy    string    `json:"taintedBy,omitempty"`
		Opened       time.Time `json:"opened"`
	}
)

func (s *Service) overview(w http.ResponseWriter, r *http.Request, _ principal) error {
	v := overviewView{Servers: []serverView{}, Tools: []toolView{}, Held: []heldView{}, People: []personView{}, Expired: []expiredView{}}
	s.o.Servers.EachServer(func(name string, healthy bool, calls, failures int64, average time.Duration) {
		v.Servers = append(v.Servers, serverView{name, healthy, calls, failures, float64(average.Microseconds()) / 1000})
	})
	for _, t := range toolsOf(s.o.Servers.Tools(r.Context())) {
		v.Tools = append(v.Tools, t.view())
	}
	if s.o.Held != nil {
		s.o.Held(func(server string, held map[string]string) {
			for tool, why := range held {
				v.Held = append(v.Held, heldView{server, tool, why})
			}
		})
	}
	slices.SortFunc(v.Held, func(a, b heldView) int { return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool)) })
	if err := s.readLog(r.Context(), &v); err != nil {
		return err
	}
	if err := s.addUsage(r.Context(), v.People); err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, v)
}

func (d declared) view() toolView {
	v := toolView{Name: d.info.Name, Title: d.info.Title, Server: d.server, Kind: d.info.Kind, Roles: append([]string{}, d.info.Roles...)}
	if strings.HasPrefix(v.Name, d.server+".") { // of a connected server
		definition, _ := json.Marshal(mcplock.Of(d.info)) // plain data
		sum := sha256.Sum256(definition)
		v.Pin = hex.EncodeToString(sum[:6])
	}
	return v
}

// readLog finds who was active, and which requests were not answered in time.
func (s *Service) readLog(ctx context.Context, v *overviewView) error {
	now, read := s.o.Now(), 0
	seen := map[access.Owner]int{} // the person's place in v.People
	var err error
	if v.coverage, err = s.covers(ctx); err != nil {
		return err
	}
	logs := s.read(nil)
	defer logs.end(&v.coverage)
	for e := range logs.events() {
		age := now.Sub(e.Time)
		if read++; age > lookBack || read > mostRead || ctx.Err() != nil {
			break
		}
		who := access.Owner{Issuer: e.Issuer, Subject: e.Subject}
		at, known := seen[who]
		if !known && e.Subject != "" && len(v.People) < mostPeople {
			at, known = len(v.People), true
			seen[who] = at
			v.People = append(v.People, personView{Username: e.Username, Issuer: e.Issuer, Subject: e.Subject, Seen: e.Time})
		}
		if known && e.Roles != "" && !v.People[at].rolesRead {
			v.People[at].Roles, v.People[at].rolesRead = access.ReadRoles(e.Roles), true
		}
		if age < expiredFor && len(v.Expired) < mostOpen && !logs.expiry(e.Event, now).IsZero() {
			v.Expired = append(v.Expired, expiredView{e.Confirmation, e.Username, e.Issuer, e.Subject, e.Server, e.Tool, e.TaintedBy, e.Time})
		}
	}
	return ctx.Err()
}

// addUsage adds what people used.
func (s *Service) addUsage(ctx context.Context, people []personView) error {
	if s.o.Usage == nil {
		return nil
	}
	for i, one := range people {
		days, err := s.o.Usage.Days(ctx, access.Owner{Issuer: one.Issuer, Subject: one.Subject})
		if err != nil {
			return err
		}
		var sum agent.Usage
		for _, d := range days {
			sum.Add(&d.Usage)
		}
		if sum != (agent.Usage{}) {
			people[i].Usage = sum.View()
		}
	}
	return nil
}

// Overview is GET /api/admin: servers, tools, use, and requests that expired.
func (s *Service) Overview() Handler { return s.forAuditors("read the overview", plain(s.overview)) }
