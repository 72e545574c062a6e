package record

import (
	"slices"
	"strings"
	"time"
)

// Task is a piece of work. Lists of the mode summary leave TaskDetails out.
type Task struct {
	ID           int64     `json:"id" field:"label=Task,aka=number"`
	Title        string    `json:"title" field:"label=Title,aka=name"`
	Status       string    `json:"status" jsonschema:"enum=todo,enum=in_progress,enum=blocked,enum=done,enum=cancelled,enum=to_be_deleted" field:"aka=state,show=state"`
	Priority     string    `json:"priority" jsonschema:"enum=low,enum=medium,enum=high" field:"aka=urgency|importance"`
	Tags         *string   `json:"tags" jsonschema:"oneof_type=string;null" jsonschema_description:"Words in lower case, separated by spaces." field:"aka=label|topic"`
	ParentTaskID *int64    `json:"parent_task_id" jsonschema:"oneof_type=integer;null" field:"label=Parent,show=detail"`
	CreatedAt    time.Time `json:"created_at" field:"show=detail,aka=opened"`
	UpdatedAt    time.Time `json:"updated_at" field:"show=detail,aka=changed"`

	Unblocks  int     `json:"unblocks,omitempty" jsonschema_description:"With ready: how many open tasks wait for this one." field:"label=Unblocks"`
	BlockedBy []int64 `json:"blocked_by,omitempty" jsonschema_description:"With blocked: the open tasks that it waits for." field:"label=Blocked by,aka=blocker|waits"`
	Because   *string `json:"blocked_because,omitempty" jsonschema_description:"With blocked: the reason of a task of the status blocked." field:"label=Reason,aka=why"`
	Snippet   string  `json:"snippet,omitempty" jsonschema_description:"Where a search found its words; each match is enclosed in **." field:"label=Found in"`

	LinkCreatedAt *time.Time `json:"link_created_at,omitempty" field:"show=detail"`
	LinkCreatedBy string     `json:"link_created_by,omitempty" field:"show=detail"`

	*TaskDetails
}

// TaskDetails are the fields of a task that only the mode details shows.
type TaskDetails struct {
	Description    *string            `json:"description" jsonschema:"oneof_type=string;null"`
	DependsOn      []int64            `json:"depends_on" field:"label=Depends on,aka=dependency|prerequisite"`
	BlockerReason  *string            `json:"blocker_reason" jsonschema:"oneof_type=string;null" field:"label=Blocked because,aka=blocker|reason"`
	FileReferences []string           `json:"file_references" field:"label=Files,aka=file"`
	CreatedBy      string             `json:"created_by" jsonschema_description:"Who made it: the user name, or who they are at another issuer." field:"aka=author"`
	CreatedByLabel *string            `json:"created_by_label,omitempty" jsonschema_description:"What its maker called itself." field:"show=detail"`
	CompletedAt    *time.Time         `json:"completed_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	DeletedAt      *time.Time         `json:"deleted_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
	Metadata       *WorkspaceMetadata `json:"workspace_metadata" jsonschema:"oneof_type=object;null" field:"show=detail"`
}

// WorkspaceMetadata is where a task was made.
type WorkspaceMetadata struct {
	WorkspacePath string `json:"workspace_path"`
	GitRoot       string `json:"git_root,omitempty"`
	ProjectName   string `json:"project_name"`
}

// The statuses of a task.
const (
	Todo        = "todo"
	InProgress  = "in_progress"
	Blocked     = "blocked"
	Done        = "done"
	Cancelled   = "cancelled"
	ToBeDeleted = "to_be_deleted"
)

// The lengths of texts, in characters, and of lists.
const (
	MaxTitle = 500
	MaxText  = 10_000
)

// transitions are the statuses that may follow each; a status may always stay as it
// is, and those without an entry are final.
var transitions = map[string][]string{
	Todo:       {InProgress, Blocked, Cancelled, ToBeDeleted},
	InProgress: {Blocked, Done, Cancelled, ToBeDeleted},
	Blocked:    {InProgress, Cancelled, ToBeDeleted},
}

// CheckTransition returns INVALID_TRANSITION when a task may not go from one status
// to the other.
func CheckTransition(id int64, from, to string) error {
	if from == to || slices.Contains(transitions[from], to) {
		return nil
	}
	f := ErrTransition.New("Task %d is %s and cannot become %s.", id, spoken(from), spoken(to)).With("task_id", id).With("from", from).With("to", to)
	allowed := transitions[from]
	if len(allowed) == 0 {
		f = f.Suggest("A task that is %s stays so. Create another task for what is left.", spoken(from))
		allowed = []string{}
	} else {
		f = f.Suggest("From %s a task can become %s.", spoken(from), Spoken(allowed))
	}
	return f.With("allowed", allowed)
}

// spoken is a status as people read it.
func spoken(status string) string {
	if status == Todo {
		return "to do"
	}
	return strings.ReplaceAll(status, "_", " ")
}

// Spoken lists statuses, or other names, as people do.
func Spoken(statuses []string) string {
	words := make([]string, len(statuses))
	for i, status := range statuses {
		words[i] = spoken(status)
	}
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Tags brings tags into their one form: words in lower case, each once, separated by
// single spaces. Commas separate words too. Nil: none.
func Tags(text string) *string {
	words := Words(text)
	if len(words) == 0 {
		return nil
	}
	joined := strings.Join(words, " ")
	return &joined
}

// Words are the words of a text of tags.
func Words(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	var once []string
	for _, word := range words {
		if !slices.Contains(once, word) {
			once = append(once, word)
		}
	}
	return once
}
