package company

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"countersign.dev/internal/calendar"
)

// Sales is the data of the sales department. Customers and deals are sequences,
// so that a company of a million deals needs no more memory than this one.
type Sales struct {
	Customers iter.Seq[Customer] // every customer comes before its deals are filled in
	Deals     iter.Seq[Deal]
	Quotas    []Quota
}

// Customer is a company that buys, or may buy, with its main contact.
type Customer struct {
	ID         string // 24 hex digits
	Company    string
	Industry   string
	Contact    string // the main contact's name
	Email      string // the contact's, in a domain reserved for examples
	Phone      string
	Street     string
	City       string
	State      string
	Zip        string
	Country    string
	Tier       string   // enterprise, business, startup or free
	Revenue    int64    // US dollars a year
	Owner      string   // e-mail of the account's owner
	OwnerChain []string // e-mails of everyone above the owner, nearest first
	Created    time.Time
}

// Deal is a sale that is expected, won or lost.
type Deal struct {
	ID            string // 24 hex digits
	CustomerID    string
	Name          string
	Value         int64 // US dollars
	Stage         string
	Probability   int // per cent
	ExpectedClose time.Time
	ActualClose   time.Time // zero while open
	Owner         string    // e-mail
	OwnerChain    []string  // e-mails of everyone above the owner, nearest first
	Notes         string
	LossReason    string // empty unless lost
	Created       time.Time
	Updated       time.Time
}

// Quota is one person's sales target in a quarter.
type Quota struct {
	Quarter    string // 2026-Q1
	Owner      string
	OwnerChain []string
	Amount     int64 // US dollars
}

// Sales returns the six customers, the eighteen deals and the quotas of the quarters
// around the company's day. Every open deal is expected to close between that day and the
// end of its month, two in the next one; every closed one was expected before that month. A company
// that [Grown] made has as many as it was grown to.
func (c *Company) Sales() Sales {
	if c.Scale > 0 {
		return ScaledSales(c.Scale, c.Day)
	}
	return Sales{
		Customers: slices.Values(c.customers()),
		Deals:     slices.Values(c.deals()),
		Quotas:    c.quotas(),
	}
}

const (
	acme        = "65a1c0000000000000000001"
	techStart   = "65a1c0000000000000000002"
	gfp         = "65a1c0000000000000000003"
	healthCare  = "65a1c0000000000000000004"
	retailMax   = "65a1c0000000000000000005"
	ironBridge  = "65a1c0000000000000000006"
	carol       = "carol@" + Domain
	ryan        = "ryan.garcia@" + Domain
	amandaWhite = "amanda.white@" + Domain
	chris       = "chris.taylor@" + Domain
)

func (c *Company) customers() []Customer {
	rows := []Customer{
		{ID: acme, Company: "Acme Corporation", Industry: "Manufacturing", Contact: "Gordon Blake", Email: "gordon.blake@acme.example", Phone: "312-555-0171",
			Street: "100 Foundry Street", City: "Chicago", State: "Illinois", Zip: "60601", Tier: "enterprise", Revenue: 500_000_000, Owner: ryan},
		{ID: techStart, Company: "TechStart Inc", Industry: "Technology", Contact: "Lena Ostrowski", Email: "lena.ostrowski@techstart.example", Phone: "415-555-0172",
			Street: "22 Harbor Loop", City: "San Francisco", State: "California", Zip: "94105", Tier: "startup", Revenue: 25_000_000, Owner: amandaWhite},
		{ID: gfp, Company: "Global Finance Partners", Industry: "Financial Services", Contact: "Howard Pruitt", Email: "howard.pruitt@gfp.example", Phone: "212-555-0173",
			Street: "8 Exchange Place", City: "New York", State: "New York", Zip: "10005", Tier: "enterprise", Revenue: 1_200_000_000, Owner: chris},
		{ID: healthCare, Company: "HealthCare Plus", Industry: "Healthcare", Contact: "Miriam Okoye", Email: "miriam.okoye@healthcareplus.example", Phone: "617-555-0174",
			Street: "410 Charles Walk", City: "Boston", State: "Massachusetts", Zip: "02114", Tier: "business", Revenue: 75_000_000, Owner: amandaWhite},
		{ID: retailMax, Company: "RetailMax", Industry: "Retail", Contact: "Dale Whitcomb", Email: "dale.whitcomb@retailmax.example", Phone: "213-555-0175",
			Street: "75 Market Row", City: "Los Angeles", State: "California", Zip: "90013", Tier: "enterprise", Revenue: 850_000_000, Owner: chris},
		{ID: ironBridge, Company: "Ironbridge Manufacturing", Industry: "Manufacturing", Contact: "Walter Finch", Email: "walter.finch@ironbridge.example", Phone: "512-555-0176",
			Street: "9 Mill Race", City: "Austin", State: "Texas", Zip: "78701", Tier: "business", Revenue: 18_000_000, Owner: ryan},
	}
	for i := range rows {
		rows[i].Country = "USA"
		rows[i].OwnerChain = c.above(rows[i].Owner)
		rows[i].Created = c.Day.AddDate(-1, -i, 0).Add(9 * time.Hour)
	}
	return rows
}

