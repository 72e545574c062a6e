package live

import (
	"bufio"
	"net"
	"net/http"
)

// slimBuffer is the size of the buffers of a connection, which is idle most of its
// life: net/http's have 4 KiB each. What is larger goes past them.
const slimBuffer = 128

// slim is a response whose hijacked connection has small buffers.
type slim struct{ http.ResponseWriter }

// Hijack takes the connection over with what its client has sent already.
func (s slim) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, whole, err := http.NewResponseController(s.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if whole.Reader.Buffered() > 0 { // rare: a client that did not wait for the answer
		return c, whole, nil
	}
	return c, bufio.NewReadWriter(bufio.NewReaderSize(c, slimBuffer), bufio.NewWriterSize(c, slimBuffer)), nil
}

// Unwrap lets http.ResponseController reach the connection.
func (s slim) Unwrap() http.ResponseWriter { return s.ResponseWriter }
