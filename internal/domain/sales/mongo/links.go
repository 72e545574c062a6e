package mongo

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"countersign.dev/internal/access"
)

// linkDoc is a document of links. Its id is unique, and so is its address.
type linkDoc struct {
	Who     ownerDoc `bson:"_id"`
	Address string   `bson:"address"`
}

// Link links a person to their address, unless either is linked already.
func (m *Store) Link(ctx context.Context, who access.Owner, address string) (string, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	if linked, err := m.linked(ctx, who); linked != "" || err != nil || address == "" {
		return linked, err
	}
	_, err := m.links.InsertOne(ctx, linkDoc{ownerDoc(who), address})
	if mongo.IsDuplicateKeyError(err) { // by the same person meanwhile, or another's
		return m.linked(ctx, who)
	}
	if err != nil {
		return "", storeFault(ctx, err)
	}
	return address, nil
}

func (m *Store) linked(ctx context.Context, who access.Owner) (string, error) {
	var link linkDoc
	err := m.links.FindOne(ctx, only("_id", ownerDoc(who))).Decode(&link)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return "", nil
	}
	return link.Address, storeFault(ctx, err)
}
