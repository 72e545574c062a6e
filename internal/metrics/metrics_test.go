package metrics_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"countersign.dev/internal/metrics"
	"countersign.dev/internal/result"
)

// servers is one healthy server and one that is not.
type servers struct{}

func (servers) EachServer(report func(string, bool, int64, int64, time.Duration)) {
	report("hr", true, 5, 0, time.Second)
	report("crm", false, 5, 5, time.Second)
}

func (servers) EachTool(report func(result.Reliability)) {
	report(result.Reliability{Server: "crm", Tool: "crm.search", LastUsed: time.UnixMilli(1767323045678), Breaker: "open"})
	report(result.Reliability{Server: "hr", Tool: "get_employee", LastUsed: time.UnixMilli(1767323045678), Breaker: "closed"})
	report(result.Reliability{Server: "hr", Tool: "never_called", Breaker: "closed"})
	report(result.Reliability{Server: "crm", Tool: "Frank Davis", LastUsed: time.UnixMilli(1767323045678), Breaker: "closed"})
	report(result.Reliability{Server: "crm", Tool: "Eve Moore", LastUsed: time.UnixMilli(1767323045678), Breaker: "closed"})
}

func (servers) EachBreaker(report func(string, int)) {
	report("hr", 0)
	report("crm", 2)
}

// used is metrics with a value in each.
func used() *metrics.Metrics {
	m := metrics.New()
	m.Observer("hr").Request("POST /tools/{name}", 200, time.Millisecond)
	m.Observer("hr").Error("BAD_REQUEST")
	m.Calls("hr")("get_employee", "success", time.Millisecond)
	m.Upstream("hr", "get_employee", "TIMEOUT", time.Second)
	m.Confirmation("applied")
	m.Refusal("streams")
	m.Answer("careful", 7, 3, 2, 0.5, "USD")
	m.WatchServers(servers{})
	for _, kind := range []string{"streams", "mcp_sessions", "turns"} {
		m.WatchSlots(kind, "Places.", func() int { return 1 })
	}
	return m
}

func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("got %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestNamesFollowPrometheus(t *testing.T) {
	problems, err := promlint.New(strings.NewReader(scrape(t, used()))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

var (
	servedName = regexp.MustCompile(`(?m)^# TYPE (countersign_\S+) (\S+)$`)
	listedName = regexp.MustCompile("(?m)^\\| `(countersign_[a-z_]+)` \\| (\\w+) \\|")
)

// TestPageListsEveryMetric compares docs/metrics.md with what is served.
func TestPageListsEveryMetric(t *testing.T) {
	page, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	served, listed := pairs(servedName, scrape(t, used())), pairs(listedName, string(page))
	for _, name := range served {
		if !slices.Contains(listed, name) {
			t.Errorf("docs/metrics.md has no %s", name)
		}
	}
	for _, name := range listed {
		if !slices.Contains(served, name) {
			t.Errorf("docs/metrics.md has %s, which is not served", name)
		}
	}
}

func pairs(pattern *regexp.Regexp, text string) (all []string) {
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1]+" "+m[2])
	}
	return all
}

func TestLabelsThatOthersChooseAreBounded(t *testing.T) {
	m := metrics.New()
	for i := range 5000 {
		m.Upstream("foreign", fmt.Sprint("tool_", i), "success", time.Millisecond)
	}
	for _, text := range []string{"Frank Davis", "frank@tamshai.local", "521-90-1234", strings.Repeat("x", 65), "a\nb", ""} {
		m.Upstream("foreign", text, text, time.Millisecond)
		m.Observer("gateway").Error(text)
	}
	series := regexp.MustCompile(`(?m)^countersign_upstream_calls_total\{.*$`).FindAllString(scrape(t, m), -1)
	if len(series) > 1002 {
		t.Errorf("got %d series of 5,000 tools, want about 1,000", len(series))
	}
	text := scrape(t, m)
	for _, secret := range []string{"Frank", "tamshai", "521-90", "xxx"} {
		if strings.Contains(text, secret) {
			t.Errorf("the metrics have %q", secret)
		}
	}
	if !strings.Contains(text, `tool="other"`) {
		t.Error("the rest is not counted as other")
	}
}
