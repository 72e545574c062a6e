package fault

import "fmt"

// The standard texts of the chat server's founding document, to the letter, and
// one of ours. Every surface uses these.
const (
	Welcome     = "Hello! I'm an AI assistant that can help answer questions and use tools to get information."
	TooBusy     = "I'm currently processing too many requests. Please try again in a moment."
	Maintenance = "The system is currently undergoing maintenance. Some features may be unavailable."
	TriesFailed = "I tried several times, and the model gave no answer. Please try again in a moment."
)

// ToolError says that a tool failed.
func ToolError(tool, reason string) string {
	return fmt.Sprintf("I encountered an error when using the %s tool: %s. Let me try a different approach.", tool, reason)
}
