package mongo

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"countersign.dev/internal/domain/sales"
)

// order is a way to sort deals: by a field and then by the id, both in the same
// direction, 1 or -1.
type order struct {
	field     string
	direction int
	key       func(sales.DealKey) any
}

var orders = map[sales.Sort]order{
	sales.Newest:    {"created_at", -1, func(k sales.DealKey) any { return time.UnixMilli(k.Created) }},
	sales.ValueDesc: {"value", -1, func(k sales.DealKey) any { return k.Value }},
	sales.ByClosing: {"expected_close_date", 1, func(k sales.DealKey) any { return k.Closing }},
}

func (o order) sorted() bson.D {
	return bson.D{{Key: o.field, Value: o.direction}, {Key: "_id", Value: o.direction}}
}

// byCompany is the order of customers.
var byCompany = bson.D{{Key: "company_name", Value: 1}, {Key: "_id", Value: 1}}
