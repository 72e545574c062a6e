// Package mongo keeps sales in MongoDB. It needs no transactions, and so no
// replica set: a change and its receipt are one update of one document. Start
// with [Open].
package mongo

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/fault"
)

// DefaultDatabase is the database that sales keeps its collections in, unless
// the options name another.
const DefaultDatabase = "tamshai_sales"

// Options tunes a store. The zero value is a good default.
type Options struct {
	Database string // default DefaultDatabase
}

// Store is a [sales.Store] in the collections customers, deals,
// forecast_quotas and links of MongoDB. It is safe for concurrent use.
type Store struct {
	client    *mongo.Client
	customers *mongo.Collection
	deals     *mongo.Collection
	quotas    *mongo.Collection
	links     *mongo.Collection
}

// selectionTimeout is how long a call looks for a server before the store
// counts as unreachable.
const selectionTimeout = 2 * time.Second

// Open connects and makes the indexes that are missing. A server that is
// not there is SERVICE_UNAVAILABLE; an address that cannot be read is an error
// that does not repeat it, for it may hold a password.
func Open(ctx context.Context, address string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	config := options.Client().ApplyURI(address)
	if config.Validate() != nil {
		return nil, errors.New("the address of the sales store is not a MongoDB connection string")
	}
	// A confirmed change outlives a failover, and reads see only what does.
	config.SetWriteConcern(writeconcern.Majority()).SetReadConcern(readconcern.Majority())
	config.SetServerSelectionTimeout(selectionTimeout).SetConnectTimeout(selectionTimeout).SetAppName("countersign-sales")
	client, err := mongo.Connect(config)
	if err != nil {
		return nil, errors.New("the address of the sales store cannot be used")
	}
	name := o.Database
	if name == "" {
		name = DefaultDatabase
	}
	database := client.Database(name)
	m := &Store{
		client: client, customers: database.Collection("customers"), deals: database.Collection("deals"),
		quotas: database.Collection("forecast_quotas"), links: database.Collection("links"),
	}
	if err := m.index(ctx); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// index makes the indexes: each order of all deals, of one owner's and of one
// manager's, the parts of a pipeline, the currencies, the confirmations, and the linked addresses.
func (m *Store) index(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	confirmed := mongo.IndexModel{Keys: bson.D{{Key: "confirmation.id", Value: 1}}, Options: options.Index().SetUnique(true).SetSparse(true)}
	deals := []mongo.IndexModel{
		confirmed,
		{Keys: bson.D{{Key: "customer_id", Value: 1}, {Key: "_id", Value: 1}}},
		{Keys: bson.D{{Key: "actual_close_date", Value: 1}, {Key: "expected_close_date", Value: 1}}},
		{Keys: only("currency", 1)},
	}
	for _, by := range orders {
		sort := by.sorted()
		deals = append(deals, mongo.IndexModel{Keys: sort})
		for _, field := range []string{"owner", "owner_chain"} {
			deals = append(deals, mongo.IndexModel{Keys: append(bson.D{{Key: field, Value: 1}}, sort...)})
		}
	}
	if _, err := m.deals.Indexes().CreateMany(ctx, deals); err != nil {
		return storeFault(ctx, err)
	}
	if _, err := m.customers.Indexes().CreateMany(ctx, []mongo.IndexModel{confirmed, {Keys: byCompany}}); err != nil {
		return storeFault(ctx, err)
	}
	address := mongo.IndexModel{Keys: only("address", 1), Options: options.Index().SetUnique(true)}
	if _, err := m.links.Indexes().CreateMany(ctx, []mongo.IndexModel{address}); err != nil {
		return storeFault(ctx, err)
	}
	_, err := m.quotas.Indexes().CreateMany(ctx, []mongo.IndexModel{{Keys: bson.D{{Key: "quarter", Value: 1}}}})
	return storeFault(ctx, err)
}

// storeTimeout bounds a call whose context has no deadline.
const storeTimeout = 5 * time.Second

// bounded gives a deadline to a call that has none.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return admission.Bounded(ctx, storeTimeout)
}

