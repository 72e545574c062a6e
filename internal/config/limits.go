package config

import "fmt"

// Limits are what one person may use at a time, over all replicas, and one address
// in each process. A limit that
// is not set has the default of docs/limits.md.
type Limits struct {
	Requests      int   `yaml:"requests_per_second"`
	Sessions      int   `yaml:"mcp_sessions"`
	Streams       int   `yaml:"streams"`
	Turns         int   `yaml:"turns"`
	Conversations int   `yaml:"conversations"`
	Pending       int   `yaml:"pending_confirmations"`
	Stored        int64 `yaml:"stored_bytes"`
	Calls         int   `yaml:"calls_per_minute"`
	Unproven      int   `yaml:"unproven_requests_per_second"`
}

// Metrics is where a process serves Prometheus' metrics; without an address it
// serves none.
type Metrics struct {
	Listen string `yaml:"listen"`
}

// problems rejects negative limits, because no setting takes a limit away, and
// too few requests a second for replicas to share.
func (l Limits) problems() (problems []string) {
	for _, limit := range []struct {
		key   string
		value int64
	}{
		{"requests_per_second", int64(l.Requests)}, {"mcp_sessions", int64(l.Sessions)}, {"streams", int64(l.Streams)}, {"turns", int64(l.Turns)},
		{"conversations", int64(l.Conversations)}, {"pending_confirmations", int64(l.Pending)}, {"stored_bytes", l.Stored},
		{"calls_per_minute", int64(l.Calls)}, {"unproven_requests_per_second", int64(l.Unproven)},
	} {
		if limit.value < 0 {
			problems = append(problems, fmt.Sprintf("limits.%s must not be negative", limit.key))
		}
	}
	if 0 < l.Requests && l.Requests < 10 {
		problems = append(problems, "limits.requests_per_second must be at least 10")
	}
	return problems
}
