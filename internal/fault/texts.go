package fault

// The standard texts of document 001, to the letter, and one of ours. Every surface
// uses these. Its TOOL_ERROR goes on with ": ERROR. Let me try a different approach.":
// a failure that an answer hides is known when the answer has ended, and the gateway
// promises nothing.
const (
	Welcome     = "Hello! I'm an AI assistant that can help answer questions and use tools to get information."
	TooBusy     = "I'm currently processing too many requests. Please try again in a moment."
	Maintenance = "The system is currently undergoing maintenance. Some features may be unavailable."
	ToolError   = "I encountered an error when using the %s tool" // its name
	TriesFailed = "I tried several times, and the model gave no answer. Please try again in a moment."
)
