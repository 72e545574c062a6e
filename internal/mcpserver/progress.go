package mcpserver

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// Bounds of what one call reports to an MCP client.
const (
	maxReports    = 100 // passed on; later ones are dropped
	queuedReports = 8   // that wait for a slow client; further ones are dropped
	maxReportText = 200 // characters of the server's words
)

// wantsProgress reports whether the client asks for the progress of a call: its
// answer is then a stream.
func (m message) wantsProgress() bool {
	if m.method != "tools/call" {
		return false
	}
	var params struct {
		Meta struct {
			Token any `json:"progressToken"`
		} `json:"_meta"`
	}
	return json.Unmarshal(m.params, &params) == nil && params.Meta.Token != nil
}

// withProgress passes a call's reports on to the client that asked for them. end
// must be called before the answer is sent: no report comes after it.
func withProgress(ctx context.Context, req *mcp.CallToolRequest) (with context.Context, end func()) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return ctx, func() {}
	}
	reports, done := make(chan result.Progress, queuedReports), make(chan struct{})
	var sending sync.WaitGroup
	sending.Go(func() {
		sent, last := 0, -1.0
		send := func(p result.Progress) {
			if sent == maxReports || p.Done <= last { // the protocol requires it to grow
				return
			}
			sent, last = sent+1, p.Done
			_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
				ProgressToken: token, Progress: p.Done, Total: p.Total, Message: fault.Clip(p.Message, maxReportText),
			})
		}
		for {
			select {
			case p := <-reports:
				send(p)
			case <-done:
				for len(reports) > 0 { // what came before the answer is sent before it
					send(<-reports)
				}
				return
			}
		}
	})
	report := func(p result.Progress) {
		select {
		case reports <- p:
		default:
		}
	}
	return result.WithProgress(ctx, report), func() { close(done); sending.Wait() }
}
