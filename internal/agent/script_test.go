package agent

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"countersign.dev/internal/result"
)

// script is a model that plays one entry for each request and keeps the
// requests. The last entry repeats.
type script struct {
	rounds []func(ctx context.Context, yield func(Delta, error) bool)
	asked  []Request
}

func (s *script) Name() string { return "script" }

func (s *script) Stream(ctx context.Context, r Request) iter.Seq2[Delta, error] {
	round := s.rounds[min(len(s.asked), len(s.rounds)-1)]
	s.asked = append(s.asked, r)
	return func(yield func(Delta, error) bool) { round(ctx, yield) }
}

func scripted(rounds ...func(context.Context, func(Delta, error) bool)) *script {
	return &script{rounds: rounds}
}

func says(pieces ...string) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		for _, p := range pieces {
			if !yield(Delta{Text: p}, nil) {
				return
			}
		}
		yield(Delta{Usage: &Usage{InputTokens: 10, OutputTokens: 1}, Stop: StopEnd}, nil)
	}
}

func calls(tools ...string) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		for _, name := range tools {
			if !yield(Delta{Call: &Call{ID: "id-" + name, Tool: name, Args: json.RawMessage(`{}`)}}, nil) {
				return
			}
		}
		yield(Delta{Stop: StopCalls}, nil)
	}
}

func callsWith(name, args string) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		yield(Delta{Call: &Call{Tool: name, Args: json.RawMessage(args)}, Stop: StopCalls}, nil)
	}
}

func breaks(err error) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		if yield(Delta{Text: "Let me "}, nil) {
			yield(Delta{}, err)
		}
	}
}

func hangs(ctx context.Context, yield func(Delta, error) bool) {
	<-ctx.Done()
	yield(Delta{}, ctx.Err())
}

// box is a toolbox of functions.
type box struct {
	Toolset
	run map[string]func(ctx context.Context, args json.RawMessage) result.Outcome
}

func (b box) Tools(context.Context) Toolset { return b.Toolset }

func (b box) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	return b.run[name](ctx, args)
}

func boxOf(run map[string]func(context.Context, json.RawMessage) result.Outcome) box {
	b := box{run: run}
	for name := range run {
		b.Open = append(b.Open, Tool{ToolInfo: result.ToolInfo{Name: name}, Server: "zoo"})
	}
	return b
}

func answers(data string) func(context.Context, json.RawMessage) result.Outcome {
	return func(context.Context, json.RawMessage) result.Outcome {
		return result.Success(json.RawMessage(data), nil, "")
	}
}

func after(d time.Duration, o result.Outcome) func(context.Context, json.RawMessage) result.Outcome {
	return func(ctx context.Context, _ json.RawMessage) result.Outcome {
		select {
		case <-time.After(d):
			return o
		case <-ctx.Done():
			return result.Failed(ctx.Err())
		}
	}
}

func pending(id string) func(context.Context, json.RawMessage) result.Outcome {
	return func(context.Context, json.RawMessage) result.Outcome {
		return result.Waiting(result.Pending{ID: id, Message: "Release the lion?"})
	}
}

func page(more bool, next string) func(context.Context, json.RawMessage) result.Outcome {
	return func(context.Context, json.RawMessage) result.Outcome {
		return result.Success(json.RawMessage(`[{"name":"Leo"}]`), &result.Page{Limit: 1, Returned: 1, More: more, Next: next, Noun: "animals", Narrow: "species"}, "")
	}
}
