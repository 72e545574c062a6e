package llm

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/blob"
	"countersign.dev/internal/llm/vendor"
)

// How a model calls tools.
const (
	ToolsNative = "native" // by its provider's protocol
	ToolsBlob   = "blob"   // in its text: see package blob
)

// adaptive calls tools natively until the provider says that the model has none,
// and then in its text, for as long as the process runs.
type adaptive struct {
	agent.Model
	inText  blob.Model
	refused *atomic.Bool
	log     *slog.Logger
}

func newAdaptive(m agent.Model, log *slog.Logger) adaptive {
	return adaptive{m, blob.New(m), new(atomic.Bool), log}
}

func (m adaptive) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	return func(yield func(agent.Delta, error) bool) {
		if m.refused.Load() {
			m.inText.Stream(ctx, r)(yield)
			return
		}
		for d, err := range m.Model.Stream(ctx, r) {
			if refusesTools(err) && len(r.Tools) > 0 {
				m.note(ctx, err)
				m.inText.Stream(ctx, r)(yield)
				return
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// refusesTools reports whether the provider has no tools for this model. It says
// so before any answer.
func refusesTools(err error) bool {
	var f *vendor.Failure
	return errors.As(err, &f) && f.NoTools
}

func (m adaptive) note(ctx context.Context, err error) {
	if !m.refused.Swap(true) && m.log != nil {
		m.log.WarnContext(ctx, "the model's provider has no tools for it: it calls them in its text from now on (models.NAME.tools: blob)", "model", m.Name(), "error", err)
	}
}