// Close ends every connection.
func (m *Store) Close() error {
	ctx, cancel := bounded(context.Background())
	defer cancel()
	return m.client.Disconnect(ctx)
}

// Change runs fn and then writes what it changed, with the receipt, as one
// update of one document.
func (m *Store) Change(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return confirm.ChangeDocument(ctx, fn)
}

// Keep adds the receipt to the update.
func (m *Store) Keep(ctx context.Context, r confirm.Receipt) error {
	return confirm.KeepInDocument(ctx, r)
}

// confirmation is the receipt inside the document that was changed.
type confirmation struct {
	ID      string   `bson:"id"`
	Owner   ownerDoc `bson:"owner"`
	Tool    string   `bson:"tool"`
	Receipt string   `bson:"receipt"` // text, so that it comes back byte for byte
}

type ownerDoc struct {
	Issuer  string `bson:"iss"`
	Subject string `bson:"sub"`
}

func newConfirmation(r confirm.Receipt) confirmation {
	return confirmation{string(r.ID), ownerDoc(r.Owner), r.Tool, string(r.Answer)}
}

// Find returns an owner's receipt, byte for byte.
func (m *Store) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	kept := bson.D{{Key: "confirmation.id", Value: string(id)}, {Key: "confirmation.owner.iss", Value: owner.Issuer}, {Key: "confirmation.owner.sub", Value: owner.Subject}}
	for _, changed := range []*mongo.Collection{m.deals, m.customers} {
		var document struct {
			Confirmation confirmation `bson:"confirmation"`
		}
		err := changed.FindOne(ctx, kept, options.FindOne().SetProjection(bson.D{{Key: "confirmation", Value: 1}})).Decode(&document)
		if err == nil {
			return json.RawMessage(document.Confirmation.Receipt), true, nil
		}
		if !errors.Is(err, mongo.ErrNoDocuments) {
			return nil, false, storeFault(ctx, err)
		}
	}
	return nil, false, nil
}

// Ready reads a document of each collection: a database with another name would
// otherwise look like a company without deals.
func (m *Store) Ready(ctx context.Context) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	for _, c := range []*mongo.Collection{m.customers, m.deals} {
		err := c.FindOne(ctx, bson.D{}, options.FindOne().SetProjection(bson.D{{Key: "_id", Value: 1}})).Err()
		if errors.Is(err, mongo.ErrNoDocuments) {
			return fault.ServiceDown.New("The collection %s.%s is empty or does not exist.", c.Database().Name(), c.Name()).
				Suggest(`Check the name of the database, or run "countersign seed".`)
		}
		if err != nil {
			return storeFault(ctx, err)
		}
	}
	return nil
}

// Oversize is always empty: MongoDB has no such limit here.
func (m *Store) Oversize(context.Context) (string, error) { return "", nil }

// storeFault turns a driver's error into a fault. The cause is kept for the
// log; it may name addresses.
func storeFault(ctx context.Context, err error) error {
	var selecting topology.ServerSelectionError
	var connecting topology.ConnectionError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &selecting), errors.As(err, &connecting) && connecting.Wrapped != nil && ctx.Err() == nil,
		errors.Is(err, mongo.ErrClientDisconnected), mongo.IsNetworkError(err) && !mongo.IsTimeout(err):
		return fault.ServiceDown.New("The sales store cannot be reached.").Because(err)
	case ctx.Err() != nil, mongo.IsTimeout(err):
		return fault.Timeout.New("The sales store did not answer in time.").Because(err)
	}
	return fault.StoreFailed("sales store", err)
}

var _ sales.Store = (*Store)(nil)

// only is a document with one field: as a condition, that it equals the value.
func only(field string, value any) bson.D { return bson.D{{Key: field, Value: value}} }
