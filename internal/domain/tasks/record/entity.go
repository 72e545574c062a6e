package record

import "time"

// Entity is something that tasks are about: a file, or anything else with a name.
// Lists of the mode summary leave EntityDetails out.
type Entity struct {
	ID         int64     `json:"id" field:"label=Entity"`
	Type       string    `json:"entity_type" jsonschema:"enum=file,enum=other" field:"label=Type"`
	Name       string    `json:"name"`
	Identifier *string   `json:"identifier" jsonschema:"oneof_type=string;null" jsonschema_description:"Its path, URL or number." field:"aka=path|url"`
	Tags       *string   `json:"tags" jsonschema:"oneof_type=string;null" jsonschema_description:"Words in lower case, separated by spaces."`
	CreatedAt  time.Time `json:"created_at" field:"show=detail"`

	LinkCreatedAt *time.Time `json:"link_created_at,omitempty" field:"show=detail"`
	LinkCreatedBy string     `json:"link_created_by,omitempty" field:"show=detail"`

	*EntityDetails
}

// EntityDetails are the fields of an entity that only the mode details shows.
type EntityDetails struct {
	Description    *string        `json:"description" jsonschema:"oneof_type=string;null"`
	Metadata       map[string]any `json:"metadata" jsonschema:"oneof_type=object;null" jsonschema_description:"What its maker keeps with it."`
	CreatedBy      string         `json:"created_by"`
	CreatedByLabel *string        `json:"created_by_label,omitempty"`
	UpdatedAt      time.Time      `json:"updated_at" field:"show=detail"`
	UpdatedBy      *string        `json:"updated_by" jsonschema:"oneof_type=string;null" field:"show=detail"`
	DeletedAt      *time.Time     `json:"deleted_at" jsonschema:"oneof_type=string;null" field:"show=detail"`
}

// Link is an entity's place at a task.
type Link struct {
	ID        int64     `json:"link_id"`
	TaskID    int64     `json:"task_id"`
	EntityID  int64     `json:"entity_id"`
	CreatedBy string    `json:"created_by"`
	CreatedAt time.Time `json:"created_at"`
}

// Statuses, Priorities and EntityTypes are the values of the fields of these names.
func Statuses() []string { return []string{Todo, InProgress, Blocked, Done, Cancelled, ToBeDeleted} }

// Priorities lists the priorities, the least first.
func Priorities() []string { return []string{"low", "medium", "high"} }

// EntityTypes lists the types of entities.
func EntityTypes() []string { return []string{"file", "other"} }
