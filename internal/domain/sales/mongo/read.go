package mongo

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/domain/sales"
)

// customerDoc is a document of customers. Calendar days are kept as text, here
// and below: they have no time zone.
type customerDoc struct {
	ID            bson.ObjectID `bson:"_id"`
	Company       string        `bson:"company_name"`
	Industry      string        `bson:"industry"`
	Contact       contactDoc    `bson:"contact"`
	Address       addressDoc    `bson:"address"`
	Tier          string        `bson:"tier"`
	AnnualRevenue float64       `bson:"annual_revenue"`
	Owner         string        `bson:"owner"`
	OwnerChain    []string      `bson:"owner_chain"`
	CreatedAt     time.Time     `bson:"created_at"`
	UpdatedAt     time.Time     `bson:"updated_at"`
	Version       int64         `bson:"version"`
}

type contactDoc struct {
	Name  string `bson:"name"`
	Email string `bson:"email"`
	Phone string `bson:"phone"`
}

type addressDoc struct {
	Street  string `bson:"street"`
	City    string `bson:"city"`
	State   string `bson:"state"`
	Zip     string `bson:"zip"`
	Country string `bson:"country"`
}

// dealDoc is a document of deals.
type dealDoc struct {
	ID                bson.ObjectID `bson:"_id"`
	CustomerID        bson.ObjectID `bson:"customer_id"`
	DealName          string        `bson:"deal_name"`
	Value             float64       `bson:"value"`
	Currency          string        `bson:"currency"`
	Stage             string        `bson:"stage"`
	Probability       float64       `bson:"probability"`
	ExpectedCloseDate string        `bson:"expected_close_date"`
	ActualCloseDate   string        `bson:"actual_close_date,omitempty"` // absent while open
	Owner             string        `bson:"owner"`
	OwnerChain        []string      `bson:"owner_chain"`
	Notes             string        `bson:"notes"`
	LossReason        string        `bson:"loss_reason,omitempty"` // absent unless lost
	CreatedAt         time.Time     `bson:"created_at"`
	UpdatedAt         time.Time     `bson:"updated_at"`
	Version           int64         `bson:"version"`

	CustomerName string `bson:"customer_name,omitempty"` // joined when read
}

func (d dealDoc) deal() sales.Deal {
	return sales.Deal{
		ID: d.ID.Hex(), CustomerID: d.CustomerID.Hex(), CustomerName: d.CustomerName, DealName: d.DealName, Value: d.Value, Currency: d.Currency, Stage: d.Stage,
		Probability: d.Probability, ExpectedCloseDate: d.ExpectedCloseDate, ActualCloseDate: d.ActualCloseDate, Owner: d.Owner, Notes: d.Notes, LossReason: d.LossReason,
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(), Version: d.Version,
	}
}

// match is a filter within a scope. Only within makes one, and find, aggregate
// and update take nothing else.
type match struct{ filter bson.D }

// within narrows a scope by more conditions, all of which must hold. User input
// is in them as a string, a number or a date, never as a document, so that it
// cannot be an operator.
func within(s sales.Scope, more ...bson.D) match {
	all := bson.A{visible(s)}
	for _, condition := range more {
		all = append(all, condition)
	}
	return match{bson.D{{Key: "$and", Value: all}}}
}

// visible is the condition that a document is in a scope.
func visible(s sales.Scope) bson.D {
	switch email := s.Email(); {
	case s.All():
		return bson.D{}
	case email != "":
		return bson.D{{Key: "$or", Value: bson.A{only("owner", email), only("owner_chain", email)}}}
	}
	return bson.D{{Key: "_id", Value: bson.D{{Key: "$in", Value: bson.A{}}}}}
}

// compares is the condition that a field compares to a value.
func compares(field, operator string, value any) bson.D {
	return only(field, bson.D{{Key: operator, Value: value}})
}

// among is the condition that a field has one of the values.
func among(field string, values ...any) bson.D { return compares(field, "$in", bson.A(values)) }

// isOpen holds for deals that are neither won nor lost.
func isOpen() bson.D { return compares("stage", "$nin", bson.A{sales.StageWon, sales.StageLost}) }

func (d customerDoc) customer() sales.Customer {
	return sales.Customer{
		ID: d.ID.Hex(), Name: d.Contact.Name, Email: d.Contact.Email, Company: d.Company, Industry: d.Industry, Phone: d.Contact.Phone,
		Address: sales.Address(d.Address), AccountOwner: d.Owner, Tier: d.Tier, AnnualRevenue: d.AnnualRevenue,
		CreatedAt: d.CreatedAt.UTC(), UpdatedAt: d.UpdatedAt.UTC(), Version: d.Version,
	}
}

