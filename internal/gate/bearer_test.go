package gate

import (
	"net/http"
	"testing"

	"countersign.dev/internal/fault"
)

func TestBearerIsReadFromOneHeaderOnly(t *testing.T) {
	for name, c := range map[string]struct {
		header []string
		target string
		want   string
	}{
		"ordinary":          {[]string{"Bearer abc"}, "/", "abc"},
		"lower case":        {[]string{"bearer abc"}, "/", "abc"},
		"words after it":    {[]string{"Bearer abc def"}, "/", ""},
		"a tab inside":      {[]string{"Bearer abc\tdef"}, "/", ""},
		"two spaces":        {[]string{"Bearer  abc"}, "/", "abc"},
		"other query":       {[]string{"Bearer abc"}, "/?query=token&ticket=x", "abc"},
		"none":              {nil, "/", ""},
		"two headers":       {[]string{"Bearer abc", "Bearer def"}, "/", ""},
		"basic":             {[]string{"Basic abc"}, "/", ""},
		"empty":             {[]string{"Bearer "}, "/", ""},
		"no space":          {[]string{"Bearerabc"}, "/", ""},
		"in the query":      {[]string{"Bearer abc"}, "/?access_token=abc", ""},
		"only in the query": {nil, "/?token=abc", ""},
	} {
		req, err := http.NewRequest("GET", c.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range c.header {
			req.Header.Add("Authorization", h)
		}
		got, _, err := bearer(req)
		if got != c.want || (c.want == "") != fault.Is(err, fault.Unauthorized) {
			t.Errorf("%s: got %q, %v", name, got, err)
		}
	}
}
