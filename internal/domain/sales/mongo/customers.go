package mongo

import (
	"context"
	"regexp"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/domain/sales"
)

// Customers returns a page, with the open deals of its customers in one query more.
func (m *Store) Customers(ctx context.Context, s sales.Scope, q sales.CustomerQuery) ([]sales.Customer, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	narrow := []bson.D{only("deleted_at", nil)}
	for _, word := range q.Name {
		narrow = append(narrow, only("company_name", bson.Regex{Pattern: anyCase(word)}))
	}
	if q.Tier != "" {
		narrow = append(narrow, only("tier", q.Tier))
	}
	if q.Owner != "" {
		narrow = append(narrow, only("owner", q.Owner))
	}
	if q.After != nil {
		id, err := bson.ObjectIDFromHex(q.After.ID)
		if err != nil {
			return nil, nil // no page ends with such an id
		}
		narrow = append(narrow, compares("company_name", "$gte", q.After.Company),
			only("$or", bson.A{compares("company_name", "$gt", q.After.Company), compares("_id", "$gt", id)}))
	}
	docs, err := find[customerDoc](ctx, m.customers, within(s, narrow...), options.Find().SetSort(byCompany).SetLimit(int64(q.Limit)))
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	page, ids := make([]sales.Customer, len(docs)), make([]any, len(docs))
	for i, d := range docs {
		page[i], ids[i] = d.customer(), d.ID
	}
	open, err := aggregate[struct {
		Customer bson.ObjectID `bson:"_id"`
		Deals    int           `bson:"deals"`
	}](ctx, m.deals, within(s, among("customer_id", ids...), isOpen()),
		only("$group", bson.D{{Key: "_id", Value: "$customer_id"}, {Key: "deals", Value: only("$sum", 1)}}))
	for _, of := range open {
		for i := range page {
			if page[i].ID == of.Customer.Hex() {
				page[i].OpenDeals = of.Deals
			}
		}
	}
	return page, err
}

// anyCase is a pattern of a text, whose letters match in both cases: the same as in the
// embedded store, whatever the server's locale is.
func anyCase(text string) string {
	var p strings.Builder
	for _, c := range text {
		if low, high := unicode.ToLower(c), unicode.ToUpper(c); low != high {
			p.WriteString("[" + string(low) + string(high) + "]")
		} else {
			p.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return p.String()
}
