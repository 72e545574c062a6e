package mongo

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
)

// CloseDeal closes a deal that is as it was seen.
func (m *Store) CloseDeal(ctx context.Context, s sales.Scope, c sales.Closing) error {
	key, err := bson.ObjectIDFromHex(c.ID)
	if err != nil {
		return confirm.Stale()
	}
	return m.update(ctx, m.deals, within(s, only("_id", key), version(c.Version), isOpen()), bson.D{
		{Key: "stage", Value: c.Stage}, {Key: "value", Value: c.Value}, {Key: "probability", Value: c.Probability},
		{Key: "loss_reason", Value: c.LossReason}, {Key: "notes", Value: c.Notes},
		{Key: "actual_close_date", Value: c.At.Format(time.DateOnly)}, {Key: "updated_at", Value: c.At},
	})
}

// DeleteCustomer leaves a tombstone of a customer that is as it was seen.
func (m *Store) DeleteCustomer(ctx context.Context, s sales.Scope, t sales.Tombstone) error {
	key, err := bson.ObjectIDFromHex(t.ID)
	if err != nil {
		return confirm.Stale()
	}
	return m.update(ctx, m.customers, within(s, only("_id", key), version(t.Version), only("deleted_at", nil)), bson.D{
		{Key: "deleted_at", Value: t.At}, {Key: "deleted_by", Value: t.By}, {Key: "updated_at", Value: t.At},
	})
}

// version is the condition that a document is as it was seen. Documents that
// others brought here may have none yet; they count as version 0.
func version(seen int64) bson.D {
	if seen == 0 {
		return among("version", nil, 0)
	}
	return only("version", seen)
}

// update changes the one document that matches, at the end of Change: it and
// its receipt are a single atomic step.
func (m *Store) update(ctx context.Context, c *mongo.Collection, in match, set bson.D) error {
	return confirm.StageDocument(ctx, func(ctx context.Context, r confirm.Receipt) error {
		change := bson.D{
			{Key: "$set", Value: append(set, bson.E{Key: "confirmation", Value: newConfirmation(r)})},
			{Key: "$inc", Value: only("version", 1)},
		}
		err := c.FindOneAndUpdate(ctx, in.filter, change, options.FindOneAndUpdate().SetProjection(only("_id", 1))).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return confirm.Stale()
		}
		return storeFault(ctx, err)
	})
}

// fillBatch is how many documents are sent at a time.
const fillBatch = 1000

// Fill adds what is missing. It can be run again after a failure.
func (m *Store) Fill(ctx context.Context, rows company.Sales) error {
	if err := insert(ctx, m.customers, rows.Customers, newCustomerDoc); err != nil {
		return err
	}
	if err := insert(ctx, m.deals, rows.Deals, newDealDoc); err != nil {
		return err
	}
	return insert(ctx, m.quotas, slices.Values(rows.Quotas), newQuotaDoc)
}

func insert[Row, Doc any](ctx context.Context, c *mongo.Collection, rows iter.Seq[Row], doc func(Row) (Doc, error)) error {
	batch := make([]Doc, 0, fillBatch)
	for row := range rows {
		d, err := doc(row)
		if err != nil {
			return err
		}
		if batch = append(batch, d); len(batch) == fillBatch {
			if err := insertBatch(ctx, c, batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return insertBatch(ctx, c, batch)
}

func insertBatch[Doc any](ctx context.Context, c *mongo.Collection, batch []Doc) error {
	if len(batch) == 0 {
		return nil
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	_, err := c.InsertMany(ctx, batch, options.InsertMany().SetOrdered(false))
	if onlyDuplicates(err) {
		return nil
	}
	return storeFault(ctx, err)
}

// onlyDuplicates reports whether an insertion failed for nothing but documents
// that were there already.
func onlyDuplicates(err error) bool {
	var failed mongo.BulkWriteException
	if !errors.As(err, &failed) || failed.WriteConcernError != nil {
		return false
	}
	const duplicateKey = 11000
	for _, one := range failed.WriteErrors {
		if one.Code != duplicateKey {
			return false
		}
	}
	return true
}

func newCustomerDoc(c company.Customer) (customerDoc, error) {
	id, err := bson.ObjectIDFromHex(c.ID)
	return customerDoc{
		ID: id, Company: c.Company, Industry: c.Industry, Contact: contactDoc{c.Contact, c.Email, c.Phone},
		Address: addressDoc{c.Street, c.City, c.State, c.Zip, c.Country}, Tier: c.Tier, AnnualRevenue: float64(c.Revenue),
		Owner: c.Owner, OwnerChain: notNil(c.OwnerChain), CreatedAt: c.Created, UpdatedAt: c.Created, Version: 1,
	}, err
}

func newDealDoc(d company.Deal) (dealDoc, error) {
	id, err := bson.ObjectIDFromHex(d.ID)
	if err != nil {
		return dealDoc{}, err
	}
	customer, err := bson.ObjectIDFromHex(d.CustomerID)
	doc := dealDoc{
		ID: id, CustomerID: customer, DealName: d.Name, Value: float64(d.Value), Currency: "USD", Stage: d.Stage, Probability: float64(d.Probability),
		ExpectedCloseDate: d.ExpectedClose.Format(time.DateOnly), Owner: d.Owner, OwnerChain: notNil(d.OwnerChain), Notes: d.Notes, LossReason: d.LossReason,
		CreatedAt: d.Created, UpdatedAt: d.Updated, Version: 1,
	}
	if !d.ActualClose.IsZero() {
		doc.ActualCloseDate = d.ActualClose.Format(time.DateOnly)
	}
	return doc, err
}

func newQuotaDoc(q company.Quota) (quotaDoc, error) {
	return quotaDoc{q.Quarter + " " + q.Owner, q.Quarter, q.Owner, notNil(q.OwnerChain), float64(q.Amount)}, nil
}

func notNil(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
