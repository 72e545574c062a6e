package eval

import (
	"io"
	"time"

	"countersign.dev/internal/client"
)

// Options say which models are asked, where, and where the answers go.
type Options struct {
	Client  client.Options // the gateway; its person asks where a question names none
	Models  []string       // by name; empty: the gateway's default
	Sets    []Set
	Results string           // file to which every answer is appended, and from which a run goes on; empty: none
	JSON    bool             // print one line of JSON a question, and one a model
	Bar     bool             // progress is drawn on one line of Err, which is a terminal
	Out     io.Writer        // the results
	Err     io.Writer        // progress
	Now     func() time.Time // nil: time.Now
}
