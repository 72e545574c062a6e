package oversight

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// verificationView is what a check of all logs that are read found.
type verificationView struct {
	Whole  bool        `json:"whole"` // each of them
	Logs   []chainView `json:"logs"`
	Unread []logView   `json:"unread"`
}

// chainView is what a check of one log found.
type chainView struct {
	Name    string     `json:"name"`
	File    string     `json:"file"`
	Whole   bool       `json:"whole"`
	Status  string     `json:"status"`
	Events  uint64     `json:"events"` // that were read
	First   *time.Time `json:"first,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
	Head    string     `json:"head"`
	Broken  string     `json:"broken,omitempty"`
	Remarks []string   `json:"remarks,omitempty"`
}

// verify checks the logs, and the files that were rotated from them, against their
// chains, the heads that they keep of each other, and those in Redis. It reads all of
// them, so there is one check at a time.
func (s *Service) verify(w http.ResponseWriter, r *http.Request, _ principal) error {
	if !s.verifying.TryLock() {
		return fault.TooManyRequests.New("The log is being verified already.").After(time.Second)
	}
	defer s.verifying.Unlock()
	covered, err := s.covers(r.Context())
	if err != nil {
		return err
	}
	evidence := audit.Evidence{Some: true}
	if s.o.Heads != nil {
		if evidence.Heads, err = s.o.Heads(r.Context()); err != nil {
			return err
		}
	}
	view := verificationView{Whole: true, Unread: covered.Unread}
	results := map[string]audit.Result{}
	paths, closed := readable(s.o.Logs)
	if len(paths) > 0 {
		all, err := audit.VerifyAll(paths, evidence)
		if err != nil {
			return err
		}
		for _, one := range all {
			results[one.Path] = one
		}
	}
	for i, path := range s.o.Logs {
		chain := chainView{Name: covered.Logs[i].Name, File: covered.Logs[i].File, Broken: closed[path], Status: "cannot be read"}
		if found, ok := results[path]; ok {
			chain.add(found)
		}
		view.Whole = view.Whole && chain.Whole
		view.Logs = append(view.Logs, chain)
	}
	return httpx.JSON(w, http.StatusOK, view)
}

// readable are the logs that can be opened, or that are missing, which their check says;
// and why the others cannot.
func readable(logs []string) (paths []string, closed map[string]string) {
	closed = map[string]string{}
	for _, path := range logs {
		f, err := os.Open(path)
		if err == nil {
			_ = f.Close()
		}
		if err != nil && !os.IsNotExist(err) {
			closed[path] = err.Error()
			continue
		}
		paths = append(paths, path)
	}
	return paths, closed
}

// add says what the check of the log found.
func (v *chainView) add(found audit.Result) {
	status := found.Status()
	v.Whole, v.Status, v.Head = status == audit.Whole, status.String(), found.Head.String()
	v.Events = found.Events - found.Start.Seq
	v.Name = cmp.Or(found.Log.Name, v.Name, filepath.Base(found.Path))
	if !found.First.IsZero() {
		v.First, v.Last = &found.First, &found.Last
	}
	if found.Broken != nil {
		v.Broken = found.Broken.String()
	}
	for _, m := range found.Remarks {
		v.Remarks = append(v.Remarks, m.Text)
	}
}

// Verification is GET /api/audit/verify: whether the chain of each log is whole.
func (s *Service) Verification() Handler {
	return s.forAuditors("verify the audit log", plain(s.verify))
}
