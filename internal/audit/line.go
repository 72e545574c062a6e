package audit

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/flat"
	"countersign.dev/internal/telemetry"
)

// A line is the event as JSON, its hash last, and a newline. The hash is that of
// the line without the hash member, so that any tool can check a line:
//
//	sed 's/,"hash":"[0-9a-f]*"}$/}/' | tr -d '\n' | sha256sum
const (
	hashOpen  = `,"hash":"`
	hashClose = `"}`
	noHash    = hashOpen + hashClose
	hashSize  = 2 * sha256.Size
	sealSize  = len(noHash) + hashSize

	maxNote = 1500    // encoded bytes of a person's reason; a longer one is clipped
	maxLine = 1 << 20 // bytes of a line that is read
)

// MaxLine bounds a line that is written, in bytes.
const MaxLine = 12 << 10

// sealer seals events in a buffer that it keeps.
type sealer struct{ text []byte }

// seal sets the event's hash and returns its line, which is valid until the next one.
func (s *sealer) seal(e *Event) []byte {
	s.text = e.append(s.text[:0])
	e.Hash = hashOf(s.text)
	for _, part := range [...]string{hashOpen, e.Hash, hashClose, "\n"} {
		s.text = append(s.text, part...)
	}
	return s.text
}

// append writes an event as encoding/json does, up to its hash.
func (e *Event) append(b []byte) []byte {
	b = strconv.AppendUint(append(b, `{"seq":`...), e.Seq, 10)
	b = append(e.Time.AppendFormat(append(b, `,"time":"`...), time.RFC3339Nano), '"')
	b = flat.AppendText(append(b, `,"kind":`...), string(e.Kind))
	for _, m := range [...]member{
		{`,"iss":`, e.Issuer}, {`,"sub":`, e.Subject}, {`,"username":`, e.Username}, {`,"server":`, e.Server}, {`,"tool":`, e.Tool}, {`,"step":`, e.Step},
		{`,"confirmation":`, e.Confirmation}, {`,"conversation":`, e.Conversation}, {`,"digest":`, e.Digest}, {`,"row":`, e.Row},
	} {
		b = m.append(b)
	}
	b = strconv.AppendInt(append(b, `,"rows":`...), int64(e.Rows), 10)
	for _, m := range [...]member{
		{`,"shown":`, e.Shown}, {`,"outcome":`, e.Outcome}, {`,"note":`, e.Note}, {`,"roles":`, e.Roles}, {`,"taintedBy":`, e.TaintedBy},
	} {
		b = m.append(b)
	}
	if e.DurationMS != 0 {
		b = strconv.AppendInt(append(b, `,"durationMs":`...), e.DurationMS, 10)
	}
	if e.Count != 0 {
		b = strconv.AppendInt(append(b, `,"count":`...), int64(e.Count), 10)
	}
	if e.Log != nil {
		b = appendJSON(append(b, `,"log":`...), e.Log)
	}
	if e.Anchor != nil {
		b = appendJSON(append(b, `,"anchor":`...), e.Anchor)
	}
	b = member{`,"requestId":`, e.RequestID}.append(b)
	b = member{`,"traceId":`, e.TraceID}.append(b)
	return flat.AppendText(append(b, `,"prev":`...), e.Prev)
}

// member is a member of a line with a text.
type member struct{ key, text string }

// append leaves a member without a text out.
func (m member) append(b []byte) []byte {
	if m.text == "" {
		return b
	}
	return flat.AppendText(append(b, m.key...), m.text)
}

// appendJSON writes what is made of texts and numbers, which always encode.
func appendJSON(b []byte, v any) []byte {
	encoded, _ := json.Marshal(v)
	return append(b, encoded...)
}

func hashOf(body []byte) string {
	h := sha256.New()
	h.Write(body)
	h.Write([]byte{'}'})
	var sum [sha256.Size]byte
	var text [hashSize]byte
	return string(hex.AppendEncode(text[:0], h.Sum(sum[:0])))
}

// parse reads one line without its newline. The reason is Altered for JSON that
// is no event or does not match its hash.
func parse(line []byte) (e Event, broken Reason) {
	if !json.Valid(line) {
		return Event{}, NotJSON
	}
	if len(line) < sealSize || json.Unmarshal(line, &e) != nil {
		return Event{}, Altered
	}
	body := line[:len(line)-sealSize]
	if e.Hash != hashOf(body) || !bytes.Equal(line[len(body):], []byte(hashOpen+e.Hash+hashClose)) {
		return e, Altered
	}
	return e, ""
}

// attribute fills the person and request from the context. An event that names a
// person keeps all of that person's fields: a line never mixes two people.
func attribute(ctx context.Context, e *Event) {
	if p, err := access.From(ctx); err == nil && e.Subject == "" {
		owner := p.Owner()
		e.Issuer, e.Subject, e.Username = owner.Issuer, owner.Subject, p.Username()
	}
	if p, err := access.From(ctx); err == nil && e.TaintedBy == "" {
		e.TaintedBy = p.Provenance().Read()
	}
	if r := telemetry.RequestOf(ctx); r.ID != "" {
		e.RequestID, e.TraceID = r.ID, r.Trace
	}
}

// clipTexts bounds the texts of an event, so that its line has at most
// [MaxLine] bytes: some are a caller's, such as the name of an unknown tool.
func clipTexts(e *Event) {
	for _, field := range [...]struct {
		text *string
		most int
	}{
		{&e.Issuer, 300}, {&e.Subject, 300}, {&e.Username, 200}, {&e.Server, 100}, {&e.Tool, 200}, {&e.Step, 50}, {&e.Confirmation, 100},
		{&e.Conversation, 100}, {&e.Digest, 64}, {&e.Row, 300}, {&e.Outcome, 100}, {&e.Note, maxNote}, {&e.TaintedBy, 600}, {&e.Roles, 2000}, {&e.RequestID, 64}, {&e.TraceID, 32},
	} {
		*field.text = telemetry.Clip(*field.text, field.most)
	}
}

// line is one line without its newline; torn when it has none.
type line struct {
	text []byte // valid until the next one is read
	torn bool
}

type lineReader struct{ r *bufio.Reader }

func lines(r io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(r, maxLine+1)} }

// next returns io.EOF after the last line. A line that is longer than any event
// is returned in pieces, none of which is JSON.
func (l *lineReader) next() (line, error) {
	text, err := l.r.ReadSlice('\n')
	switch {
	case err == nil:
		return line{text: text[:len(text)-1]}, nil
	case errors.Is(err, bufio.ErrBufferFull):
		return line{text: text}, nil
	case errors.Is(err, io.EOF) && len(text) > 0:
		return line{text: text, torn: true}, nil
	}
	return line{}, err
}
