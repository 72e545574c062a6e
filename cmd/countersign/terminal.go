package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/app"
	"countersign.dev/internal/client"
	"countersign.dev/internal/commandline"
	"countersign.dev/internal/eval"
)

// defaultGateway is the address of a demo on the default port.
var defaultGateway = fmt.Sprintf("http://localhost:%d", app.DefaultPort)

// clientOptions are what every terminal command is given, and their flags.
func (p program) clientOptions() client.Options {
	return client.Options{In: p.in, Out: p.out, Err: p.err}
}

func defineAddress(fs *flag.FlagSet, to *string, usage string) {
	*to = defaultGateway
	fs.Var((*commandline.Address)(to), "url", usage)
}

func defineClient(o *client.Options) func(*flag.FlagSet) {
	return func(fs *flag.FlagSet) {
		defineAddress(fs, &o.URL, "`address` of the gateway")
		fs.StringVar(&o.Token, "token", "", "bearer `token`; default: COUNTERSIGN_TOKEN")
		fs.StringVar(&o.As, "as", "", "sample `person`, on a running demo")
		fs.BoolVar(&o.JSON, "json", false, "print JSON, one value a line")
	}
}

// onePerson rejects two people who ask.
func onePerson(o client.Options) error {
	if o.Token != "" && o.As != "" {
		return misused("--token and --as both say who asks: give one of them")
	}
	return nil
}

// identified takes the token from --token, --as, or the environment.
func (p program) identified(o *client.Options) error {
	if err := onePerson(*o); err != nil {
		return err
	}
	if o.As == "" {
		o.Token = cmp.Or(o.Token, p.getenv("COUNTERSIGN_TOKEN"))
	}
	if o.Token == "" && o.As == "" {
		return misused("no person is named: use --token TOKEN, COUNTERSIGN_TOKEN, or --as PERSON on a demo")
	}
	return nil
}

func tools(ctx context.Context, p program, c command) error {
	o, codes, a := p.clientOptions(), false, app.AcceptOptions{ConfigOptions: p.configOptions()}
	err := c.parseNone(p, func(fs *flag.FlagSet) {
		defineClient(&o)(fs)
		fs.BoolVar(&codes, "errors", false, "print the error codes instead")
		fs.StringVar(&a.Tool, "accept", "", "accept the definition of this `server.tool` of a connected server (server.*: of all its tools)")
		fs.StringVar(&a.File, "config", "", "with --accept: configuration `file` of the gateway")
		fs.StringVar(&a.MCP, "mcp", "", "with --accept: `file` of connected servers, of a demo")
		fs.StringVar(&a.Data, "data", "", "with --accept: data `folder` of that demo")
	})
	if err != nil {
		return err
	}
	if codes {
		return app.PrintCodes(p.out, o.JSON)
	}
	if a.Tool != "" {
		return app.Accept(ctx, a)
	}
	if err := p.identified(&o); err != nil {
		return err
	}
	return client.Tools(ctx, o)
}

func call(ctx context.Context, p program, c command) error {
	o := p.clientOptions()
	operands, err := c.parse(p, defineClient(&o))
	if err != nil {
		return err
	}
	if len(operands) < 1 || len(operands) > 2 || operands[0] == "" {
		return misused("name one tool, and its input as one JSON object")
	}
	input := json.RawMessage(append(operands, "{}")[1])
	var object map[string]json.RawMessage
	if json.Unmarshal(input, &object) != nil || object == nil {
		return misused("the input is not a JSON object")
	}
	if err := p.identified(&o); err != nil {
		return err
	}
	return client.Call(ctx, o, operands[0], input)
}

func chat(ctx context.Context, p program, c command) error {
	o, once, asked := p.clientOptions(), "", false
	c.Summary += "; in a conversation you can also enter\n\n" + client.Commands() // of this copy, for --help
	operands, err := c.parse(p, func(fs *flag.FlagSet) {
		defineClient(&o)(fs)
		fs.Func("once", "ask one `question` and end", func(text string) error { once, asked = text, true; return nil })
		fs.StringVar(&o.Model, "model", "", "`name` of the model that answers; default: the gateway's")
		fs.StringVar(&o.Resume, "resume", "", "`id` of the conversation to go on with; default: a new one")
	})
	if err != nil {
		return err
	}
	if len(operands) > 0 || asked && strings.TrimSpace(once) == "" {
		return misused("ask with --once \"QUESTION\", or start a conversation without operands")
	}
	if err := p.identified(&o); err != nil {
		return err
	}
	o.Color = p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"
	ctx, stop := client.Interactive(ctx, &o)
	defer stop()
	return client.Chat(ctx, o, once)
}

