package testkit

import (
	"bytes"

	"countersign.dev/internal/seal"
)

// Ring derives keys from a fixed secret, so that the processes of one test open
// what the others sealed.
func Ring(purpose string) *seal.Ring {
	ring, err := seal.NewRing(purpose, bytes.Repeat([]byte("t"), seal.MinSecret))
	if err != nil {
		panic(err) // the secret is long enough
	}
	return ring
}
