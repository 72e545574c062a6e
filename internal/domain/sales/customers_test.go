package sales_test

import (
	"math/rand/v2"
	"slices"
	"strings"

	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit/conformance"
)

func drawCustomer(r *rand.Rand, c company.Customer) args {
	part := []rune(c.Company)
	in := args{"name": conformance.Pick(r, c.Company, strings.ToUpper(c.Company), string(part[1:len(part)/2]), backwards(c.Company), ".*", "Ä")}
	for field, value := range map[string]any{"tier": c.Tier, "owner": c.Owner} {
		in[field] = value
	}
	for _, field := range []string{"name", "tier", "owner"} {
		if r.IntN(3) > 0 {
			delete(in, field)
		}
	}
	return in
}

// backwards has the words of a name in the opposite order.
func backwards(name string) string {
	words := strings.Fields(name)
	slices.Reverse(words)
	return strings.Join(words, " ")
}

func fitsCustomer(c company.Customer, in args) bool {
	name, _ := in["name"].(string)
	for _, word := range strings.Fields(strings.ToLower(name)) {
		if !strings.Contains(strings.ToLower(c.Company), word) {
			return false
		}
	}
	return (in["tier"] == nil || in["tier"] == c.Tier) && (in["owner"] == nil || in["owner"] == c.Owner)
}

// open counts a customer's open deals that a caller sees.
func (o *oracle) open(a conformance.Asker, c company.Customer) (n int) {
	for _, d := range o.deals {
		if d.CustomerID == c.ID && !isClosed(d.Stage) && seesDeal(a, d) {
			n++
		}
	}
	return n
}

func (o *oracle) showsCustomer(a conformance.Asker, c company.Customer, _ args) map[string]any {
	_, domain, _ := strings.Cut(c.Email, "@")
	shown := map[string]any{
		"name": c.Contact, "company": c.Company, "industry": c.Industry, "account_owner": c.Owner, "tier": c.Tier, "annual_revenue": c.Revenue,
		"open_deals": o.open(a, c), "email": c.Email[:1] + "***@" + domain, "phone": "***-" + c.Phone[len(c.Phone)-4:],
		"address": map[string]any{"street": c.Street, "city": c.City, "state": c.State, "zip": c.Zip, "country": c.Country},
	}
	if a.Has("sales-write", "executive") || a.Is(c.Owner) {
		shown["email"], shown["phone"] = c.Email, c.Phone
	}
	return shown
}

func (o *oracle) listsCustomer(a conformance.Asker, c company.Customer, _ args) map[string]any {
	return map[string]any{
		"customer_name": c.Company, "contact": c.Contact, "industry": c.Industry, "city": c.City, "state": c.State, "country": c.Country, "tier": c.Tier, "annual_revenue": c.Revenue,
		"account_owner": c.Owner, "open_deals": o.open(a, c),
	}
}
