package conversation

import (
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"regexp"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
)

// Conversation is the record of one conversation. It belongs to its owner alone.
type Conversation struct {
	ID      string
	Owner   access.Owner
	Title   string
	Model   string // of the last answer, and of the next unless another is chosen
	Memory  agent.Memory
	Usage   agent.Usage // of all its turns
	Created time.Time
	Updated time.Time
}

// Listed is a conversation in a list. Of one that cannot be read, only the id and
// the reason are known.
type Listed struct {
	Conversation
	Unreadable string // a sentence; empty: it can be read
}

// Message is one stored message of a conversation.
type Message struct {
	ID      string
	At      time.Time
	Surface string            // through which a question was asked
	Model   string            // of an answer: the model that gave it
	Servers map[string]string // of results: the server of each tool
	Usage   *agent.Usage      // of a turn's last message: what the turn used
	agent.Message
}

const maxTitle = 80 // characters

// notFound also answers callers who do not own the conversation: they must not learn
// that it exists.
var notFound = &fault.Code{
	Name: "CONVERSATION_NOT_FOUND", Kind: fault.NotFound, Status: http.StatusNotFound,
	Meaning: "The conversation is unknown, deleted, or somebody else's.",
	Suggest: "Start a new conversation, or list yours.", Details: []string{"conversationId"},
}

// eventsGone ends a stream that would have a gap otherwise.
var eventsGone = &fault.Code{
	Name: "EVENTS_GONE", Kind: fault.NotFound, Status: http.StatusNotFound,
	Meaning:  "What followed that event is no longer kept.",
	Instruct: "Read the conversation again and follow it from its lastEventId.",
}

// unreadable is what altered records and events are, and those that were sealed with
// other keys.
var unreadable = &fault.Code{
	Name: "CONVERSATION_UNREADABLE", Kind: fault.Conflict, Status: http.StatusConflict,
	Meaning: "What is stored of the conversation was altered, or written with keys or a format that the gateway does not have.",
	Suggest: "Start a new conversation. This one can be deleted.",
}

// Codes lists the fault codes that only conversations raise.
func Codes() []*fault.Code { return []*fault.Code{notFound, eventsGone, unreadable} }

func errNotFound(id string) error {
	return notFound.New("There is no such conversation.").With("conversationId", id)
}

var idPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)

func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

func titleOf(question string) string {
	line := strings.Join(strings.Fields(question), " ")
	if runes := []rune(line); len(runes) > maxTitle {
		return string(runes[:maxTitle-1]) + "…"
	}
	return line
}
