// Command countersign is the complete product in one binary: the chat host and
// gateway, the domain servers, the demo that runs all of it, and a terminal
// client. Here are only flags, operands and the environment, which become the
// options of internal/app and internal/client; start with commands.go.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"countersign.dev/internal/supervise"
)

func main() {
	if supervise.Asked(os.Args) { // a copy of this program that watches over a connected server's process
		os.Exit(supervise.Main(os.Args))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(run(ctx, program{args: os.Args[1:], getenv: os.Getenv, in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}
