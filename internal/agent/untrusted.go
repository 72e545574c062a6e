package agent

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"slices"
	"strings"
)

// Everything, as the only name in a tool's untrusted fields, says that nobody
// vouches for any text of its results: another company's tool.
const Everything = "*"

// guard delivers the named fields of an answer in marked blocks. The mark holds
// a random key, made for this answer: whoever wrote the text cannot have
// known it, and so cannot close the block. An answer that is no JSON is guarded
// whole. Order and numbers stay as they were.
func guard(answer json.RawMessage, fields []string) json.RawMessage {
	g := guarding{fields: fields, mark: newMark()}
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	if err := g.value(dec, "", false); err != nil {
		whole, _ := json.Marshal(g.block(string(answer))) // a string always encodes
		return whole
	}
	return g.out.Bytes()
}

type guarding struct {
	fields []string
	mark   string
	out    bytes.Buffer
}

func newMark() string {
	var key [8]byte
	_, _ = rand.Read(key[:]) // crypto/rand.Read never fails since Go 1.24
	return hex.EncodeToString(key[:])
}

func (g *guarding) block(text string) string {
	return "<<untrusted " + g.mark + ">>" + text + "<<end " + g.mark + ">>"
}

// Unguard takes the marks off a text, for those who show it to a person and
// plan nothing from it.
func Unguard(text string) string {
	rest, ok := strings.CutPrefix(text, "<<untrusted ")
	if !ok || len(rest) < 18 || rest[16:18] != ">>" {
		return text
	}
	inner, ok := strings.CutSuffix(rest[18:], "<<end "+rest[:16]+">>")
	if !ok {
		return text
	}
	return inner
}

func (g *guarding) value(dec *json.Decoder, key string, inside bool) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	inside = inside || slices.Contains(g.fields, key) || g.foreign(key)
	switch v := tok.(type) {
	case json.Delim:
		return g.nested(dec, v, inside)
	case string:
		if inside {
			v = g.block(v)
		}
		return g.write(v)
	}
	return g.write(tok)
}

// foreign says which fields are guarded when nothing is vouched for: all that
// holds text of the tool, and nothing of the envelope around it.
func (g *guarding) foreign(key string) bool {
	if !slices.Contains(g.fields, Everything) {
		return false
	}
	return slices.Contains([]string{"data", "message", "suggestedAction", "details", "confirmationData"}, key)
}

func (g *guarding) nested(dec *json.Decoder, open json.Delim, inside bool) error {
	g.out.WriteString(open.String())
	for first := true; dec.More(); first = false {
		if !first {
			g.out.WriteByte(',')
		}
		if err := g.element(dec, open, inside); err != nil {
			return err
		}
	}
	end, err := dec.Token()
	if err != nil {
		return err
	}
	d, ok := end.(json.Delim)
	if !ok {
		return io.ErrUnexpectedEOF
	}
	g.out.WriteString(d.String())
	return nil
}

func (g *guarding) element(dec *json.Decoder, open json.Delim, inside bool) error {
	if open != '{' {
		return g.value(dec, "", inside)
	}
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	key, _ := tok.(string)
	if err := g.write(key); err != nil {
		return err
	}
	g.out.WriteByte(':')
	return g.value(dec, key, inside)
}

// write encodes one scalar without HTML escapes: a block's mark stays legible.
func (g *guarding) write(v any) error {
	enc := json.NewEncoder(&g.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	g.out.Truncate(g.out.Len() - 1) // the encoder's line end
	return nil
}
