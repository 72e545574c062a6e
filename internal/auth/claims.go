package auth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/strictjson"
)

// claims is the body of a token: names are case-sensitive, and none is
// repeated.
type claims map[string]any

func readClaims(payload []byte) (claims, error) {
	var c claims
	if err := strictjson.Unmarshal(payload, &c); err != nil {
		return nil, fmt.Errorf("read the claims: %w", err)
	}
	if c == nil { // the JSON null
		return nil, errClaim
	}
	return c, nil
}

func (c claims) text(name string) string {
	s, _ := c[name].(string)
	return s
}

func (c claims) required(name string) (string, error) {
	if s := c.text(name); s != "" {
		return s, nil
	}
	return "", fmt.Errorf("%w: %s", errClaim, name)
}

// subject reads sub, which OpenID Connect bounds at 255 ASCII characters. It
// becomes part of keys and log lines, so control characters are refused.
func (c claims) subject() (string, error) {
	sub, err := c.required("sub")
	odd := func(r rune) bool { return r < ' ' || r == 0x7f }
	if err != nil || len(sub) > 255 || strings.ContainsFunc(sub, odd) {
		return "", fmt.Errorf("%w: sub", errClaim)
	}
	return sub, nil
}

// lastSecond is the last of the year 9999: times in JSON and in RFC 3339 have four digits of a year.
const lastSecond = 253402300799

// date reads a NumericDate. An absent one is the zero time.
func (c claims) date(name string) (time.Time, error) {
	v, there := c[name]
	if !there {
		return time.Time{}, nil
	}
	number, _ := v.(json.Number)
	seconds, err := number.Float64()
	if err != nil || seconds <= 0 || seconds > lastSecond {
		return time.Time{}, fmt.Errorf("%w: %s", errClaim, name)
	}
	return time.Unix(int64(seconds), 0), nil
}

// texts reads a list of strings, or a single string as in aud.
func (c claims) texts(name string) []string { return texts(c[name]) }

func texts(v any) []string {
	if s, ok := v.(string); ok {
		return []string{s}
	}
	list, _ := v.([]any)
	out := make([]string, 0, len(list))
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// walk follows a path of names through nested objects.
func (c claims) walk(path []string) any {
	var at any = map[string]any(c)
	for _, name := range path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[name]
	}
	return at
}

// Leeway is how far two clocks may differ before a token is refused for its
// times.
const Leeway = 10 * time.Second

// check verifies the claims that tokens of every issuer must have. It returns
// the expiry and the accepted audiences of the token.
func (c claims) check(now time.Time, issuer string, audiences []string) (time.Time, []string, error) {
	if c.text("iss") != issuer {
		return time.Time{}, nil, invalid(errIssuer)
	}
	expiry, err := c.checkTimes(now)
	if err != nil {
		return time.Time{}, nil, err
	}
	matched := slices.DeleteFunc(c.texts("aud"), func(a string) bool { return !slices.Contains(audiences, a) })
	if len(matched) == 0 {
		return time.Time{}, nil, elsewhere(errAudience)
	}
	return expiry, matched, nil
}

func (c claims) checkTimes(now time.Time) (time.Time, error) {
	expiry, err := c.date("exp")
	if err != nil || expiry.IsZero() {
		return time.Time{}, invalid(fmt.Errorf("%w: exp", errClaim))
	}
	if !now.Before(expiry.Add(Leeway)) {
		return time.Time{}, expired(errExpired)
	}
	for _, name := range []string{"nbf", "iat"} {
		start, err := c.date(name)
		if err != nil {
			return time.Time{}, invalid(err)
		}
		if start.After(now.Add(Leeway)) {
			return time.Time{}, notYet(errNotYet)
		}
	}
	return expiry, nil
}

// wellFormed drops role and group names that could be mistaken for several when
// a store writes them into a list.
func wellFormed(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool {
		odd := func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`,"'{}\`, r) }
		return name == "" || len(name) > 256 || strings.ContainsFunc(name, odd)
	})
}
