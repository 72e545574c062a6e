package tasks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/tool"
)

// entityTexts are the untrusted fields of an entity.
var entityTexts = []string{"name", "identifier", "tags", "description", "metadata", "created_by_label"}

func entityTools(s *Server) []tool.Tool {
	return []tool.Tool{
		edit(s, tool.Spec{
			Name: "create_entity", Title: "Create an entity", Allow: everyone, Untrusted: entityTexts, Synonyms: []string{"add", "new", "register"},
			Description: "Create an entity: a file, or another thing that tasks are about. The identifier, such as a path, is unique among the entities of its type.",
		}, createEntity),
		read(s, tool.Spec{
			Name: "get_entity", Title: "Get an entity", Allow: everyone, Untrusted: entityTexts,
			Description: "Show one entity with all its details. Needs its entity_id.",
		}, func(ctx context.Context, sc scope, in entityInput) (record.Entity, error) {
			return sc.Entity(ctx, in.EntityID)
		}),
		edit(s, tool.Spec{
			Name: "update_entity", Title: "Update an entity", Allow: everyone, Replaces: true, Untrusted: entityTexts, Synonyms: []string{"change", "rename"},
			Description: "Change fields of an entity and return it. What is left out stays, and null clears a field (not the name). Its type cannot be changed.",
		}, updateEntity),
		edit(s, tool.Spec{
			Name: "delete_entity", Title: "Delete an entity", Allow: everyone, Replaces: true, Synonyms: []string{"remove"},
			Description: "Delete an entity and its links to tasks. undelete_entity takes both back.",
		}, deleteEntity),
		edit(s, tool.Spec{
			Name: "undelete_entity", Title: "Undelete an entity", Allow: everyone, Synonyms: []string{"restore", "recover"},
			Description: "Take the deletion of an entity back, with the links that were deleted together with it.",
		}, undeleteEntity),
		list(s, tool.Spec{
			Name: "list_entities", Title: "List entities", Allow: everyone, Noun: "entities", Narrow: "type or tags", Untrusted: entityTexts,
			Description: "List the entities of a workspace by type or tags.",
		}, func(ctx context.Context, sc scope, in listEntitiesInput, p store.Page) ([]record.Entity, int, error) {
			return sc.Entities(ctx, in.Type, record.Words(in.Tags), p)
		}),
		list(s, tool.Spec{
			Name: "search_entities", Title: "Search entities", Allow: everyone, Noun: "entities", Narrow: "more words or a type", Untrusted: entityTexts,
			Description: "Find the entities that have every word in their name or identifier; parts of words count. When none has every word, those with any of them. The best match is first.",
		}, func(ctx context.Context, sc scope, in searchEntitiesInput, p store.Page) ([]record.Entity, int, error) {
			found, total, some, err := sc.SearchEntities(ctx, in.Term, in.Type, p)
			if some {
				tool.SomeWords(ctx)
			}
			return found, total, err
		}),
	}
}

type entityInput struct {
	Where
	EntityID int64 `json:"entity_id" jsonschema:"minimum=1" jsonschema_description:"Number of the entity" field:"from=list_entities:id"`
}

type createEntityInput struct {
	Where
	Type        string   `json:"entity_type" jsonschema:"enum=file,enum=other"`
	Name        string   `json:"name" jsonschema:"minLength=1,maxLength=500"`
	Identifier  *string  `json:"identifier,omitempty" jsonschema:"oneof_type=string;null,maxLength=1000" jsonschema_description:"Path, URL or number of it"`
	Description *string  `json:"description,omitempty" jsonschema:"oneof_type=string;null,maxLength=10000" text:"lines"`
	Metadata    Metadata `json:"metadata,omitempty" jsonschema:"oneof_type=object;string;null" jsonschema_description:"Any JSON object to keep with it" text:"lines"`
	Tags        *string  `json:"tags,omitempty" jsonschema:"oneof_type=string;null,maxLength=500" jsonschema_description:"Words, separated by spaces"`
	CreatedBy   *string  `json:"created_by,omitempty" jsonschema:"oneof_type=string;null,maxLength=100" jsonschema_description:"What you call yourself; the person is known"`
}

func createEntity(ctx context.Context, sc scope, in createEntityInput) (record.Entity, error) {
	metadata, err := metadataOf(in.Metadata)
	if err != nil {
		return record.Entity{}, err
	}
	return sc.CreateEntity(ctx, store.NewEntity{
		Type: in.Type, Name: in.Name, Identifier: in.Identifier, Description: in.Description, Metadata: metadata, Tags: tagsOf(in.Tags),
		CreatedBy: sc.by, CreatedByLabel: in.CreatedBy,
	})
}

// maxMetadata bounds the JSON of an entity, in bytes.
const maxMetadata = 10_000

