package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// askAgain ends the hint of an answer that was shortened.
const askAgain = "to save space. Call the tool again if more of it is needed."

// Shorten rewrites an older answer as a model read it: of a list the first rows
// and the last ones, of other data nothing. The metadata says how many rows there
// were. Marks around untrusted text stay; any other answer is unchanged, unless it
// is no envelope at all: then nothing of it remains.
func Shorten(answer json.RawMessage, first, last int) json.RawMessage {
	var e Envelope
	if err := json.Unmarshal(answer, &e); err != nil {
		return marshal(leftOut(Envelope{}))
	}
	if e.Status != StatusSuccess || len(e.Data) == 0 {
		return answer
	}
	if e.Data[0] != '[' {
		return marshal(leftOut(e))
	}
	ends, _ := rowEnds(e.Data, math.MaxInt)
	if len(ends) <= first+last {
		return answer
	}
	return marshal(headAndTail(e, ends, first, last))
}

func leftOut(e Envelope) Envelope {
	e.Status, e.Data = StatusSuccess, nil
	e.Metadata = &Metadata{Truncated: true, Hint: "The data of this older answer was left out " + askAgain}
	return e
}

func headAndTail(e Envelope, ends []int, first, last int) Envelope {
	n := len(ends)
	kept := []byte{'['}
	if first > 0 {
		kept = append(kept, e.Data[1:ends[first-1]]...)
	}
	if last > 0 {
		tail := e.Data[ends[n-last-1]:]
		if first == 0 {
			tail = bytes.TrimLeft(tail, ", \t\r\n")
		}
		kept = append(kept, tail...)
	} else {
		kept = append(kept, ']')
	}
	m := Metadata{}
	if e.Metadata != nil {
		m = *e.Metadata
	}
	m.Truncated, m.Warning, m.TotalCount = true, "", ""
	if first+last == 0 {
		m.NextCursor = ""
	}
	m.Hint = strings.TrimSpace(fmt.Sprintf("%s Of its %d rows, %d were left out here %s", m.Hint, n, n-first-last, askAgain))
	e.Data, e.Metadata = slices.Clip(kept), &m
	return e
}
