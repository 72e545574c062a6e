package chat

import (
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
)

// Draw encodes one event as a stream shows it, with the default limits: written
// to the log, read there, encoded.
func Draw(e agent.Event) []byte {
	event, ok := conversation.Limits{Rows: 50, Data: 64 << 10}.EventOf(e)
	if !ok {
		return nil
	}
	stored, err := event.MarshalBinary()
	if err != nil {
		panic(err)
	}
	var read conversation.Event
	if err := read.UnmarshalBinary(stored); err != nil {
		panic(err)
	}
	return dataOf(read)
}
