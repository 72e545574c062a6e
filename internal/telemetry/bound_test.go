package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"unicode/utf8"

	"countersign.dev/internal/access"
	"countersign.dev/internal/telemetry"
)

func TestLinesAreBounded(t *testing.T) {
	hostile := map[string]string{
		"digits": strings.Repeat("7", 900_000), "control": strings.Repeat("\x01", 50_000), "quotes": strings.Repeat(`"\`, 50_000),
		"bidi": strings.Repeat("\u202e", 50_000), "tags": strings.Repeat("\U000e0041", 50_000), "markup": strings.Repeat("<&>", 50_000),
		"not UTF-8": strings.Repeat("\xff\xfe", 50_000), "lines": strings.Repeat("\n", 50_000), "wide": strings.Repeat("漢", 50_000),
	}
	ctx := telemetry.WithRequest(t.Context(), telemetry.Request{ID: hostile["quotes"], Trace: hostile["control"]})
	ctx = access.With(ctx, access.NewPrincipal(access.Claims{Subject: "s", Username: hostile["bidi"]}))
	for format, handler := range map[string]func(w io.Writer) slog.Handler{
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
	} {
		for name, text := range hostile {
			var many []any
			for i := range 300 {
				many = append(many, fmt.Sprintf("key_%d", i), text)
			}
			for attrs, args := range map[string][]any{
				"one": {"path", text, "status", 200}, "an error": {"code", "X", "error", errors.New(text)}, "many": many, "many numbers": {slog.Group("g", many...), "n", 1},
				"a value": {"value", map[string]any{"a": text}}, "a list": {"list", []string{text, text}}, "a key": {text, 1}, "nothing": {"error", error(nil)},
			} {
				var out bytes.Buffer
				log := slog.New(telemetry.Handler{Handler: handler(&out)}).With("server", text)
				log.ErrorContext(ctx, text, args...)
				line := out.Bytes()
				if len(line) > telemetry.MaxLine || bytes.Count(line, []byte("\n")) != 1 || !utf8.Valid(line) {
					t.Errorf("%s, %s, %s: got %d bytes in %d lines", format, name, attrs, len(line), bytes.Count(line, []byte("\n")))
				}
				if format == "json" && !json.Valid(line) {
					t.Errorf("%s, %s: got %.300s, which is no JSON", name, attrs, line)
				}
				if !bytes.Contains(line, []byte("request_id")) || !bytes.Contains(line, []byte("principal")) {
					t.Errorf("%s, %s, %s: the line has no ids", format, name, attrs)
				}
			}
		}
	}
}

func TestOrdinaryLinesAreWhole(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(telemetry.Handler{Handler: slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})}).With("server", "hr")
	log.Info("request", "path", "/tools", "status", 200, "error", errors.New("größer"), slog.Group("g", "ok", true), "list", []string{"a"})
	want := `{"level":"INFO","msg":"request","server":"hr","path":"/tools","status":200,"error":"größer","g":{"ok":true},"list":["a"]}` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", &out, want)
	}
}

func TestClipCountsEncodedBytes(t *testing.T) {
	for _, text := range []string{"", "a", "äöü", strings.Repeat("a", 100), strings.Repeat("ä", 60), strings.Repeat("\x00", 30), strings.Repeat("<", 30), strings.Repeat("\U000e0041", 30)} {
		got := telemetry.Clip(text, 50)
		encoded, err := json.Marshal(got)
		if err != nil || len(encoded)-2 > 50 || !strings.HasPrefix(text, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q: got %q with %d bytes", text, got, len(encoded)-2)
		}
	}
	if got := telemetry.Clip("abc", 3); got != "abc" {
		t.Errorf("got %q, want a text that fits whole", got)
	}
}
