package schema

import "testing"

func TestKindsOfProperties(t *testing.T) {
	for _, c := range []struct {
		p    Property
		isID bool
		want Kind
	}{
		{Property{Name: "pageSize", Type: "integer"}, false, Paging},
		{Property{Name: "mode", Type: "string", Enum: []string{"summary", "details"}}, false, Paging},
		{Property{Name: "sort", Type: "string", Enum: []string{"newest"}}, false, Order},
		{Property{Name: "status", Type: "string", Enum: []string{"open"}}, false, Choice},
		{Property{Name: "employee", Type: "string", Format: "uuid"}, false, ID},
		{Property{Name: "ticket_id", Type: "string"}, true, ID},
		{Property{Name: "due", Type: "string", Format: "date"}, false, Date},
		{Property{Name: "amount", Type: "number"}, false, Number},
		{Property{Name: "tags", Type: "array"}, true, ""},
		{Property{Name: "address", Type: "string", Format: "email"}, false, ""},
		{Property{Name: "search_term", Type: "string"}, false, Search},
		{Property{Name: "bookTitle", Type: "string"}, false, Title},
		{Property{Name: "reason", Type: "string", MaxLength: 500}, false, Prose},
		{Property{Name: "city", Type: "string", MaxLength: 100}, false, Text},
	} {
		if got := c.p.Kind(c.isID); got != c.want {
			t.Errorf("%+v is %q, want %q", c.p, got, c.want)
		}
	}
}

func TestIDsAsAPropertyTakesThem(t *testing.T) {
	number, uuid, text := Property{Type: "integer"}, Property{Type: "string", Format: "uuid"}, Property{Type: "string"}
	id := "f104eddc-21ab-457c-a254-78051ad7ad67"
	for _, c := range []struct {
		of   Property
		text string
		want any
	}{{number, "12", 12}, {number, "TICK-12", nil}, {uuid, id, id}, {uuid, "12", nil}, {text, "TICK-12", "TICK-12"}} {
		if got := c.of.Identify(c.text); got != c.want {
			t.Errorf("%v takes %q as %v, want %v", c.of, c.text, got, c.want)
		}
	}
}
