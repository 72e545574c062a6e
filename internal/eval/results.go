package eval

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"countersign.dev/internal/client"
)

// Answered is one answer with its verdict: a line of the file of results, and of
// --json.
type Answered struct {
	Key      string  `json:"key"` // of the model and the conversation; it changes with any of its questions
	Model    string  `json:"model"`
	Set      string  `json:"set"` // the name of the question's file
	As       string  `json:"as,omitempty"`
	Question string  `json:"question"`
	Result   Result  `json:"result"`
	Tool     bool    `json:"tool"`
	Args     bool    `json:"args"`
	Rows     bool    `json:"rows"`
	Honest   bool    `json:"honest"`
	Why      string  `json:"why,omitempty"`
	Failed   bool    `json:"failed,omitempty"` // the turn ended with an error
	Calls    []call  `json:"calls,omitempty"`
	Answer   string  `json:"answer"`
	Input    int     `json:"input_tokens"`
	Output   int     `json:"output_tokens"`
	Price    float64 `json:"price,omitempty"`    // in Currency
	Currency string  `json:"currency,omitempty"` // empty: the price is not known
	Seconds  float64 `json:"seconds"`
}

type call struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args,omitempty"`
}

func answered(model, set, as string, q Question, x *client.Exchange, v Verdict, took time.Duration) Answered {
	a := Answered{
		Model: model, Set: set, As: as, Question: q.Ask,
		Result: v.Result, Tool: v.Tool, Args: v.Args, Rows: v.Rows, Honest: v.Honest, Why: v.Why, Failed: x.Problem != "",
		Answer: x.Text, Input: x.Input, Output: x.Output, Price: x.Price, Currency: x.Currency, Seconds: took.Seconds(),
	}
	for _, c := range x.Calls {
		a.Calls = append(a.Calls, call{c.Tool, c.Args})
	}
	return a
}

// keyOf names a conversation with one model. Its date is left out: an answer of
// yesterday need not be asked for again.
func keyOf(model string, c Conversation) string {
	raw, _ := json.Marshal(struct {
		Model string
		Conversation
	}{model, c}) // of YAML: texts, numbers and lists
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// results is the file of results: one line of JSON an answer, only appended to.
type results struct {
	file  *os.File // nil: nothing is kept
	known map[string][]Answered
}

// openResults reads what the file has. A last line without an end, which an
// ended run can leave behind, is cut off.
func openResults(name string) (*results, error) {
	r := &results{known: map[string][]Answered{}}
	if name == "" {
		return r, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	for n, line := range bytes.Split(raw[:whole], []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var a Answered
		if err := json.Unmarshal(line, &a); err != nil || a.Key == "" {
			return nil, fmt.Errorf("line %d of %s is not a result; name another file", n+1, name)
		}
		r.known[a.Key] = append(r.known[a.Key], a)
	}
	if r.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return nil, err
	}
	return r, r.file.Truncate(int64(whole))
}

// of returns the answers of a conversation when all of its turns are there.
func (r *results) of(key string, turns int) []Answered {
	if known := r.known[key]; len(known) >= turns {
		return known[len(known)-turns:]
	}
	return nil
}

// add appends the answers of one conversation at once.
func (r *results) add(answers []Answered) error {
	if r.file == nil {
		return nil
	}
	var b bytes.Buffer
	for _, a := range answers {
		if err := json.NewEncoder(&b).Encode(a); err != nil {
			return err
		}
	}
	_, err := r.file.Write(b.Bytes())
	return err
}

func (r *results) Close() error {
	if r.file == nil {
		return nil
	}
	return r.file.Close()
}