func evaluate(ctx context.Context, p program, c command) error {
	o, questions, models := eval.Options{Client: p.clientOptions(), Out: p.out, Err: p.err, Bar: client.IsTerminal(p.err)}, "", ""
	err := c.parseNone(p, func(fs *flag.FlagSet) {
		defineClient(&o.Client)(fs)
		fs.StringVar(&questions, "questions", "", "`file` of questions; default: ours, about the sample company")
		fs.StringVar(&models, "model", "", "`names` of models, separated by commas; default: the gateway's own default")
		fs.StringVar(&o.Results, "results", "", "`file` to which each answer is appended; a run that was ended goes on from it")
		fs.Lookup("url").DefValue = "a demo of its own" // that is gone at the end
		o.Client.URL = ""
	})
	if err != nil {
		return err
	}
	if models != "" {
		o.Models = strings.Split(models, ",")
	}
	switch {
	case slices.Contains(o.Models, ""):
		return misused("--model takes names, separated by one comma each")
	case o.Client.Token != "" && o.Client.URL == "":
		return misused("--token needs --url: a demo of its own has its sample people")
	}
	if err := onePerson(o.Client); err != nil {
		return err
	}
	if o.Sets, err = eval.Sets(questions); err != nil {
		return err
	}
	o.Client.Token, o.JSON = cmp.Or(o.Client.Token, p.getenv("COUNTERSIGN_TOKEN")), o.Client.JSON
	if o.Client.URL != "" {
		return eval.Run(ctx, o)
	}
	demo := p.demoOptions()
	if len(o.Models) == 1 {
		demo.Model = o.Models[0]
	}
	return app.DuringDemo(ctx, demo, func(gateway string) error {
		o.Client.URL, o.Client.Token = gateway, ""
		return eval.Run(ctx, o)
	})
}

func token(ctx context.Context, p program, c command) error {
	var gateway, audience, scope string
	operands, err := c.parse(p, func(fs *flag.FlagSet) {
		defineAddress(fs, &gateway, "`address` of the demo's gateway")
		fs.StringVar(&audience, "audience", "gateway", "the `server` that the token is for: gateway, hr …")
		fs.StringVar(&scope, "scope", client.DefaultScope, "`scopes` of the token: each calls tools, one with confirm also approves and denies changes")
	})
	if err != nil {
		return err
	}
	if len(operands) != 1 || operands[0] == "" {
		return misused("name one person, such as alice.chen")
	}
	t, err := client.Token(ctx, gateway, operands[0], audience, scope)
	if err != nil {
		return err
	}
	fmt.Fprintln(p.out, t)
	return nil
}

func verifyAudit(ctx context.Context, p program, c command) error {
	o := app.AuditOptions{ConfigOptions: p.configOptions()}
	operands, err := c.parse(p, func(fs *flag.FlagSet) {
		fs.StringVar(&o.File, "config", "", "configuration `file` whose audit and redis.url are used")
		fs.Func("redis", "`URL` of the Redis that has the processes' newest heads", o.HeadsIn)
		fs.Func("expect-head", "`HASH/COUNT` of an earlier verification that must still hold", o.ExpectHead)
		fs.Func("key", "public `key` that signed the logs, as check prints it; may be repeated", o.Trust)
	})
	if err != nil {
		return err
	}
	if len(operands) == 0 || operands[0] != "verify" || len(operands) == 1 && o.File == "" {
		return misused("expected: audit verify FILE, or --config")
	}
	o.Paths = operands[1:]
	return app.VerifyAudit(ctx, o)
}

func version(_ context.Context, p program, c command) error {
	if err := c.parseNone(p, func(*flag.FlagSet) {}); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "countersign "+app.Version())
	return nil
}
