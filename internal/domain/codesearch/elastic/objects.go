package elastic

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"countersign.dev/internal/elasticsearch"
)

// digest is a short name of a text, for ids.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// object is a JSON object on its way to the server.
type object = elasticsearch.Object

func term(field, value string) object { return object{"term": object{field: object{"value": value}}} }

func each[T any](all []T, of func(T) object) []object {
	made := make([]object, len(all))
	for i, one := range all {
		made[i] = of(one)
	}
	return made
}

// literal writes a text as a regular expression of the engine that matches it alone.
func literal(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9') {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
