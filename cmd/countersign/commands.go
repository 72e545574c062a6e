package main

import (
	"context"
	"fmt"
	"io"

	"countersign.dev/internal/app"
	"countersign.dev/internal/commandline"
)

func commands() []command {
	return []command{
		named("demo", "[--port 3100] [--data DIR] [--postgres URL] [--model NAME] [--mcp FILE] [--json]", "run everything on this machine with a sample company", "countersign demo", demo),
		named("gateway", "--config FILE", "run the chat host and gateway", "countersign gateway --config countersign.yaml", configured(app.Gateway)),
		named("serve", "NAME… --config FILE [--stdio] | tasks|codesearch --stdio --local DIR", "run domain servers, or one for a client at standard input and output", "countersign serve hr --config countersign.yaml", serve),
		named("approve", "[ID] --local DIR", "approve or deny what waits at a server with --local; without ID: list it", "countersign approve 6f1c0a52-9c3f-4f0e-8f57-0d6f2d1f7c11 --local .", approve),
		named("tools", "[--url URL] [--token TOKEN | --as PERSON] [--json] [--errors] [--accept SERVER.TOOL --config FILE]", "list the tools that you may call; --accept: accept a connected server's changed tool", "countersign tools --as alice.chen", tools),
		named("call", "TOOL [JSON] [--url URL] [--token TOKEN | --as PERSON] [--json]", "call one tool; JSON: its input, an object", `countersign call list_employees '{"department":"Engineering"}' --as alice.chen`, call),
		named("chat", "[--once QUESTION] [--resume ID] [--model NAME] [--url URL] [--token TOKEN | --as PERSON] [--json]", "ask questions from a terminal", `countersign chat --once "Who is on my team?" --as nina.patel`, chat),
		named("token", "PERSON [--audience gateway|hr|…] [--scope \"mcp confirm\"] [--url URL]", "print a token of a running demo; --scope mcp: one that cannot approve", "TOKEN=$(countersign token alice.chen --scope mcp)", token),
		named("eval", "[--questions FILE] [--model NAME,…] [--results FILE] [--url URL] [--token TOKEN | --as PERSON] [--json]", "ask a set of questions of a model and say what was right", "countersign eval --model rehearsal", evaluate),
		named("check", "--config FILE", "validate a configuration and check everything it names, one line each", "countersign check --config countersign.yaml", configured(app.Check)),
		named("migrate", "--config FILE", "create or update the schemas of the databases", "countersign migrate --config countersign.yaml", configured(app.Migrate)),
		named("seed", "--config FILE [--scale N]", "fill the databases with the sample company, or a large one", "countersign seed --config countersign.yaml", seed),
		named("index", "[DIR…] [--config FILE] [--index FOLDER] [--watch]", "build or refresh the code index of repositories", "countersign index --config countersign.yaml", indexCode),
		named("audit", "verify [FILE|FOLDER …] [--key KEY] [--redis URL] [--expect-head HASH/COUNT] [--config FILE]", "verify audit logs, or say what is broken, missing or not known", "countersign audit verify audit.jsonl", verifyAudit),
		named("version", "", "print the version", "countersign version", version),
	}
}

func named(name, usage, summary, example string, run func(context.Context, program, command) error) command {
	return command{commandline.Command{Program: "countersign", Name: name, Usage: usage, Summary: summary, Example: example}, run}
}

// run executes one command line and returns the exit code.
func run(ctx context.Context, p program) int {
	if len(p.args) == 0 {
		printCommands(p.err)
		return commandline.ExitUsage
	}
	name := p.args[0]
	p.args = p.args[1:]
	if name == "help" || name == "--help" || name == "-h" {
		printCommands(p.out)
		return commandline.ExitDone
	}
	for _, c := range commands() {
		if c.Name == name {
			return c.Report(p.err, c.run(ctx, p, c))
		}
	}
	fmt.Fprintf(p.err, "countersign: there is no command %q; \"countersign help\" lists them\n", name)
	return commandline.ExitUsage
}

func printCommands(w io.Writer) {
	fmt.Fprint(w, "Countersign answers questions about company data; nothing changes until a human countersigns it.\n\nusage: countersign COMMAND\n\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-9s %s\n", c.Name, c.Summary)
	}
	fmt.Fprint(w, "\n\"countersign COMMAND --help\" says more. Start with: countersign demo\n")
}
