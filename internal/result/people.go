package result

import (
	"encoding/json"

	"countersign.dev/internal/fault"
)

// ForPeople returns an encoded envelope as people read it: what an error suggests
// to programs is left out. Anything else is returned as it is, byte for byte.
func ForPeople(envelope json.RawMessage) json.RawMessage {
	var e struct {
		Status, Code, Message, SuggestedAction string
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(envelope, &e) != nil || e.Status != StatusError || json.Unmarshal(envelope, &all) != nil {
		return envelope
	}
	message, advice := fault.ForPeople(e.Code, e.Message, e.SuggestedAction)
	all["message"], _ = json.Marshal(message) // texts can always be encoded
	all["suggestedAction"], _ = json.Marshal(advice)
	if advice == "" {
		delete(all, "suggestedAction")
	}
	own, err := json.Marshal(all)
	if err != nil {
		return envelope
	}
	return own
}
