package rehearsal

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps the order of its fields: the order in
// which a tool declares or answers them is the order in which people read them.
type object[V any] struct {
	keys   []string
	values map[string]V
}

// UnmarshalJSON reads an object; null is an empty one.
func (o *object[V]) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return err
	}
	o.values = map[string]V{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return err
		}
		var v V
		if err := dec.Decode(&v); err != nil {
			return err
		}
		name, _ := key.(string)
		if _, twice := o.values[name]; !twice {
			o.keys = append(o.keys, name)
		}
		o.values[name] = v
	}
	return nil
}
