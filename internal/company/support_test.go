package company

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func supportRows(s Support) ([]Ticket, []Article) {
	return slices.Collect(s.Tickets), slices.Collect(s.Articles)
}

func TestTicketsArePinned(t *testing.T) {
	tickets, _ := supportRows(At(day).Support())
	statuses, priorities := map[string]int{}, map[string]int{}
	var login []string
	for i, row := range tickets {
		statuses[row.Status]++
		priorities[row.Priority]++
		if strings.Contains(strings.ToLower(row.Subject+row.Description+strings.Join(row.Tags, " ")), "login") {
			login = append(login, row.ID+" "+row.Status+" "+row.Priority)
		}
		done := row.Status == "resolved" || row.Status == "closed"
		if done == row.Resolved.IsZero() || done != (row.Resolution != "") || !strings.HasSuffix(row.CustomerEmail, ".example") || len(row.CustomerID) != 24 {
			t.Errorf("%s: %+v", row.ID, row)
		}
		if row.Created.After(row.Updated) || row.Updated.After(dayOf(day)) {
			t.Errorf("%s was updated %s, the day is %s", row.ID, row.Updated, day)
		}
		if i > 0 && row.ID <= tickets[i-1].ID {
			t.Errorf("%s comes after %s", row.ID, tickets[i-1].ID)
		}
	}
	if diff := cmp.Diff(map[string]int{"open": 4, "in_progress": 3, "pending": 2, "resolved": 3, "closed": 2}, statuses); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"critical": 2, "high": 4, "medium": 6, "low": 2}, priorities); diff != "" {
		t.Errorf("priorities (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"TICK-001 open critical", "TICK-004 open high", "TICK-007 resolved medium"}, login); diff != "" {
		t.Errorf("tickets that mention a login (-want +got):\n%s", diff)
	}
}

func TestArticlesArePinned(t *testing.T) {
	_, articles := supportRows(At(day).Support())
	categories, statuses := map[string]bool{}, map[string]int{}
	var reset []string
	for _, a := range articles {
		categories[a.Category] = true
		statuses[a.Status]++
		if strings.Contains(a.Summary, "reset my password") {
			reset = append(reset, a.ID+" "+a.Status)
		}
		if len(a.Content) < 150 || a.Created.After(a.Updated) || a.Updated.After(dayOf(day)) {
			t.Errorf("%s: %+v", a.ID, a)
		}
	}
	want := []string{"ai-usage", "data-management", "finance", "getting-started", "sales", "security", "support", "troubleshooting"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(categories))); diff != "" || len(articles) != 12 {
		t.Errorf("%d articles, categories (-want +got):\n%s", len(articles), diff)
	}
	if !slices.Equal(reset, []string{"KB-001 published"}) || statuses["draft"] != 1 || statuses["archived"] != 1 {
		t.Errorf("password: %v, statuses: %v", reset, statuses)
	}
}

func TestPeopleInSupportAreEmployees(t *testing.T) {
	c := At(day)
	tickets, articles := supportRows(c.Support())
	for _, row := range tickets {
		if _, found := c.ByEmail(row.AssignedTo); !found && row.AssignedTo != "" {
			t.Errorf("%s is assigned to %s", row.ID, row.AssignedTo)
		}
	}
	for _, a := range articles {
		if _, found := c.ByEmail(a.Author); !found {
			t.Errorf("%s was written by %s", a.ID, a.Author)
		}
	}
}

func TestScaledSupportIsTheSameEveryTime(t *testing.T) {
	first, articles := supportRows(ScaledSupport(2000, day))
	second, again := supportRows(ScaledSupport(2000, day.Add(time.Hour)))
	if diff := cmp.Diff(first, second) + cmp.Diff(articles, again); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	customers := map[string]bool{}
	for c := range ScaledSales(2000, day).Customers {
		customers[c.ID] = true
	}
	seen, login := map[string]bool{}, 0
	for _, row := range first {
		if seen[row.ID] || !customers[row.CustomerID] {
			t.Fatalf("ticket %s repeats, or has no customer", row.ID)
		}
		seen[row.ID] = true
		if strings.Contains(row.Description, "Login") {
			login++
		}
	}
	if login < 20 || login > 70 || len(articles) != 3 {
		t.Errorf("%d mention a login, %d articles", login, len(articles))
	}
}
