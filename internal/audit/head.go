package audit

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

// Head is the end of a log: the last event's number and hash. It is stored in
// PATH.head, which always has the same size, so that a truncated log differs from
// one that ends there.
type Head struct {
	Seq  uint64
	Hash string
}

var errNoHead = errors.New("the head is missing or unreadable")

var headShape = regexp.MustCompile(`^(\d{20}) ([0-9a-f]{64})\n$`)

// headPath is the file of the head of the log at path.
func headPath(path string) string { return path + ".head" }

func (h Head) encode() []byte { return fmt.Appendf(nil, "%020d %s\n", h.Seq, h.Hash) }

func parseHead(b []byte) (Head, error) {
	parts := headShape.FindSubmatch(b)
	if parts == nil {
		return Head{}, errNoHead
	}
	seq, err := strconv.ParseUint(string(parts[1]), 10, 64)
	if err != nil {
		return Head{}, errNoHead
	}
	return Head{Seq: seq, Hash: string(parts[2])}, nil
}

// readHead returns errNoHead when the file is missing or is no head.
func readHead(path string) (Head, error) {
	b, err := os.ReadFile(headPath(path))
	if errors.Is(err, os.ErrNotExist) {
		return Head{}, errNoHead
	}
	if err != nil {
		return Head{}, err
	}
	return parseHead(b)
}
