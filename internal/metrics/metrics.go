// Package metrics counts what the program does, for Prometheus. Rooms report
// through small hooks that they declare themselves; this is the only one that
// knows Prometheus.
//
// No label holds a person, an id of a row or free text, and each has a bounded
// number of values. docs/metrics.md lists every metric. Start with [New].
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"countersign.dev/internal/httpx"
)

// Metrics are those of one process. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	names    names

	requests        *prometheus.CounterVec
	requestSeconds  *prometheus.HistogramVec
	errors          *prometheus.CounterVec
	calls           *prometheus.CounterVec
	callSeconds     *prometheus.HistogramVec
	upstream        *prometheus.CounterVec
	upstreamCounts  counts[upstreamCall]
	upstreamSeconds *prometheus.HistogramVec
	confirmations   *prometheus.CounterVec
	refusals        *prometheus.CounterVec
	tokens          *prometheus.CounterVec
	cost            *prometheus.CounterVec
}

const namespace = "countersign"

// buckets are of seconds: a read takes milliseconds, a turn minutes.
var buckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60, 180}

// New makes the metrics of a process, with those of Go's runtime and of the
// operating system's process.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.requests = m.counter("http_requests_total", "Answered HTTP requests, by the route's pattern and the status.", "server", "route", "status")
	m.requestSeconds = m.histogram("http_request_duration_seconds", "Time until an HTTP request was answered; of a stream, until it ended.", "server")
	m.errors = m.counter("http_errors_total", "HTTP requests that failed as a whole, by the code of the error.", "server", "code")
	m.calls = m.counter("tool_calls_total", "Calls of a server's tools, at that server. The outcome is success, pending_confirmation or an error's code.", "server", "tool", "outcome")
	m.callSeconds = m.histogram("tool_call_duration_seconds", "Time of a call at the tool's server.", "server")
	m.upstream = m.counter("upstream_calls_total", "Calls that the gateway made for people and models, with what came back.", "server", "tool", "outcome")
	m.upstreamSeconds = m.histogram("upstream_call_duration_seconds", "Time of a call as the gateway waited for it.", "server")
	m.confirmations = m.counter("confirmation_steps_total", "Recorded steps of confirmations: opened, approved, denied, applied, failed, reopened, settled, unknown, refused, withdrawn.", "step")
	m.refusals = m.counter("quota_refusals_total", "Requests over a limit of one person or address, by the limit.", "limit")
	m.tokens = m.counter("model_tokens_total", "Tokens that models read (input), read from a provider's cache (cached, among them) and wrote (output).", "model", "kind")
	m.cost = m.counter("model_cost_total", "What answers cost, in units of the currency; of models with a price.", "model", "currency")
	return m
}

// Answer counts what one answer of a model used. The names of models are the
// operator's.
func (m *Metrics) Answer(model string, input, output, cached int, cost float64, currency string) {
	for kind, n := range map[string]int{"input": input, "output": output, "cached": cached} {
		m.tokens.WithLabelValues(model, kind).Add(float64(n))
	}
	if currency != "" {
		m.cost.WithLabelValues(model, currency).Add(cost)
	}
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) histogram(name, help string, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(h)
	return h
}

// scrapes answer at a time.
const scrapes = 2

// Handler serves the metrics in Prometheus' text format, at any path.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapes, Timeout: 10 * time.Second})
}

// observer counts the requests of one server.
type observer struct {
	metrics *Metrics
	server  string
	seconds prometheus.Observer
	counts  counts[answered]
}

// answered is the labels of a request. Both are of bounded numbers of values.
type answered struct {
	route  string
	status int
}

// Observer returns the observer of the requests of a server, or of the gateway.
func (m *Metrics) Observer(server string) httpx.Observer {
	return &observer{metrics: m, server: server, seconds: m.requestSeconds.WithLabelValues(server)}
}

// Request implements httpx.Observer.
func (s *observer) Request(route string, status int, took time.Duration) {
	if route == "" || route == "/" {
		route = other // no route of ours
	}
	s.counts.of(answered{route, status}, func() (prometheus.Counter, bool) {
		return s.metrics.requests.WithLabelValues(s.server, route, statusLabel(status)), true
	}).Inc()
	s.seconds.Observe(took.Seconds())
}

// statusLabel writes a status; most are 200.
func statusLabel(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// Error implements httpx.Observer.
func (s *observer) Error(code string) {
	s.metrics.errors.WithLabelValues(s.server, s.metrics.names.bounded(code)).Inc()
}

// Calls returns the hook of a server's tools.
func (m *Metrics) Calls(server string) func(tool, outcome string, took time.Duration) {
	return func(tool, outcome string, took time.Duration) {
		m.calls.WithLabelValues(server, m.names.bounded(tool), m.names.bounded(outcome)).Inc()
		m.callSeconds.WithLabelValues(server).Observe(took.Seconds())
	}
}

// upstreamCall is the labels of a call that the gateway made.
type upstreamCall struct{ server, tool, outcome string }

// Upstream counts one call that the gateway made. Names of third-party tools are
// their servers' choice; see names.
func (m *Metrics) Upstream(server, tool, outcome string, took time.Duration) {
	m.upstreamCounts.of(upstreamCall{server, tool, outcome}, func() (prometheus.Counter, bool) {
		shownTool, shownOutcome := m.names.bounded(tool), m.names.bounded(outcome)
		return m.upstream.WithLabelValues(server, shownTool, shownOutcome), shownTool == tool && shownOutcome == outcome
	}).Inc()
	m.upstreamSeconds.WithLabelValues(server).Observe(took.Seconds())
}

// Confirmation counts one step of a confirmation.
func (m *Metrics) Confirmation(step string) { m.confirmations.WithLabelValues(step).Inc() }

// Refusal counts a request over a limit.
func (m *Metrics) Refusal(limit string) { m.refusals.WithLabelValues(limit).Inc() }
