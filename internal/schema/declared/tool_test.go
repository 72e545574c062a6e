package declared_test

import (
	"encoding/json"
	"testing"
	"time"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/declared"
)

var members = result.ToolInfo{
	Name: "club.list_members", Title: "List members", Kind: result.List,
	Description: "Show the members of a club (rowers, mostly). Needs no input.",
	InputSchema: json.RawMessage(`{"type":"object","properties":{"coach_id":{"type":"string"},"sponsor_id":{"type":"string"},"town":{"type":"string"},"tier":{"type":"string","enum":["gold","silver"]},"limit":{"type":"integer"}}}`),
	OutputSchema: json.RawMessage(`{"type":"object","properties":{"data":{"type":"array","items":{"type":"object","properties":{
		"name":{"type":"string"},"joined_on":{"type":"string","format":"date"},"next_visit_date":{"type":"string","format":"date"},"fee":{"type":"number"}}}}}}`),
	Fields: &result.Fields{
		Noun: "rowers", Synonyms: []string{"athletes"},
		Input:  map[string]result.Field{"coach_id": {Synonyms: []string{"crew"}}, "sponsor_id": {Synonyms: []string{"patron"}}},
		Output: map[string]result.Field{"fee": {Amount: true}},
	},
}

func TestADeclarationIsReadInTheWordsOfQuestions(t *testing.T) {
	m := declared.NewTool(lexicon.English(), members, false)
	if m.Verb != "list" || m.Noun != "members" || m.Head != english.Stem("members") || m.Rows != "rowers" || !m.Lists() || m.Writes() {
		t.Errorf("reads verb %q, noun %q, head %q, rows %q, lists %t, writes %t", m.Verb, m.Noun, m.Head, m.Rows, m.Lists(), m.Writes())
	}
	for word, want := range map[string]declared.Part{"members": declared.InNoun, "athletes": declared.InSynonym, "clubs": declared.InAbout, "fee": declared.InColumns, "needs": declared.InMore, "submarines": declared.Nowhere, "rowers": declared.Nowhere} {
		if got := m.Said(english.Stem(word)); got != want {
			t.Errorf("%q is said in part %d, want %d", word, got, want)
		}
	}
	if m.Amount() != "fee" || m.DateColumn() != "joined_on" {
		t.Errorf("amounts are %q and days %q", m.Amount(), m.DateColumn())
	}
	if of := m.Relation(english.Stem("patrons")); of == nil || of.Name != "sponsor_id" {
		t.Errorf("a patron is %v", of)
	}
	if of := m.Relation(english.Stem("town")); of != nil {
		t.Errorf("a town is %v", of)
	}
	if m.Takes("gold", "town") || !m.Takes("gold", "silver") || m.LacksOne(nil) {
		t.Error("gold and silver are values of one input, and a list is of many")
	}
	one := declared.NewTool(lexicon.English(), result.ToolInfo{Name: "get_member", Kind: result.Read, InputSchema: members.InputSchema,
		Fields: &result.Fields{Input: map[string]result.Field{"coach_id": {From: "list_coaches:id"}}}}, false)
	if !one.LacksOne(map[string]any{"town": "Rome"}) || one.LacksOne(map[string]any{"coach_id": "7"}) {
		t.Error("a member is found by what a list of coaches has")
	}
	if in := m.Missing(nil); in != nil {
		t.Errorf("needs %s", in.Name)
	}
}

func TestOnlyAPlainOrderOrdersAChange(t *testing.T) {
	x := lexicon.English()
	remove := declared.NewTool(x, result.ToolInfo{Name: "delete_member", Description: "Delete a member.", Kind: result.Write}, false)
	for text, want := range map[string]bool{"delete Ada": true, "please remove Ada": true, "should we delete Ada": false, "do not delete Ada": false, "delete Ada?": false, "show Ada": false} {
		if got := remove.IsOrdered(x, x.Clause(language.Read(text, time.Time{}), "")); got != want {
			t.Errorf("%q orders it: %t", text, got)
		}
	}
}
