package gateway

import "countersign.dev/internal/agent"

// Draw encodes one event as a stream shows it, with the default limits.
func Draw(e agent.Event) [][]byte { return encoder{rows: 50, bytes: 64 << 10}.encode(e) }
