package schema_test

import (
	"fmt"
	"testing"

	"countersign.dev/internal/schema"
)

func TestPropertiesAreRead(t *testing.T) {
	raw := []byte(`{"required":["b"],"properties":{
		"b":{"description":"B","anyOf":[{"type":"null"},{"type":"string","format":"date","enum":["x",1]}]},
		"a":{"type":["null","integer"]},
		"data":{"type":"array","items":{"properties":{"b":{"type":"string","maxLength":9}}}}}}`)
	for _, c := range []struct {
		got  []schema.Property
		want string
	}{
		{schema.Properties(raw), `[{a  integer  [] 0 false} {b B string date [x] 0 true} {data  array  [] 0 false}]`},
		{schema.Everywhere(raw, ""), `[{a  integer  [] 0 false} {b B string date [x] 0 true} {data  array  [] 0 false} {b  string  [] 9 false}]`},
		{schema.Everywhere(raw, "data"), `[{b  string  [] 9 false}]`},
		{schema.Properties([]byte(`{"properties":7}`)), `[]`},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
