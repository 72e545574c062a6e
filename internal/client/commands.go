package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"

	"countersign.dev/internal/client/draw"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// command is what can be entered instead of a question.
type command struct {
	name, operand, summary string
	run                    func(c *chat, ctx context.Context, operand string) error
}

func commands() []command {
	return []command{
		{"help", "", "list these commands", func(c *chat, _ context.Context, _ string) error { c.screen.line(Commands()); return nil }},
		{"approve", "[N]", "approve the change that waits; N: the one of several", func(c *chat, ctx context.Context, n string) error { return c.decide(ctx, true, n) }},
		{"deny", "[N]", "deny it", func(c *chat, ctx context.Context, n string) error { return c.decide(ctx, false, n) }},
		{"pending", "", "show all changes that wait for you", func(c *chat, ctx context.Context, _ string) error { return c.showPending(ctx) }},
		{"rows", "", "show all rows that were read for the last answer", showRead},
		{"next", "", "show the next page of the last list", func(c *chat, ctx context.Context, _ string) error { return c.nextPage(ctx) }},
		{"history", "", "list your conversations", func(c *chat, ctx context.Context, _ string) error { return c.showHistory(ctx) }},
		{"open", "N|ID", "go on with a conversation of that list", (*chat).open},
		{"new", "", "begin a new conversation", func(c *chat, ctx context.Context, _ string) error { return c.begin(ctx, "") }},
		{"model", "[NAME]", "list the models, or choose who answers from now on", (*chat).chooseModel},
		{"prompts", "", "list the texts that connected servers offer you", func(c *chat, ctx context.Context, _ string) error { return c.showPrompts(ctx) }},
		{"prompt", "NAME [KEY=VALUE…]", "show one of them; nothing is asked with it", func(c *chat, ctx context.Context, named string) error { return c.showPrompt(ctx, named) }},
		{"quit", "", "end the chat; so do Ctrl-D, and Ctrl-C while no answer is given", func(*chat, context.Context, string) error { return errEnd }},
	}
}

// showRead prints all rows that were read for the last answer.
func showRead(c *chat, ctx context.Context, _ string) error {
	if len(c.read) == 0 {
		return errors.New("no rows were read for the last answer")
	}
	return c.drawAll(ctx, c.read)
}

// Commands describes the commands of a chat, one a line.
func Commands() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, known := range commands() {
		fmt.Fprintf(w, "  %s\t%s\n", strings.TrimSpace("/"+known.name+" "+known.operand), known.summary)
	}
	_ = w.Flush() // into memory
	return strings.TrimSuffix(b.String(), "\n")
}

// command runs a line: one of the commands, or a question.
func (c *chat) command(ctx context.Context, text string) error {
	if (text == "approve" || text == "deny") && len(c.pending) > 0 {
		text = "/" + text
	}
	rest, is := strings.CutPrefix(text, "/")
	if !is {
		c.ask(ctx, text)
		return nil
	}
	name, operand, _ := strings.Cut(rest, " ")
	for _, known := range commands() {
		if known.name == name {
			return known.run(c, ctx, strings.TrimSpace(operand))
		}
	}
	return fmt.Errorf("there is no command /%s; /help lists them", name)
}

func (v *view) showHistory(ctx context.Context) error {
	var list struct{ Conversations []summary }
	if err := v.gateway.get(ctx, "/api/conversations", &list); err != nil {
		return err
	}
	v.found = list.Conversations
	if len(v.found) == 0 {
		v.screen.remark("You have no conversations yet.")
		return nil
	}
	for i, one := range v.found {
		line := fmt.Sprintf("%3d  %s  %s", i+1, one.Updated.Local().Format("2006-01-02 15:04"), draw.Short(one.Title))
		if width := v.screen.width(); width > 0 {
			line = draw.Clip(line, width-1)
		}
		v.screen.line(line)
	}
	v.screen.remark("/open N goes on with one of them.")
	return nil
}

// open goes on with a conversation, by its number in the list or its id.
func (c *chat) open(ctx context.Context, operand string) error {
	if operand == "" {
		return errors.New("say which conversation, as in /open 1 after /history")
	}
	if n, err := strconv.Atoi(operand); err == nil && n >= 1 && n <= len(c.found) {
		operand = c.found[n-1].ID
	}
	return c.begin(ctx, operand)
}

func (c *chat) chooseModel(ctx context.Context, name string) error {
	names, err := models(ctx, c.gateway)
	if err != nil {
		return err
	}
	for i, known := range names {
		if known == name {
			c.Model = name
			c.screen.remark(draw.Short(name) + " answers from now on.")
			return nil
		}
		if name == "" && i == 0 {
			known += " (the default)"
		}
		if name == "" {
			c.screen.line("  " + draw.Short(known))
		}
	}
	if name != "" {
		return fmt.Errorf("there is no model %q; there are %s", name, strings.Join(names, ", "))
	}
	return nil
}

func (v *view) showPrompts(ctx context.Context) error {
	var list struct{ Prompts []result.Prompt }
	if err := v.gateway.get(ctx, "/api/prompts", &list); err != nil {
		return err
	}
	if len(list.Prompts) == 0 {
		v.screen.remark("No connected server offers you a text.")
	}
	for _, p := range list.Prompts {
		line := p.Server + "." + p.Name
		for _, a := range p.Arguments {
			line += " " + a.Name + "="
		}
		v.screen.line("  " + draw.Short(line) + "  " + draw.Short(cmp.Or(p.Title, p.Description)))
	}
	return nil
}

// showPrompt prints a text as its server wrote it. It is the person who may put it into
// a question; no model gets it from here.
func (v *view) showPrompt(ctx context.Context, named string) error {
	words := strings.Fields(named)
	if len(words) == 0 {
		return errors.New("say which text, as in /prompt notes.greet whom=Bob after /prompts")
	}
	server, name, found := strings.Cut(words[0], ".")
	if !found {
		return fmt.Errorf("a text is called SERVER.NAME; /prompts lists them")
	}
	args := url.Values{}
	for _, word := range words[1:] {
		key, value, found := strings.Cut(word, "=")
		if !found {
			return fmt.Errorf("%s is not KEY=VALUE", draw.Short(word))
		}
		args.Set(key, value)
	}
	var got struct{ Text string }
	if err := v.gateway.get(ctx, "/api/prompts/"+url.PathEscape(server)+"/"+url.PathEscape(name)+"?"+args.Encode(), &got); err != nil {
		return err
	}
	v.screen.remark("The server " + draw.Short(server) + " wrote:")
	v.screen.line(plaintext.Escape(got.Text, true))
	return nil
}
