package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"countersign.dev/internal/result"
)

// Servers reports the state of the servers behind the gateway, when it is asked.
// Package upstream has it.
type Servers interface {
	EachServer(report func(name string, healthy bool, calls, failures int64, average time.Duration))
	EachBreaker(report func(server string, open int))
	EachTool(report func(result.Reliability))
}

// WatchServers reports the state of servers with each scrape.
func (m *Metrics) WatchServers(s Servers) {
	m.registry.MustRegister(&servers{
		Servers:  s,
		names:    &m.names,
		toolOpen: prometheus.NewDesc(namespace+"_upstream_tool_breaker_open", "1 while the breaker of a tool that was called keeps its calls from being sent, else 0.", []string{"server", "tool"}, nil),
		lastUsed: prometheus.NewDesc(namespace+"_upstream_tool_last_used_timestamp_seconds", "When a call of the tool ended last.", []string{"server", "tool"}, nil),
		healthy:  prometheus.NewDesc(namespace+"_upstream_healthy", "1 when a server behind the gateway answers, else 0.", []string{"server"}, nil),
		open:     prometheus.NewDesc(namespace+"_upstream_breakers_open", "Breakers of a server that keep calls from being sent: one for each own server, one for each tool of a foreign one.", []string{"server"}, nil),
	})
}

type servers struct {
	Servers
	names                             *names
	healthy, open, toolOpen, lastUsed *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (s *servers) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{s.healthy, s.open, s.toolOpen, s.lastUsed} {
		to <- d
	}
}

// tools reports the tools that were called. Those whose names are not kept share a
// label, and one sample can have it only.
func (s *servers) tools(to chan<- prometheus.Metric) {
	s.EachTool(func(r result.Reliability) {
		name := s.names.bounded(r.Tool)
		if name == other || r.LastUsed.IsZero() {
			return
		}
		open := 0.0
		if r.Breaker == "open" {
			open = 1
		}
		to <- prometheus.MustNewConstMetric(s.toolOpen, prometheus.GaugeValue, open, r.Server, name)
		to <- prometheus.MustNewConstMetric(s.lastUsed, prometheus.GaugeValue, float64(r.LastUsed.UnixMilli())/1000, r.Server, name)
	})
}

// Collect implements prometheus.Collector.
func (s *servers) Collect(to chan<- prometheus.Metric) {
	s.EachServer(func(name string, healthy bool, _, _ int64, _ time.Duration) {
		value := 0.0
		if healthy {
			value = 1
		}
		to <- prometheus.MustNewConstMetric(s.healthy, prometheus.GaugeValue, value, name)
	})
	s.tools(to)
	s.EachBreaker(func(server string, open int) {
		to <- prometheus.MustNewConstMetric(s.open, prometheus.GaugeValue, float64(open), server)
	})
}

// WatchSlots reports with each scrape how many slots of a kind this process
// holds: streams, mcp_sessions, turns.
func (m *Metrics) WatchSlots(kind, help string, held func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: namespace, Name: kind, Help: help}, func() float64 { return float64(held()) }))
}
