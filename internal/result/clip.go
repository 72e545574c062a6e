package result

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// EncodeClipped writes an outcome's envelope with at most that many rows and
// bytes, for a stream or a record: fewer rows of a list, or no data. What was
// left out is said in the metadata.
func EncodeClipped(o Outcome, rows, size int) json.RawMessage {
	return encodeClipped(o, rows, size, "")
}

// encodeClipped is EncodeClipped with advice to who reads only a part.
func encodeClipped(o Outcome, rows, size int, advice string) json.RawMessage {
	whole := EncodeEnvelope(o)
	data := o.Data()
	isList := len(data) > 0 && data[0] == '['
	if len(whole) <= size && (!isList || o.Page() != nil && o.Page().Returned <= rows) {
		return whole
	}
	if !isList {
		return withoutData(o, advice)
	}
	ends, more := rowEnds(data, rows)
	if len(whole) <= size && !more {
		return whole
	}
	for shown := len(ends); ; shown /= 2 {
		if clipped := withRows(o, data, ends[:shown], advice); len(clipped) <= size {
			return clipped
		}
		if shown == 0 {
			return withoutData(o, advice)
		}
	}
}

// rowEnds returns where each of the first rows of an array ends, and whether
// more rows follow.
func rowEnds(list json.RawMessage, limit int) (ends []int, more bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(list), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, _ = d.ReadToken() // the list was decoded before
	for d.PeekKind() != ']' {
		if len(ends) == limit || d.SkipValue() != nil {
			return ends, true
		}
		ends = append(ends, int(d.InputOffset()))
	}
	return ends, false
}

func withRows(o Outcome, list json.RawMessage, ends []int, advice string) json.RawMessage {
	e := envelopeOf(o)
	e.Data = json.RawMessage("[]")
	if n := len(ends); n > 0 {
		e.Data = append(bytes.Clone(list[:ends[n-1]]), ']')
	}
	if e.Metadata == nil {
		e.Metadata = &Metadata{}
	}
	e.Metadata.HasMore, e.Metadata.Truncated, e.Metadata.ReturnedCount = true, true, len(ends)
	e.Metadata.NextCursor, e.Metadata.Warning = "", "" // they continue after rows that are not shown, and count them
	if page := o.Page(); e.Metadata.NextOffset > 0 {
		e.Metadata.NextOffset = page.Offset + len(ends)
	}
	e.Metadata.Hint = fmt.Sprintf("Only the first %d rows are shown here.", len(ends)) + advice
	return marshal(e)
}

func withoutData(o Outcome, advice string) json.RawMessage {
	e := envelopeOf(o)
	e.Data, e.Metadata = nil, &Metadata{Truncated: true, Hint: "The answer is too large to be shown here." + advice}
	return marshal(e)
}