// deal is a row of the deal table. While a deal is open, order says how far
// into the rest of the month its closing lies, or in the next one with nextMonth; once it is won or lost, how many
// days before the month it was expected. The notes of a lost one are why it was lost.
type deal struct {
	customer, name string
	value          int64
	stage          string
	order          int
	owner, notes   string
}

var dealTable = [...]deal{
	{acme, "Acme Enterprise", 450_000, "CLOSED_WON", 95, carol, "Company-wide licence, three years, paid yearly in advance."},
	{techStart, "TechStart Growth", 85_000, "PROPOSAL", 2, amandaWhite, "They want monthly billing until their next funding round."},
	{gfp, "GFP Expansion", 750_000, "NEGOTIATION", 5, carol, "Their legal department reviews the data processing terms."},
	{healthCare, "HealthCare Pilot", 125_000, "DISCOVERY", 6, amandaWhite, "Pilot on two wards first; the privacy officer must agree."},
	{retailMax, "RetailMax Transformation", 1_200_000, "QUALIFICATION", 4, carol, "Replaces three older systems in all of their stores."},
	{acme, "Acme Renewal", 95_000, "CLOSED_WON", 12, ryan, "Renewed early for a second year of support."},
	{techStart, "TechStart Upgrade", 125_000, "CLOSED_WON", 40, amandaWhite, "Moved to the larger plan after their hiring spree."},
	{gfp, "GFP Security", 180_000, "CLOSED_WON", 20, chris, "Security review passed without findings."},
	{ironBridge, "Manufacturing Starter", 65_000, "PROPOSAL", 1, ryan, "First plant only; two more are to follow when it runs."},
	{retailMax, "RetailMax Integration", 250_000, "NEGOTIATION", 3, chris, "Asks for a fixed price for the interface to their tills."},
	{retailMax, "RetailMax Loyalty", 310_000, "CLOSED_LOST", 55, carol, "Their present supplier halved the price."},
	{acme, "Acme Analytics", 140_000, "CLOSED_LOST", 33, ryan, "Their budget for new systems was frozen for a year."},
	{techStart, "TechStart Premium", 60_000, "CLOSED_LOST", 26, amandaWhite, "The largest plan has more than they can use."},
	{healthCare, "HealthCare Scheduling", 98_000, "CLOSED_LOST", 70, amandaWhite, "They chose a vendor that was certified for hospitals."},
	{retailMax, "RetailMax Kiosks", 110_000, "NEGOTIATION", 5, ryan, "They ask for a trial in four stores before they sign."},
	{healthCare, "HealthCare Archive", 72_000, "CLOSED_WON", 62, amandaWhite, "Keeps the records of two closed wards readable for ten years."},
	{techStart, "TechStart Training", 24_000, "PROSPECTING", nextMonth + 9, ryan, "Four days for their new people, when the larger plan runs."},
	{retailMax, "RetailMax Warehouse", 380_000, "DISCOVERY", nextMonth + 16, chris, "Their new warehouse opens in summer; they compare three vendors."},
}

// nextMonth is added to the day of the next month on which an open deal is expected to close.
const nextMonth = 100

var probabilities = map[string]int{"PROSPECTING": 10, "DISCOVERY": 20, "QUALIFICATION": 40, "PROPOSAL": 60, "NEGOTIATION": 80, "CLOSED_WON": 100, "CLOSED_LOST": 0}

func (c *Company) deals() []Deal {
	rows := make([]Deal, len(dealTable))
	for i, d := range dealTable {
		notes, lost := d.notes, ""
		if d.stage == "CLOSED_LOST" {
			notes, lost = "", d.notes
		}
		rows[i] = Deal{
			ID: fmt.Sprintf("65a2d000000000000000%04d", i+1), CustomerID: d.customer, Name: d.name, Value: d.value,
			Stage: d.stage, Probability: probabilities[d.stage], Owner: d.owner, OwnerChain: c.above(d.owner), Notes: notes, LossReason: lost,
			Created: c.Day.AddDate(0, 0, -120-11*i).Add(10 * time.Hour), Updated: c.Day.AddDate(0, 0, -i).Add(8 * time.Hour),
		}
		rows[i].ExpectedClose, rows[i].ActualClose = c.closing(d)
	}
	return rows
}

// closing distributes the open deals over the rest of the month, or in the next one. The two that
// were expected just before it were won on its first day, so that every quarter
// has a won deal on every day.
func (c *Company) closing(d deal) (expected, actual time.Time) {
	first := c.Day.AddDate(0, 0, 1-c.Day.Day())
	if d.order > nextMonth {
		return first.AddDate(0, 1, d.order-nextMonth-1), time.Time{}
	}
	if d.stage != "CLOSED_WON" && d.stage != "CLOSED_LOST" {
		left := first.AddDate(0, 1, -1).Day() - c.Day.Day()
		return c.Day.AddDate(0, 0, left*d.order/6), time.Time{}
	}
	expected = first.AddDate(0, 0, -d.order)
	if d.order <= 20 {
		return expected, first
	}
	return expected, expected
}

