package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"countersign.dev/internal/client"
)

// turnTimeout bounds one answer; giveUpAfter, the failed turns in a row after
// which a model is taken to be unreachable or misconfigured.
const (
	turnTimeout = 5 * time.Minute
	giveUpAfter = 3
)

// Run asks every question of every model and prints the outcomes. An answer
// that is in the file of results already is not asked for again.
func Run(ctx context.Context, o Options) error {
	if o.Now == nil {
		o.Now = time.Now
	}
	models := o.Models
	if len(models) == 0 {
		names, err := client.Models(ctx, o.askedBy(firstPerson(o.Sets)))
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return errors.New("the gateway has no model")
		}
		models = names[:1]
	}
	kept, err := openResults(o.Results)
	if err != nil {
		return err
	}
	defer kept.Close()
	r := &run{Options: o, kept: kept, progress: newProgress(o, len(models))}
	asked, err := r.askEach(ctx, models)
	if len(r.answers) == 0 {
		return err
	}
	r.progress.end()
	return errors.Join(err, r.report(asked))
}

// run is one evaluation while it goes on.
type run struct {
	Options
	kept     *results
	progress *progress
	answers  []Answered
	failed   int // turns in a row, of one model
}

// askEach asks all questions of each model, and returns the models that were asked.
// An error ends the questions of its model, and the end of the run all of them.
func (r *run) askEach(ctx context.Context, models []string) ([]string, error) {
	var failures []error
	for i, model := range models {
		r.failed = 0
		err := r.ask(ctx, model)
		if ctx.Err() != nil {
			return models[:i+1], errors.Join(append(failures, context.Cause(ctx))...)
		}
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", model, err))
		}
	}
	return models, errors.Join(failures...)
}

// ask asks all questions of one model.
func (r *run) ask(ctx context.Context, model string) error {
	for _, set := range r.Sets {
		for _, c := range set.Conversations {
			key := keyOf(model, c)
			if known := r.kept.of(key, len(c.Turns)); known != nil {
				r.take(known, true)
				continue
			}
			answers, err := r.converse(ctx, model, set.Name, c)
			for i := range answers {
				answers[i].Key = key
			}
			r.take(answers, false)
			if err == nil {
				err = r.kept.add(answers)
			}
			if err != nil {
				return err
			}
			if r.failed >= giveUpAfter {
				return fmt.Errorf("%d answers in a row failed, the last with: %s", r.failed, answers[len(answers)-1].Why)
			}
		}
	}
	return nil
}

// take counts answers and shows them.
func (r *run) take(answers []Answered, known bool) {
	for _, a := range answers {
		switch r.answers = append(r.answers, a); {
		case !a.Failed:
			r.failed = 0
		case !known:
			r.failed++
		}
		r.progress.show(a)
	}
}

// converse holds one conversation and judges its turns. With an error it returns those
// before it.
func (r *run) converse(ctx context.Context, model, set string, c Conversation) (answers []Answered, err error) {
	asker, err := client.NewAsker(ctx, r.askedBy(c.As), model)
	if err != nil {
		return nil, fmt.Errorf("who asks %q: as is %q, and without it --token is needed: %w", c.Turns[0].Ask, c.As, err)
	}
	defer func() { err = cmp.Or(err, asker.Close(context.WithoutCancel(ctx))) }()
	var earlier []client.Called
	for _, q := range c.Turns {
		q = q.on(r.Now().UTC())
		began := time.Now()
		x, err := askOne(ctx, asker, q.Ask)
		if err != nil {
			return answers, err
		}
		answers = append(answers, answered(model, set, c.As, q, x, judge(q, x, earlier), time.Since(began)))
		earlier = append(earlier, x.Calls...)
	}
	return answers, nil
}

func askOne(ctx context.Context, a *client.Asker, question string) (*client.Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, turnTimeout)
	defer cancel()
	return a.Ask(ctx, question)
}

// askedBy are the client's options for a question's person.
func (o Options) askedBy(person string) client.Options {
	c := o.Client
	if person != "" {
		c.As, c.Token = person, ""
	}
	c.Out, c.Err = io.Discard, io.Discard
	return c
}

func firstPerson(sets []Set) string {
	for _, s := range sets {
		for _, c := range s.Conversations {
			return c.As
		}
	}
	return ""
}
