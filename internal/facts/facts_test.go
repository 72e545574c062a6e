package facts_test

import (
	"encoding/json"
	"slices"
	"testing"

	"countersign.dev/internal/facts"
	"countersign.dev/internal/result"
)

// rowsOf parses a list of objects.
func rowsOf(t *testing.T, list string) []result.Row {
	t.Helper()
	data, err := result.ParseData([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	return result.Rows(data)
}

// texts are the texts of a field of some rows, one after the other.
func texts(rows []result.Row, key string) (all string) {
	for _, row := range rows {
		all += row.Text(key)
	}
	return all
}

func TestRowsHaveNamesAndTitles(t *testing.T) {
	t.Parallel()
	for data, want := range map[string][2]string{
		`{"employee_id":"9f8b6c1e-7a42-4c55-9d6f-0e2b7d7a3c11","first_name":"Ada","last_name":"Lovelace"}`: {"Ada Lovelace", "Ada Lovelace"},
		`{"ticket_id":"TICK-004","customer_name":"Acme","subject":"Login refused"}`:                        {"Login refused", "TICK-004 Login refused"},
		`{"order_id":"A-1","order_number":"77","customer_name":"Acme"}`:                                    {"77", "A-1 77"},
		`{"id":7,"title":"Budget","fiscal_year":2026}`:                                                     {"Budget", "Budget 2026"},
		`{"id":"x","contact":"ada@example.com","city":"Turin"}`:                                            {"Turin", "x Turin"},
		`{"repository":"gateway","file_path":"seal/seal.go","start_line":41,"end_line":43}`:                {"seal/seal.go", "seal/seal.go:41"},
		`{"note":"***"}`: {"", ""},
		`{}`:             {"", ""},
	} {
		row := rowsOf(t, "["+data+"]")[0]
		if got := [2]string{facts.Name(row), facts.Title(row)}; got != want {
			t.Errorf("%s: %q, not %q", data, got, want)
		}
	}
}

func TestDescriptionIsOfShortTexts(t *testing.T) {
	t.Parallel()
	row := rowsOf(t, `[{"name":"Ada","email":"ada@example.com","department":"Sales","salary":"***","hired":"2019-06-10","title":"VP of Sales","city":"Turin"}]`)[0]
	if got, want := facts.Description(row), " (Sales, VP of Sales)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRowsAreSortedByNumbersTextsOrDegrees(t *testing.T) {
	t.Parallel()
	const list = `[{"n":1,"t":"a"},{"n":30,"t":"c"},{"n":30,"t":"b"},{"n":-2,"t":"d"},{"t":"e"}]`
	for _, c := range []struct {
		key     string
		degrees []string
		want    string
	}{
		{"n", nil, "cbaed"},
		{"t", nil, "edcba"},
		{"t", []string{"b", "d"}, "dbeca"},
	} {
		rows := rowsOf(t, list)
		facts.SortDescending(rows, c.key, c.degrees)
		if got := texts(rows, "t"); got != c.want {
			t.Errorf("by %s with degrees %v: %s, want %s", c.key, c.degrees, got, c.want)
		}
	}
}

func TestFieldsOfLikeNamesAreRaised(t *testing.T) {
	t.Parallel()
	row := rowsOf(t, `[{"name":"Ada","base_salary":100,"n":30}]`)[0]
	for _, c := range []struct {
		input   string
		step    float64
		percent bool
		want    any
	}{
		{"new_salary", 2, false, 102.0}, {"new_salary", 10, true, 110.0}, {"new_x", 1, false, nil}, {"new_name", 1, false, nil},
	} {
		if got := facts.Raised(row, c.input, c.step, c.percent); got != c.want {
			t.Errorf("%s by %v: %v, want %v", c.input, c.step, got, c.want)
		}
	}
}

func TestFieldsHaveValuesOrSigns(t *testing.T) {
	t.Parallel()
	rows := rowsOf(t, `[{"n":1,"t":"a"},{"n":30,"t":"b"},{"n":-2,"t":"c"},{"n":0,"t":"d"},{"t":"e"}]`)
	for value, want := range map[string]string{"positive": "ab", "negative": "c", "zero": "d", "none": "e"} {
		having := slices.DeleteFunc(slices.Clone(rows), func(row result.Row) bool { return !facts.Has(row, "n", []any{value}) })
		if got := texts(having, "t"); got != want {
			t.Errorf("%s are %s, want %s", value, got, want)
		}
	}
	if !facts.Has(rows[4], "t", []any{"x", "e"}) || facts.Has(rows[0], "t", []any{"x"}) {
		t.Error("a text is compared whole")
	}
}

func TestRowsAreAddedUpByValue(t *testing.T) {
	t.Parallel()
	rows := rowsOf(t, `[{"dept":"Sales","pay":10},{"dept":"HR","pay":1.25},{"dept":"Sales","pay":5},{"pay":7}]`)
	if all := facts.Averages(rows, []string{"pay", "dept"}, 2); all.Values["pay"] != json.Number("11.63") || all.Values["dept"] != json.Number("0") {
		t.Errorf("averages: %v", all.Values)
	}
	plain := func(string) result.Field { return result.Field{} }
	for kind, want := range map[string][]any{
		"sum":     {"HR", json.Number("1.25"), json.Number("1"), "Sales", json.Number("15"), json.Number("2")},
		"average": {"HR", json.Number("1.25"), json.Number("1"), "Sales", json.Number("7.5"), json.Number("2")},
		"count":   {"none", json.Number("7"), json.Number("1"), "HR", json.Number("1.25"), json.Number("1"), "Sales", json.Number("15"), json.Number("2")},
	} {
		var got []any
		for _, row := range facts.Totals(rows, "dept", "pay", "people", plain, kind) {
			got = append(got, row.Values["name"], row.Values["pay"], row.Values["people"])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
	}
}

func TestFirstRowsOfEachValue(t *testing.T) {
	t.Parallel()
	rows := rowsOf(t, `[{"dept":"Sales","t":"a","pay":9},{"dept":"HR","t":"b","pay":7},{"dept":"Sales","t":"c","pay":5},{"dept":"HR","t":"d","pay":7}]`)
	if got := texts(facts.First(rows, "dept", "pay"), "t"); got != "abd" {
		t.Errorf("got %s", got)
	}
}

func TestRowsWithMoreOfTheWordsComeFirst(t *testing.T) {
	t.Parallel()
	rows := rowsOf(t, `[{"name":"Retail systems"},{"name":"Health"},{"name":"Loyalty of retailers","city":"Retail Park"}]`)
	if got, want := texts(facts.WithWords(rows, []string{"retail", "loyalty"}), "name"), "Loyalty of retailersRetail systems"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSentenceLeavesOutWhatIsEmpty(t *testing.T) {
	t.Parallel()
	row := rowsOf(t, `[{"employee_id":"e1","name":"Ada","salary":45000,"bonus":null,"reports":[],"updated_at":"2026-01-02T03:04:05Z"}]`)[0]
	of := func(name string) result.Field {
		return map[string]result.Field{"salary": {Unit: "USD"}}[name]
	}
	names := facts.Readable(of, row, "Ada")
	if want := []string{"salary", "bonus"}; !slices.Equal(names, want) {
		t.Errorf("readable are %v, want %v", names, want)
	}
	if got, want := facts.Sentence(of, row, names), "salary $45,000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
