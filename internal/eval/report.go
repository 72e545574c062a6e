package eval

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Summary counts the answers of one model, or of one set of its questions.
type Summary struct {
	Model     string    `json:"model,omitempty"`
	Set       string    `json:"set,omitempty"`
	Questions int       `json:"questions"`
	Right     int       `json:"right"`
	Wrong     int       `json:"wrong"`
	Declined  int       `json:"declined"`
	Honest    int       `json:"honest"`
	Tools     int       `json:"tools"` // answers with every expected tool
	Args      int       `json:"args"`  // and arguments
	Rows      int       `json:"rows"`  // and rows
	Input     int       `json:"input_tokens"`
	Output    int       `json:"output_tokens"`
	Price     float64   `json:"price,omitempty"`    // in Currency
	Currency  string    `json:"currency,omitempty"` // empty: the price is not known
	Seconds   float64   `json:"seconds"`            // of all answers together
	Sets      []Summary `json:"sets,omitempty"`
}

func (s *Summary) add(a Answered) {
	one := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	s.Questions++
	s.Right += one(a.Result == Right)
	s.Wrong += one(a.Result == Wrong)
	s.Declined += one(a.Result == Declined)
	s.Honest += one(a.Honest)
	s.Tools += one(a.Tool)
	s.Args += one(a.Args)
	s.Rows += one(a.Rows)
	s.Input += a.Input
	s.Output += a.Output
	s.Price += a.Price
	s.Currency = cmp.Or(a.Currency, s.Currency)
	s.Seconds += a.Seconds
}

// summarize counts a model's answers, in all and by set.
func (r *run) summarize(model string) Summary {
	all := Summary{Model: model}
	for _, set := range r.Sets {
		part := Summary{Set: set.Name}
		for _, a := range r.answers {
			if a.Model == model && a.Set == set.Name {
				part.add(a)
				all.add(a)
			}
		}
		all.Sets = append(all.Sets, part)
	}
	return all
}

// report prints the table, or the lines of JSON.
func (r *run) report(models []string) error {
	if r.JSON {
		return r.reportJSON(models)
	}
	w := tabwriter.NewWriter(r.Out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "model\tset\tquestions\tright\twrong\tdeclined\thonest\ttools\targuments\trows\ttokens in\ttokens out\tprice\ts/answer\t")
	for _, model := range models {
		s := r.summarize(model)
		if len(s.Sets) > 1 {
			for _, part := range s.Sets {
				writeRow(w, model, part.Set, part)
			}
		}
		writeRow(w, model, "all", s)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return r.reportFlaws()
}

func writeRow(w io.Writer, model, set string, s Summary) {
	share := func(n int) string { return fmt.Sprintf("%d (%.0f%%)", n, 100*float64(n)/float64(max(s.Questions, 1))) }
	fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%s\t%.2f\t\n", model, set, s.Questions, share(s.Right), s.Wrong, s.Declined,
		share(s.Honest), s.Tools, s.Args, s.Rows, s.Input, s.Output, s.price(), s.Seconds/float64(max(s.Questions, 1)))
}

// price is what the answers cost, or a dash.
func (s Summary) price() string {
	if s.Currency == "" {
		return "–"
	}
	return fmt.Sprintf("%.4f %s", s.Price, s.Currency)
}

// reportFlaws lists the answers that were not right, with the reason.
func (r *run) reportFlaws() error {
	var b strings.Builder
	for _, a := range r.answers {
		if a.Result != Right {
			fmt.Fprintf(&b, "%s, %s: %s %q: %s\n", a.Model, a.Result, a.As, a.Question, a.Why)
		}
	}
	if b.Len() == 0 {
		return nil
	}
	_, err := fmt.Fprintf(r.Out, "\nNot right:\n%s", b.String())
	return err
}

func (r *run) reportJSON(models []string) error {
	out := json.NewEncoder(r.Out)
	for _, a := range r.answers {
		if err := out.Encode(a); err != nil {
			return err
		}
	}
	for _, model := range models {
		if err := out.Encode(r.summarize(model)); err != nil {
			return err
		}
	}
	return nil
}

// progress shows how far a run is: a line an answer, or a bar on a terminal.
type progress struct {
	out         io.Writer
	bar         bool
	done, total int
	right       int
}

func newProgress(o Options, models int) *progress {
	p := &progress{out: o.Err, bar: o.Bar}
	for _, s := range o.Sets {
		for _, c := range s.Conversations {
			p.total += len(c.Turns) * models
		}
	}
	return p
}

// barWidth is how many characters a full bar has.
const barWidth = 30

func (p *progress) show(a Answered) {
	if p.done++; a.Result == Right {
		p.right++
	}
	if !p.bar {
		fmt.Fprintf(p.out, "[%d/%d] %s, %s: %s %s\n", p.done, p.total, a.Model, a.Result, a.As, a.Question)
		return
	}
	full := barWidth * p.done / max(p.total, 1)
	fmt.Fprintf(p.out, "\r[%s%s] %d/%d, %d right, %s", strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), p.done, p.total, p.right, a.Model)
}

// end leaves the bar's line.
func (p *progress) end() {
	if p.bar {
		fmt.Fprintln(p.out)
	}
}
