package oversight

import (
	"net/http"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/httpx"
)

// verification is what a check of the chain found.
type verification struct {
	Whole   bool       `json:"whole"`
	Status  string     `json:"status"`
	Events  uint64     `json:"events"`
	First   *time.Time `json:"first,omitempty"`
	Last    *time.Time `json:"last,omitempty"`
	Head    string     `json:"head"`
	Broken  string     `json:"broken,omitempty"`
	Remarks []string   `json:"remarks,omitempty"`
}

// verify checks the log and the files that were rotated from it against their chain.
// It reads all of them, so there is one check at a time.
func (s *Service) verify(w http.ResponseWriter, _ *http.Request, _ principal) error {
	if !s.verifying.TryLock() {
		return fault.TooManyRequests.New("The log is being verified already.").After(time.Second)
	}
	defer s.verifying.Unlock()
	report, err := audit.Verify(s.o.Log)
	if err != nil {
		return err
	}
	status := report.Status()
	v := verification{Whole: status == audit.Whole, Status: status.String(), Events: report.Events, Head: report.Head.String()}
	if !report.First.IsZero() {
		v.First, v.Last = &report.First, &report.Last
	}
	if report.Broken != nil {
		v.Broken = report.Broken.String()
	}
	for _, m := range report.Remarks {
		v.Remarks = append(v.Remarks, m.Text)
	}
	return httpx.JSON(w, http.StatusOK, v)
}