// quotas returns the quarterly targets of the four sellers, from three quarters
// back to four ahead.
func (c *Company) quotas() []Quota {
	var rows []Quota
	for offset := -3; offset <= 4; offset++ {
		quarter := calendar.Period(c.Day, 3, offset)
		name := fmt.Sprintf("%d-%s", quarter.From.Year(), quarter.Quarter())
		for _, q := range []Quota{{Owner: carol, Amount: 750_000}, {Owner: ryan, Amount: 500_000}, {Owner: amandaWhite, Amount: 625_000}, {Owner: chris, Amount: 625_000}} {
			q.Quarter, q.OwnerChain = name, c.above(q.Owner)
			rows = append(rows, q)
		}
	}
	return rows
}

// above lists the addresses of everyone above an employee, nearest first.
func (c *Company) above(email string) []string {
	var chain []string
	for e, found := c.ByEmail(email); found && e.ManagerID != ""; {
		i := slices.IndexFunc(c.Employees, func(m Employee) bool { return m.ID == e.ManagerID })
		if i < 0 {
			break
		}
		e = c.Employees[i]
		chain = append(chain, e.Email)
	}
	return chain
}

// DealsPerOwner is how many deals each seller of a scaled company has.
const DealsPerOwner = 1000

// ScaledSales returns a sales department of n deals, the same for the same n
// and day, made while it is read. There is a customer for every ten deals; the
// sellers are the first employees of [Scaled], each with about [DealsPerOwner]
// deals, and with everyone above them in their chain.
func ScaledSales(n int, instant time.Time) Sales {
	day := dayOf(instant)
	owners := n/DealsPerOwner + 10
	return Sales{
		Customers: generate(n/10+1, func(i int) Customer { return scaledCustomer(i, owners, day) }),
		Deals:     generate(n, func(i int) Deal { return scaledDeal(i, n, owners, day) }),
	}
}

func generate[T any](n int, make func(int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := range n {
			if !yield(make(i)) {
				return
			}
		}
	}
}

func scaledCustomer(i, owners int, day time.Time) Customer {
	owner := int(mix(uint64(i), 1) % uint64(owners))
	last, trade := lastNames[i/3%len(lastNames)], [...]string{"Retail", "Healthcare", "Technology", "Manufacturing", "Logistics"}[i%5]
	return Customer{
		ID: fmt.Sprintf("c05700e2%016x", i), Company: fmt.Sprintf("%s %s %06d", last, trade, i), Industry: trade,
		Contact: firstNames[i%len(firstNames)] + " " + last, Email: fmt.Sprintf("contact%06d@customer.example", i), Phone: phone("Remote", i),
		City: "Springfield", Country: "USA", Tier: [...]string{"enterprise", "business", "startup", "free"}[i%4], Revenue: int64(1_000_000 + i),
		Owner: ScaledEmail(owner), OwnerChain: scaledChain(owner), Created: day.AddDate(-2, 0, 0).Add(time.Duration(i) * time.Second),
	}
}

func scaledDeal(i, n, owners int, day time.Time) Deal {
	owner := int(mix(uint64(i), 2) % uint64(owners))
	stage := [...]string{"PROSPECTING", "DISCOVERY", "QUALIFICATION", "PROPOSAL", "NEGOTIATION", "CLOSED_WON", "CLOSED_LOST"}[mix(uint64(i), 3)%7]
	expected := day.AddDate(0, 0, int(mix(uint64(i), 4)%730)-365)
	d := Deal{
		ID: fmt.Sprintf("dea10000%016x", i), CustomerID: fmt.Sprintf("c05700e2%016x", i%(n/10+1)), Name: fmt.Sprintf("Deal %07d", i),
		Value: int64(1_000 + mix(uint64(i), 5)%2_000_000), Stage: stage, Probability: probabilities[stage], ExpectedClose: expected,
		Owner: ScaledEmail(owner), OwnerChain: scaledChain(owner), Created: day.AddDate(-2, 0, 0).Add(time.Duration(i) * 31 * time.Second),
	}
	if stage == "CLOSED_WON" || stage == "CLOSED_LOST" {
		d.ActualClose = expected
	}
	d.Updated = d.Created
	return d
}

func scaledChain(owner int) (chain []string) {
	for owner > 0 {
		owner = (owner - 1) / 10
		chain = append(chain, ScaledEmail(owner))
	}
	return chain
}

// mix derives a pseudo-random number from a row's number and a salt: splitmix64.
func mix(i, salt uint64) uint64 {
	z := i + salt*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