// Customer returns one customer with its open deals.
func (m *Store) Customer(ctx context.Context, s sales.Scope, id string) (sales.Customer, bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	key, err := bson.ObjectIDFromHex(id)
	if err != nil {
		return sales.Customer{}, false, nil // no document has such an id
	}
	docs, err := find[customerDoc](ctx, m.customers, within(s, only("_id", key), only("deleted_at", nil)), options.Find().SetLimit(1))
	if err != nil || len(docs) == 0 {
		return sales.Customer{}, false, err
	}
	c := docs[0].customer()
	c.OpenDeals, c.OpenName, err = m.openDeals(ctx, s, key)
	return c, err == nil, err
}

func (m *Store) openDeals(ctx context.Context, s sales.Scope, customer bson.ObjectID) (count int, names []string, err error) {
	open := within(s, only("customer_id", customer), isOpen())
	first := options.Find().SetSort(only("_id", 1)).SetLimit(sales.NamesShown).SetProjection(only("deal_name", 1))
	docs, err := find[dealDoc](ctx, m.deals, open, first)
	for _, d := range docs {
		names = append(names, d.DealName)
	}
	if err != nil || len(names) < sales.NamesShown {
		return len(names), names, err
	}
	n, err := m.deals.CountDocuments(ctx, open.filter)
	return int(n), names, storeFault(ctx, err)
}

// find reads the documents that match.
func find[T any](ctx context.Context, c *mongo.Collection, in match, how options.Lister[options.FindOptions]) (docs []T, err error) {
	cursor, err := c.Find(ctx, in.filter, how)
	if err != nil {
		return nil, storeFault(ctx, err)
	}
	return docs, storeFault(ctx, cursor.All(ctx, &docs))
}

// aggregate sends the documents that match through the stages.
func aggregate[T any](ctx context.Context, c *mongo.Collection, in match, stages ...bson.D) (docs []T, err error) {
	cursor, err := c.Aggregate(ctx, append(mongo.Pipeline{only("$match", in.filter)}, stages...))
	if err != nil {
		return nil, storeFault(ctx, err)
	}
	return docs, storeFault(ctx, cursor.All(ctx, &docs))
}

// Deal returns one deal.
func (m *Store) Deal(ctx context.Context, s sales.Scope, id string) (sales.Deal, bool, error) {
	key, err := bson.ObjectIDFromHex(id)
	if err != nil {
		return sales.Deal{}, false, nil
	}
	deals, err := m.page(ctx, within(s, only("_id", key)), orders[sales.Newest], 1)
	if err != nil || len(deals) == 0 {
		return sales.Deal{}, false, err
	}
	return deals[0], true, nil
}

// Deals returns a page.
func (m *Store) Deals(ctx context.Context, s sales.Scope, q sales.DealQuery) ([]sales.Deal, error) {
	narrow, possible := conditions(q)
	if !possible {
		return nil, nil
	}
	return m.page(ctx, within(s, narrow...), orders[q.Sort], q.Limit)
}

// page reads deals in an order, with their customers' names.
func (m *Store) page(ctx context.Context, in match, by order, limit int) ([]sales.Deal, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	shown := bson.D{{Key: "customer_name", Value: "$customer.company_name"}}
	for _, field := range []string{
		"customer_id", "deal_name", "value", "currency", "stage", "probability", "expected_close_date", "actual_close_date", "owner", "notes", "loss_reason", "created_at", "updated_at", "version",
	} {
		shown = append(shown, bson.E{Key: field, Value: 1})
	}
	docs, err := aggregate[dealDoc](ctx, m.deals, in,
		only("$sort", by.sorted()),
		only("$limit", limit),
		only("$lookup", bson.D{{Key: "from", Value: m.customers.Name()}, {Key: "localField", Value: "customer_id"}, {Key: "foreignField", Value: "_id"}, {Key: "as", Value: "customer"}}),
		only("$unwind", bson.D{{Key: "path", Value: "$customer"}, {Key: "preserveNullAndEmptyArrays", Value: true}}),
		only("$project", shown),
	)
	deals := make([]sales.Deal, len(docs))
	for i, d := range docs {
		deals[i] = d.deal()
	}
	return deals, err
}