// Metadata is an object of any JSON. A text that holds one counts as that object:
// clients of the founding document send it so.
type Metadata map[string]any

// UnmarshalJSON reads an object, or a text with one, which is checked as an object is.
func (m *Metadata) UnmarshalJSON(raw []byte) error {
	var inner *string
	if json.Unmarshal(raw, &inner) == nil {
		if inner == nil {
			return nil
		}
		raw = []byte(*inner)
	}
	object, err := strictjson.Object(raw)
	if err == nil {
		err = cmp.Or(plaintext.CheckValue("metadata", object, true), exact(object))
	}
	if err != nil {
		return fault.ValidationError.New("The metadata are no JSON object that can be kept as it is.").Instruct("metadata: %v", err).Fields("metadata")
	}
	*m = object
	return nil
}

// exact returns an error for a number that is another one in many programs, this one included: ids of other
// systems are texts.
func exact(value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if err := exact(inner); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := exact(inner); err != nil {
				return err
			}
		}
	case json.Number:
		if n, err := v.Float64(); err != nil || math.Abs(n) >= 1<<53 {
			return errors.New("has a number of 2^53 or more, which does not stay exact: give it as a text")
		}
	}
	return nil
}

// metadataOf is the JSON to store.
func metadataOf(m Metadata) (*string, error) {
	if m == nil {
		return nil, nil
	}
	encoded, err := json.Marshal(map[string]any(m))
	if err != nil {
		return nil, err
	}
	if len(encoded) > maxMetadata {
		return nil, fault.ValidationError.New("The metadata are too large.").Instruct("metadata: must have at most %d bytes", maxMetadata)
	}
	text := string(encoded)
	return &text, nil
}

type updateEntityInput struct {
	entityInput
	Name        *string  `json:"name,omitempty" jsonschema:"minLength=1,maxLength=500"`
	Identifier  *string  `json:"identifier,omitempty" jsonschema:"oneof_type=string;null,maxLength=1000"`
	Description *string  `json:"description,omitempty" jsonschema:"oneof_type=string;null,maxLength=10000" text:"lines"`
	Metadata    Metadata `json:"metadata,omitempty" jsonschema:"oneof_type=object;string;null" text:"lines"`
	Tags        *string  `json:"tags,omitempty" jsonschema:"oneof_type=string;null,maxLength=500"`

	given given
}

// UnmarshalJSON reads the fields and which of them were given.
func (in *updateEntityInput) UnmarshalJSON(raw []byte) error {
	type plain updateEntityInput
	if err := json.Unmarshal(raw, (*plain)(in)); err != nil {
		return err
	}
	return json.Unmarshal(raw, &in.given)
}

func updateEntity(ctx context.Context, sc scope, in updateEntityInput) (record.Entity, error) {
	metadata, err := metadataOf(in.Metadata)
	if err != nil {
		return record.Entity{}, err
	}
	if err := in.given.changes("entity_id"); err != nil {
		return record.Entity{}, err
	}
	return sc.UpdateEntity(ctx, in.EntityID, store.EntityUpdate{
		Name: in.Name, Identifier: field(in.given, "identifier", in.Identifier), Description: field(in.given, "description", in.Description),
		Metadata: field(in.given, "metadata", metadata), Tags: field(in.given, "tags", tagsOf(in.Tags)), By: sc.by,
	})
}

// DeletedEntity is what delete_entity did.
type DeletedEntity struct {
	Success  bool  `json:"success"`
	EntityID int64 `json:"entity_id"`
	Links    int64 `json:"deleted_links"`
}

func deleteEntity(ctx context.Context, sc scope, in entityInput) (DeletedEntity, error) {
	links, err := sc.DeleteEntity(ctx, in.EntityID)
	return DeletedEntity{true, in.EntityID, links}, err
}

// UndeletedEntity is what undelete_entity did.
type UndeletedEntity struct {
	Success  bool  `json:"success"`
	EntityID int64 `json:"entity_id"`
	Links    int64 `json:"restored_links"`
}

func undeleteEntity(ctx context.Context, sc scope, in entityInput) (UndeletedEntity, error) {
	links, err := sc.UndeleteEntity(ctx, in.EntityID)
	return UndeletedEntity{true, in.EntityID, links}, err
}

type listEntitiesInput struct {
	Where
	Shown
	Type string `json:"entity_type,omitempty" jsonschema:"enum=file,enum=other" jsonschema_description:"Filter by type"`
	Tags string `json:"tags,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Words; entities that have any of them as a tag"`
}

type searchEntitiesInput struct {
	Where
	Shown
	Term string `json:"search_term" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Words to search for"`
	Type string `json:"entity_type,omitempty" jsonschema:"enum=file,enum=other" jsonschema_description:"Filter by type"`
}
