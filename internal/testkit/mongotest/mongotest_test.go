package mongotest_test

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"countersign.dev/internal/testkit/mongotest"
)

// TestServerAnswersTheDriver: every other test on this server relies on it.
func TestServerAnswersTheDriver(t *testing.T) {
	server := mongotest.Start()
	t.Cleanup(server.Stop)
	address, name := server.Database(t)
	client, err := mongo.Connect(options.Client().ApplyURI(address))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	c := client.Database(name).Collection("things")
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	n, err := c.CountDocuments(t.Context(), bson.D{})
	if n != 1 || err != nil {
		t.Errorf("got %d, %v, want one document", n, err)
	}
}