// conditions are a query's filters and where it continues. possible is false when
// an id cannot be any document's.
func conditions(q sales.DealQuery) (all []bson.D, possible bool) {
	if q.Stage != "" {
		all = append(all, only("stage", q.Stage))
	}
	if q.Owner != "" {
		all = append(all, only("owner", q.Owner))
	}
	if q.CustomerID != "" {
		key, err := bson.ObjectIDFromHex(q.CustomerID)
		if err != nil {
			return nil, false
		}
		all = append(all, only("customer_id", key))
	}
	if q.MinValue > 0 {
		all = append(all, compares("value", "$gte", q.MinValue), among("currency", sales.Currency, nil))
	}
	if q.Others {
		all = append(all, compares("currency", "$nin", bson.A{sales.Currency, nil}))
	}
	if q.ClosingFrom != "" {
		all = append(all, closes(only("$gte", q.ClosingFrom)))
	}
	if q.ClosingTo != "" {
		all = append(all, closes(only("$lte", q.ClosingTo)))
	}
	if q.After == nil {
		return all, true
	}
	after, possible := orders[q.Sort].beyond(*q.After)
	return append(all, after...), possible
}

// closes holds for the deals whose day of closing, expected while they are open, is one of
// some days.
func closes(days bson.D) bson.D {
	return only("$or", bson.A{
		only("actual_close_date", days),
		bson.D{{Key: "actual_close_date", Value: nil}, {Key: "expected_close_date", Value: days}},
	})
}

// beyond holds for the documents after a key. MongoDB compares no row values:
// the first condition bounds the index, the second breaks the ties.
func (o order) beyond(k sales.DealKey) ([]bson.D, bool) {
	id, err := bson.ObjectIDFromHex(k.ID)
	if err != nil {
		return nil, false
	}
	value, after := o.key(k), "$gt"
	if o.direction < 0 {
		after = "$lt"
	}
	return []bson.D{
		compares(o.field, after+"e", value),
		only("$or", bson.A{compares(o.field, after, value), compares("_id", after, id)}),
	}, true
}

// Sums adds up a quarter.
func (m *Store) Sums(ctx context.Context, s sales.Scope, q sales.Quarter) (sales.Sums, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	from, until := q.From().Format(time.DateOnly), q.Until().Format(time.DateOnly)
	during := bson.D{{Key: "$gte", Value: from}, {Key: "$lt", Value: until}}
	weighted := only("$sum", only("$multiply", bson.A{"$value", "$probability"}))
	adds := only("$eq", bson.A{only("$ifNull", bson.A{"$currency", sales.Currency}), sales.Currency})
	type stageSum struct {
		ID struct {
			Stage string `bson:"stage"`
			Adds  bool   `bson:"adds"`
		} `bson:"_id"`
		Count    int     `bson:"count"`
		Value    float64 `bson:"value"`
		Weighted float64 `bson:"weighted"`
	}
	rows, err := aggregate[stageSum](ctx, m.deals,
		within(s, closes(during)),
		only("$group", bson.D{{Key: "_id", Value: bson.D{{Key: "stage", Value: "$stage"}, {Key: "adds", Value: adds}}}, {Key: "count", Value: only("$sum", 1)}, {Key: "value", Value: only("$sum", "$value")}, {Key: "weighted", Value: weighted}}),
	)
	if err != nil {
		return sales.Sums{}, err
	}
	sums := sales.Sums{Stages: map[string]sales.StageSum{}}
	for _, r := range rows {
		if r.ID.Adds {
			sums.Stages[r.ID.Stage] = sales.StageSum{Count: r.Count, Value: r.Value, Weighted: r.Weighted / 100}
		} else {
			sums.Others += r.Count
		}
	}
	sums.Target, err = m.target(ctx, s, q)
	return sums, err
}

// quotaDoc is a document of forecast_quotas.
type quotaDoc struct {
	ID         string   `bson:"_id"`
	Quarter    string   `bson:"quarter"`
	Owner      string   `bson:"owner"`
	OwnerChain []string `bson:"owner_chain"`
	Amount     float64  `bson:"amount"`
}

func (m *Store) target(ctx context.Context, s sales.Scope, q sales.Quarter) (sum float64, err error) {
	quotas, err := find[quotaDoc](ctx, m.quotas, within(s, only("quarter", q.String())), options.Find())
	for _, quota := range quotas {
		sum += quota.Amount
	}
	return sum, err
}
