package result

import "context"

// Progress is how far a call has come, as its server reports it before the
// answer.
type Progress struct {
	Done    float64 // grows with every report
	Total   float64 // 0: unknown
	Message string  // the server's words; untrusted when its results are
}

type progressKey struct{}

// WithProgress asks for the progress of the calls that are made with the
// context. report runs on another goroutine than the call and must not block;
// late reports may be lost.
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ProgressOf returns the function that [WithProgress] set, or nil.
func ProgressOf(ctx context.Context) func(Progress) {
	report, _ := ctx.Value(progressKey{}).(func(Progress))
	return report
}
