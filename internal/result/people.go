package result

import (
	"encoding/json"

	"countersign.dev/internal/fault"
)

// ForPeople returns an encoded envelope as people read it: an error has their words in
// place of those for programs. Anything else is returned as it is, byte for byte.
func ForPeople(envelope json.RawMessage) json.RawMessage {
	var e struct {
		Status, Message string
		People          *fault.Words
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(envelope, &e) != nil || e.Status != StatusError || e.People == nil || json.Unmarshal(envelope, &all) != nil {
		return envelope
	}
	delete(all, "people")
	delete(all, "suggestedAction")
	for name, text := range map[string]string{"message": e.People.Message, "suggestedAction": e.People.Advice} {
		if text != "" {
			all[name], _ = json.Marshal(text) // texts can always be encoded
		}
	}
	own, err := json.Marshal(all)
	if err != nil {
		return envelope
	}
	return own
}
