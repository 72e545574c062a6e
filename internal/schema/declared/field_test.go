package declared_test

import (
	"testing"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

func TestFieldsAreReadAsQuestionsSayThem(t *testing.T) {
	f := declared.New(schema.Property{Name: "root_employee_id", Type: "string", Format: "uuid"}, result.Field{Synonyms: []string{"boss|team"}})
	if !f.Is(schema.ID) || f.IsText() || f.Noun != "employee" || !f.Has("employees") || f.Has("boss") || !f.Says("boss") || f.Quantity() {
		t.Errorf("got %+v", f)
	}
	if (*declared.Field)(nil).Is(schema.ID) {
		t.Error("no field is of no kind")
	}
	all := declared.Fields{f}
	if all.Named("root_employee_id") != f || all.Named("x") != nil {
		t.Error("fields are found by their names only")
	}
}

func TestInputMeansADayOfASpan(t *testing.T) {
	march := calendar.Span{From: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Months: 1}
	for name, want := range map[string]string{"due_from": "2026-03-01", "due_to": "2026-03-31", "due_before": "2026-04-01", "day": "2026-03-01"} {
		if got := declared.New(schema.Property{Name: name, Type: "string", Format: "date"}, result.Field{}).Day(march); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}
