package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/envelope"
	"countersign.dev/internal/tool"
)

// FakeDomain is a small domain in memory: a person's own notes. It has one tool of
// every kind, offset pages, and a dialect of its own, so that the kernel's seams
// are proven where the company's four domains do not reach.
type FakeDomain struct {
	mu       sync.Mutex
	notes    []Note
	receipts map[confirm.ID]confirm.Receipt
}

// Note is a note and its author.
type Note struct {
	ID       int             `json:"id"`
	Author   string          `json:"author"`
	Text     string          `json:"text"`
	Diary    string          `json:"diary" mask:"diary"`
	Relation access.Relation `json:"-"`
}

// Key is the sort key of lists.
func (n Note) Key() int { return n.ID }

// NewFakeDomain returns a domain with notes.
func NewFakeDomain(notes ...Note) *FakeDomain {
	return &FakeDomain{notes: notes, receipts: map[confirm.ID]confirm.Receipt{}}
}

// ErrNote is the fake domain's own fault code.
var ErrNote = &fault.Code{Name: "NOTE_NOT_FOUND", Kind: fault.NotFound, Status: 200, Meaning: "No note has this id.", Instruct: "Use list_notes to find valid ids."}

// Policy declares who reads a diary.
func (d *FakeDomain) Policy() access.Policy {
	return access.Policy{
		Roles:   []access.Role{"hr-read", "hr-write"},
		Classes: []access.Class{{Name: "diary", Roles: []access.Role{"hr-write", access.Executive}, Relations: []access.Relation{access.Below}}},
	}
}

// Tools declares the fake domain's tools.
func (d *FakeDomain) Tools() []tool.Tool {
	everyone := []access.Role{access.Employee}
	return []tool.Tool{
		tool.Read(tool.Spec{Name: "get_note", Title: "Get a note", Description: "Show one note.", Allow: everyone, Untrusted: []string{"text"}}, d.get),
		tool.List(tool.Spec{Name: "list_notes", Title: "List notes", Description: "List notes.", Allow: everyone, Noun: "notes", Narrow: "author"}, d.list),
		tool.Offsets(tool.Spec{Name: "page_notes", Title: "Page notes", Description: "List notes by offset.", Allow: everyone, Noun: "notes"}, d.page),
		tool.Edit(tool.Spec{Name: "add_note", Title: "Add a note", Description: "Add a note of your own.", Allow: everyone}, d.add),
		tool.Write(tool.Spec{Name: "burn_note", Title: "Burn a note", Description: "Burn a note for good.", Allow: []access.Role{access.Manager}},
			tool.Steps[noteID, burnPreview, burnPrecondition, burned]{Preview: d.previewBurn, Apply: d.burn}),
	}
}

type noteID struct {
	ID     int    `json:"id" jsonschema:"minimum=1" suggest:"Use list_notes to find valid ids."`
	Reason string `json:"reason,omitempty" jsonschema:"maxLength=500"`
}

// Notes returns a copy of all notes.
func (d *FakeDomain) Notes() []Note {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.notes)
}

// Rewrite changes a note's text without a tool call.
func (d *FakeDomain) Rewrite(id int, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.notes {
		if d.notes[i].ID == id {
			d.notes[i].Text = text
		}
	}
}

func (d *FakeDomain) get(ctx context.Context, in noteID) (Note, error) {
	who, err := access.From(ctx)
	if err != nil {
		return Note{}, err
	}
	for _, n := range d.Notes() {
		if n.ID == in.ID {
			return related(who, n), nil
		}
	}
	return Note{}, ErrNote.New("Note %d was not found.", in.ID)
}

func related(who *access.Principal, n Note) Note {
	if n.Author == who.Username() {
		n.Relation = access.Below
	}
	return n
}

type listNotes struct {
	Author string `json:"author,omitempty" jsonschema:"maxLength=50"`
}

func (d *FakeDomain) list(ctx context.Context, in listNotes, w tool.Window[int]) ([]Note, error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	var rows []Note
	for _, n := range d.Notes() {
		if (in.Author == "" || n.Author == in.Author) && (w.After == nil || n.ID > *w.After) && len(rows) < w.Limit {
			rows = append(rows, related(who, n))
		}
	}
	return rows, nil
}

