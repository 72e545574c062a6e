package llm

import (
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/fault"
)

func TestModelsAreChosenByName(t *testing.T) {
	r, err := New(map[string]Options{
		"quick": {Provider: Rehearsal, Timeout: time.Second, Budget: 100}, "careful": {Provider: Rehearsal},
	}, Policy{Default: "quick"})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := r.Choose("careful"); err != nil || c.Name() != "careful" || c.Default || c.Provider != Rehearsal || c.Budget != rehearsalBudget {
		t.Errorf("careful: got %+v, %v", c, err)
	}
	if c, err := r.Choose(""); err != nil || c.Name() != "quick" || !c.Default || c.Timeout != time.Second || c.Budget != 100 {
		t.Errorf("the default: got %+v, %v", c, err)
	}
	_, err = r.Choose("oracle")
	if f := fault.From(err); f == nil || f.Code != fault.BadRequest || !strings.Contains(f.SuggestedAction, "careful, quick") {
		t.Errorf("an unknown name: got %v", err)
	}
	if list := r.List(); len(list) != 2 || list[0].Name() != "careful" {
		t.Errorf("list: got %+v, want both, sorted", list)
	}
}

func TestWrongConfigurationIsRejected(t *testing.T) {
	for name, models := range map[string]map[string]Options{
		"provider": {"m": {Provider: "oracle"}}, "no provider": {"m": {}}, "default": {"other": {Provider: Rehearsal}},
	} {
		if r, err := New(models, Policy{Default: "m"}); err == nil {
			t.Errorf("unknown %s: got %+v", name, r)
		}
	}
}
