package support

import (
	"context"
	"testing"

	"github.com/elastic/go-elasticsearch/v9/esapi"
)

// WordsOf is how we cut a text.
var WordsOf = wordsOf

// Analyze is how the engine cuts a text.
func (e *Elastic) Analyze(ctx context.Context, t *testing.T, text string) (words []string) {
	t.Helper()
	var answer struct{ Tokens []struct{ Token string } }
	r := esapi.IndicesAnalyzeRequest{Index: e.indices[tickets], Body: jsonBody(object{"analyzer": "words", "text": text})}
	if err := e.send(ctx, r, &answer); err != nil {
		t.Fatal(err)
	}
	for _, token := range answer.Tokens {
		words = append(words, token.Token)
	}
	return words
}
