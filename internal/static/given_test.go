package static_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"countersign.dev/internal/static"
)

// given opens the first page with the answers of an API.
func given(t *testing.T, api http.HandlerFunc, paths ...string) (page string, header http.Header) {
	t.Helper()
	f, err := static.New(fstest.MapFS{"index.html": {Data: []byte("<p>head</p>" + static.Given + "<p>tail</p>")}})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/?x=1", nil)
	r.Header.Set("Cookie", "who=alice")
	r.Header.Set("If-None-Match", "*")
	r.Header.Set("Sec-Fetch-Site", "none")
	w := httptest.NewRecorder()
	f.ServeWith(w, r, static.Ahead{API: api, Paths: paths, Patience: time.Second})
	body, _ := io.ReadAll(w.Result().Body)
	return string(body), w.Result().Header
}

func TestAnswersComeWithThePageAndEndNoElementOfIt(t *testing.T) {
	text := "</script><!-- <script> & \u2028"
	page, header := given(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Cookie") != "who=alice" || r.Header.Get("Sec-Fetch-Site") != "same-origin" || r.Header.Get("If-None-Match") != "" || r.URL.RawQuery != "" {
			t.Errorf("%s was asked with %v", r.URL, r.Header)
		}
		out := json.NewEncoder(w)
		out.SetEscapeHTML(false)
		_ = out.Encode(map[string]string{"path": r.URL.Path, "text": text})
	}, "/me", "/list")
	if header.Get("Cache-Control") != "no-store" || header.Get("ETag") != "" {
		t.Errorf("one person's page may be kept: %v", header)
	}
	if !strings.HasPrefix(page, "<p>head</p>") || !strings.HasSuffix(page, "<p>tail</p>") || strings.Count(page, "</script>") != 2 || strings.Contains(page, "<!--") {
		t.Errorf("got %s", page)
	}
	_, block, _ := strings.Cut(page, `data-given="/list"`)
	_, block, _ = strings.Cut(block, ">")
	raw, _, _ := strings.Cut(block, "</script>")
	var got struct{ Path, Text string }
	if err := json.Unmarshal([]byte(raw), &got); err != nil || got.Path != "/list" || got.Text != text {
		t.Errorf("got %+v, %v of %s", got, err, raw)
	}
}

func TestNothingIsAskedForSomeoneUnknown(t *testing.T) {
	var asked []string
	page, _ := given(t, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("{}"))
	}, "/me", "/list")
	if len(asked) != 1 || strings.Contains(page, "<script") {
		t.Errorf("asked for %v: %s", asked, page)
	}
}

// What is late, refused, broken or no JSON is left to the page.
func TestPageDoesNotWaitForWhatIsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		page, _ := given(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/late":
				<-r.Context().Done()
			case "/refused":
				w.WriteHeader(http.StatusForbidden)
			case "/broken":
				_, _ = w.Write([]byte(`{"half"`))
				panic(http.ErrAbortHandler)
			case "/text":
				_, _ = w.Write([]byte("words"))
				return
			case "/large":
				_, _ = w.Write([]byte(`"` + strings.Repeat("x", 1<<20) + `"`))
				return
			}
			_, _ = w.Write([]byte("{}"))
		}, "/me", "/late", "/refused", "/broken", "/text", "/large", "/list")
		if took := time.Since(begun); took != time.Second {
			t.Errorf("it took %v", took)
		}
		for path, want := range map[string]bool{"/late": false, "/refused": false, "/broken": false, "/text": false, "/large": false, "/me": true, "/list": true} {
			if strings.Contains(page, `"`+path+`"`) != want {
				t.Errorf("%s is given: %t, want %t", path, !want, want)
			}
		}
	})
}
