package record

import "countersign.dev/internal/fault"

// The six codes of the founding document. Details say what each is about.
var (
	ErrResponseSize = code("RESPONSE_SIZE_EXCEEDED", fault.Invalid, "The answer would have more than 15,000 tokens.",
		"Ask for fewer items at a time, or for their summaries.", "actual_tokens", "max_tokens")
	ErrMode       = code("INVALID_MODE", fault.Invalid, "The mode is neither summary nor details.", "Ask for summary or details.", "provided_mode")
	ErrPagination = code("PAGINATION_INVALID", fault.Invalid, "A limit is not between 1 and 1,000, or an offset is negative.",
		"Ask for 1 to 1,000 items, and skip none or more.", "limit", "offset")
	ErrNotFound  = instruct(code("NOT_FOUND", fault.NotFound, "No task, entity or link has this id in this workspace.", "Ask which there are.", "resource_type", "resource_id"), "List or search what there is, to find the id.")
	ErrFilter    = code("INVALID_FILTER", fault.Invalid, "The value of a filter is none of the valid ones: a status, a priority, a type of entity or the name of a tool.", "Use one of the valid values.", "filter_name", "invalid_value", "valid_values")
	ErrWorkspace = code("WORKSPACE_INVALID", fault.Invalid, "The workspace is no folder or project that the caller may open.", "List the projects to see which there are.", "workspace_path", "reason")
)

// The codes of faults that the document gives none.
var (
	ErrTransition = code("INVALID_TRANSITION", fault.Conflict, "A task cannot go from its status to that one.", "Choose a status that may follow.", "task_id", "from", "to", "allowed")
	ErrCycle      = code("CYCLE", fault.Conflict, "A task would be above itself, or wait for itself.", "Leave one of the tasks of the circle out.", "cycle")
	ErrDependency = code("DEPENDENCY_OPEN", fault.Conflict, "A task that it depends on is not done.", "Finish these tasks first, or remove them from what it depends on.", "task_id", "open")
	ErrDuplicate  = code("DUPLICATE", fault.Conflict, "There is one already.", "Use the one that there is.", "resource_type", "resource_id", "friendly_name")
)

// Codes lists all of them.
func Codes() []*fault.Code {
	return []*fault.Code{ErrResponseSize, ErrMode, ErrPagination, ErrNotFound, ErrFilter, ErrWorkspace, ErrTransition, ErrCycle, ErrDependency, ErrDuplicate}
}

func code(name string, kind fault.Kind, meaning, suggest string, details ...string) *fault.Code {
	return &fault.Code{Name: name, Kind: kind, Status: 200, Meaning: meaning, Suggest: suggest, Details: details}
}

func instruct(c *fault.Code, text string) *fault.Code {
	c.Instruct = text
	return c
}

// NotFound is NOT_FOUND about a task, an entity or a link.
func NotFound(resource string, id int64) *fault.Error {
	return ErrNotFound.New("There is no %s %d in this workspace.", resource, id).With("resource_type", resource).With("resource_id", id)
}

// NotDeleted is NOT_FOUND for the deletion of a task that is to be taken back and is none.
func NotDeleted(id int64) *fault.Error {
	return ErrNotFound.New("Task %d is not deleted.", id).With("resource_type", "task").With("resource_id", id)
}

// Workspace is WORKSPACE_INVALID: reason is a sentence without its full stop.
// The path is the caller's and clipped, in the details to 300 bytes.
func Workspace(path, reason string) *fault.Error {
	return ErrWorkspace.New("The workspace %q cannot be used: %s.", fault.Clip(path, 100), reason).
		Tell("I find no project of that name among yours.").With("workspace_path", fault.Clip(path, 300)).With("reason", reason)
}