func (d *FakeDomain) page(_ context.Context, _ struct{}, s tool.OffsetWindow) ([]Note, int, error) {
	all := d.Notes()
	from := min(s.Offset, len(all))
	return all[from:min(from+s.Limit, len(all))], len(all), nil
}

type addNote struct {
	Text string `json:"text" jsonschema:"minLength=1,maxLength=100"`
}

func (d *FakeDomain) add(ctx context.Context, in addNote) (Note, error) {
	who, err := access.From(ctx)
	if err != nil {
		return Note{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n := Note{ID: len(d.notes) + 1, Author: who.Username(), Text: in.Text}
	d.notes = append(d.notes, n)
	return n, nil
}

type burnPreview struct {
	NoteID   int             `json:"noteId"`
	Diary    string          `json:"diary" mask:"diary"`
	Relation access.Relation `json:"-"`
}

// Message is the card's sentence.
func (c burnPreview) Message() tool.Sentence {
	return tool.Say("Burn the note with the diary %s?", c.Diary)
}

type burnPrecondition struct{ Text string }

type burned struct {
	Burned  bool   `json:"burned"`
	Message string `json:"message"`
}

func (d *FakeDomain) previewBurn(ctx context.Context, in noteID) (burnPreview, burnPrecondition, error) {
	n, err := d.get(ctx, in)
	return burnPreview{NoteID: n.ID, Diary: n.Diary, Relation: n.Relation}, burnPrecondition{n.Text}, err
}

type burningKey struct{}

func (d *FakeDomain) burn(ctx context.Context, in noteID, _ burnPrecondition) (burned, error) {
	undo, ok := ctx.Value(burningKey{}).(*[]Note)
	if !ok {
		return burned{}, errors.New("a change outside of a transaction")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	*undo = slices.Clone(d.notes)
	d.notes = slices.DeleteFunc(d.notes, func(n Note) bool { return n.ID == in.ID })
	return burned{Burned: true, Message: "The note has been burned."}, nil
}

// Change runs fn; an error puts back what it changed.
func (d *FakeDomain) Change(ctx context.Context, fn func(context.Context) error) error {
	var before []Note
	err := fn(context.WithValue(ctx, burningKey{}, &before))
	if err != nil && before != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.notes = before
	}
	return err
}

// Keep stores a receipt once.
func (d *FakeDomain) Keep(_ context.Context, r confirm.Receipt) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, kept := d.receipts[r.ID]; kept {
		return errors.New("a receipt with this id is there")
	}
	d.receipts[r.ID] = r
	return nil
}

// Find returns the owner's receipt.
func (d *FakeDomain) Find(_ context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.receipts[id]
	return r.Answer, ok && r.Owner == owner, nil
}

// Plain is a dialect unlike the envelope: pages with counts, errors in a box.
type Plain struct{}

// Encode writes an outcome in the plain dialect.
func (Plain) Encode(o result.Outcome) json.RawMessage {
	var v any
	switch f, p := o.Fault(), o.Page(); {
	case o.Raw() != nil:
		return o.Raw()
	case f != nil:
		v = map[string]any{"error": map[string]any{"code": f.Code.Name, "message": f.Message}}
	case o.Pending() != nil || o.Denied() != nil:
		return result.EncodeEnvelope(o)
	case p != nil:
		v = map[string]any{"items": o.Data(), "total_count": p.Total, "returned_count": p.Returned, "limit": p.Limit, "offset": p.Offset}
	default:
		return o.Data()
	}
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own data
	}
	return b
}

// Decode reads an error or data. Lists are never decoded.
func (Plain) Decode(raw json.RawMessage) (result.Outcome, error) {
	var failed struct {
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(raw, &failed); err != nil {
		return result.Outcome{}, err
	}
	if e := failed.Error; e != nil {
		return result.Failed(&fault.Error{Code: &fault.Code{Name: e.Code}, Message: e.Message}).WithRaw(raw), nil
	}
	return result.Success(raw, nil, "").WithRaw(raw), nil
}

// Schema describes the plain dialect.
func (Plain) Schema(d envelope.Described) map[string]any {
	return map[string]any{"type": "object", "properties": map[string]any{"items": d.Data}}
}
