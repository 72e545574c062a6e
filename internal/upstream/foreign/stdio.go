package foreign

import (
	"cmp"
	"context"
	"io"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/supervise"
	"countersign.dev/internal/upstream/mcpsession"
)

// Stdio connects to a server that is a child process, over its standard input and
// output. Each session starts a process, which ends with it.
type Stdio struct {
	Command   supervise.Command
	MaxAnswer int64 // bytes of one message; 8 MiB when zero
}

// Transport implements [Connection].
func (s Stdio) Transport() mcp.Transport { return s }

// Traced implements [Connection]: what a process has read is not known.
func (s Stdio) Traced() bool { return false }

// Connect implements mcp.Transport.
func (s Stdio) Connect(ctx context.Context) (mcp.Connection, error) {
	process, err := supervise.Start(s.Command)
	if err != nil {
		return nil, err
	}
	most := cmp.Or(s.MaxAnswer, defaultMaxAnswer)
	conn, err := (&mcp.IOTransport{
		Reader: mcpsession.LimitLines(ctx, io.NopCloser(process.Stdout), most), Writer: input{process},
		MaxLineLength: int(2 * most), // of a message that has more than one line
	}).Connect(ctx)
	if err != nil {
		process.End()
		return nil, err
	}
	return conn, nil
}

// input is what a process reads. Closing it ends the process and all that it
// started.
type input struct{ *supervise.Process }

// Write implements io.Writer.
func (i input) Write(p []byte) (int, error) { return i.Stdin.Write(p) }

// Close implements io.Closer.
func (i input) Close() error {
	i.End()
	return nil
}
