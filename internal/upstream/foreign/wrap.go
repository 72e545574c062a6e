package foreign

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// ToolFailed is the code of an error that a foreign tool itself reported. Its
// kind is final: the tool ran, and what it changed is its own secret.
var ToolFailed = &fault.Code{
	Name: "TOOL_FAILED", Kind: fault.Conflict, Status: http.StatusOK,
	Meaning: "A tool of a connected server reported an error.", Suggest: "Read the message, and check the other system before you try again.",
}

// maxMessage bounds the characters of a server's error text.
const maxMessage = 500

func (s *Server) failed(message string) *fault.Error {
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…"
	}
	if message == "" {
		message = fmt.Sprintf("The %s service reported an error without a message.", s.o.Name)
	}
	return ToolFailed.New("%s", message).With("server", s.o.Name)
}

// wrap makes an outcome of a result of any shape: structured content as it is,
// else the texts and a description of every other part. An answer that is larger
// than a model or a page can take is clipped, and says so, and so does structured
// content beside which there is more.
func (s *Server) wrap(answer *mcp.CallToolResult) result.Outcome {
	texts, parts := contentOf(answer.Content)
	text := strings.Join(texts, "\n")
	switch {
	case len(answer.InputRequests) > 0:
		return result.Failed(s.failed("It asked for more input, which cannot be given here."))
	case answer.IsError && strings.TrimSpace(text) == "" && answer.StructuredContent != nil:
		reason, _ := json.Marshal(answer.StructuredContent)
		return result.Failed(s.failed(string(reason)))
	case answer.IsError:
		return result.Failed(s.failed(text))
	case answer.StructuredContent == nil:
		return textOutcome(text, parts)
	}
	data, remarks, err := structuredOf(answer, text)
	if err != nil {
		return result.Failed(fmt.Errorf("answer of server %s: %w", s.o.Name, err))
	}
	if !repeats(texts, answer.StructuredContent) || len(parts) > 0 {
		remarks = append(remarks, besideData)
	}
	return remarked(dataOutcome(data), strings.Join(remarks, " "))
}

func dataOutcome(data json.RawMessage) result.Outcome {
	if rows := rowsIn(data); rows != nil {
		return rowsOutcome(rows)
	}
	if fits(data) {
		return result.Success(data, nil, "")
	}
	return textOutcome(string(data), nil)
}

func contentOf(content []mcp.Content) (texts []string, parts []part) {
	for _, c := range content {
		switch c := c.(type) {
		case *mcp.TextContent:
			texts = append(texts, c.Text)
		case *mcp.ImageContent:
			parts = append(parts, part{Type: "image", MIMEType: c.MIMEType, Bytes: len(c.Data)})
		case *mcp.AudioContent:
			parts = append(parts, part{Type: "audio", MIMEType: c.MIMEType, Bytes: len(c.Data)})
		case *mcp.ResourceLink:
			parts = append(parts, part{Type: "resource_link", MIMEType: c.MIMEType, URI: c.URI, Name: c.Name})
		case *mcp.EmbeddedResource:
			if r := c.Resource; r != nil {
				parts = append(parts, part{Type: "resource", MIMEType: r.MIMEType, URI: r.URI, Bytes: len(r.Blob)})
				texts = append(texts, r.Text)
			}
		}
	}
	return texts, parts
}
