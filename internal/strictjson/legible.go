package strictjson

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Legible rewrites strict JSON for readers that hold every number as a float64, as browsers do: a
// number that they would show as another one becomes a text of its digits.
func Legible(b []byte) ([]byte, error) {
	var out bytes.Buffer
	d, e := jsontext.NewDecoder(bytes.NewReader(b)), jsontext.NewEncoder(&out)
	for d.PeekKind() != 0 {
		if err := copyToken(e, d); err != nil {
			return nil, errSyntax
		}
	}
	if d.StackDepth() > 0 {
		return nil, errSyntax
	}
	return bytes.TrimSpace(out.Bytes()), nil
}

func copyToken(e *jsontext.Encoder, d *jsontext.Decoder) error {
	if d.PeekKind() != '0' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		return e.WriteToken(token)
	}
	number, err := d.ReadValue()
	if err != nil {
		return err
	}
	if !shownAsItIs(string(number)) {
		return e.WriteToken(jsontext.String(string(number)))
	}
	return e.WriteValue(number)
}

// shownAsItIs reports whether the shortest text of a number as a float64 is the same number.
func shownAsItIs(number string) bool {
	float, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	given, ok := new(big.Rat).SetString(number)
	shown, finite := new(big.Rat).SetString(strconv.FormatFloat(float, 'g', -1, 64))
	return ok && finite && given.Cmp(shown) == 0
}
