package app

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/quota"
)

// TestForgedKeysOfServersAreNoErrorOfOurs: somebody who can write to Redis can give any value to the
// quotas and heads that servers keep there. It is no error of ours, and only its own person
// is refused.
func TestForgedKeysOfServersAreNoErrorOfOurs(t *testing.T) {
	x := newRig(t, quota.Limits{Requests: 1000, Sessions: 1000}) // more than the test asks for, however long it takes
	do := x.redisClient(t)
	alice, eve := x.token(t, "alice.chen"), x.token(t, "eve.thompson")
	someone := "" // Frank's id
	work := func(who, token string, want ...int) {
		t.Helper()
		for _, q := range [][2]string{
			{"/api/mcp/hr/delete_employee", `{"employee_id":"` + someone + `","reason":"a test"}`}, {"/api/mcp/hr/list_employees", `{}`},
			{"/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"h","version":"1"}}}`},
			{"/api/query", `{"query":"List all employees"}`},
		} {
			status, text := x.send(t, "POST", q[0], token, q[1])
			if !slices.Contains(want, status) || strings.Contains(text, "INTERNAL_ERROR") || strings.Contains(text, "WRONGTYPE") {
				t.Errorf("%s, %s: got %d %.300s", who, q[0], status, text)
			}
		}
	}
	_, list := x.send(t, "POST", "/api/mcp/hr/list_employees", alice, `{"name":"Frank"}`)
	_, rest, _ := strings.Cut(list, `"employee_id":"`)
	someone, _, _ = strings.Cut(rest, `"`)
	work("alice", alice, http.StatusOK)
	if err := (auditHeads{x.pl.redis}).Publish(t.Context(), audit.SignedHead{Log: "other"}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"quota:" + string(quota.Pending), "quota:" + string(quota.Sessions), "quota:" + string(quota.Requests), "audit:heads"} {
		keys := do("KEYS", kind+"*")
		if len(keys) == 0 {
			t.Fatalf("no key of %s", kind)
		}
		for name, forge := range map[string][]string{
			"text": {"SET", "", "x"}, "number": {"SET", "", "1e400"}, "hash": {"HSET", "", "tokens", "nan", "at", "1e300"}, "list": {"LPUSH", "", "x"},
			"members": {"SADD", "", "x", "../../etc/passwd", strings.Repeat("y", 10_000)}, "places": {"ZADD", "", "inf", "x", "-inf", "y"},
		} {
			for _, key := range keys {
				do("DEL", key)
				forge[1] = key
				do(forge...)
			}
			work("alice with a "+kind+" as "+name, alice, http.StatusOK, http.StatusTooManyRequests, http.StatusServiceUnavailable)
			work("eve beside a "+kind+" as "+name, eve, http.StatusOK)
			_ = audit.NewAnchors(x.pl.audit, auditHeads{x.pl.redis}, x.pl.log).Exchange(t.Context()) // refused, or nothing to keep
			do(append([]string{"DEL"}, keys...)...)
		}
	}
	work("alice at the end", alice, http.StatusOK)
	if err := audit.NewAnchors(x.pl.audit, auditHeads{x.pl.redis}, x.pl.log).Exchange(t.Context()); err != nil {
		t.Errorf("heads at the end: %v", err)
	}
}

// redisClient speaks to the rig's Redis as somebody who can write to it. An answer is its
// elements.
func (x *rig) redisClient(t *testing.T) func(command ...string) []string {
	t.Helper()
	conn, err := net.Dial("unix", strings.TrimPrefix(x.redis, "unix://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	answers := bufio.NewReader(conn)
	line := func() (byte, string) {
		text, err := answers.ReadString('\n')
		must(t, err)
		return text[0], strings.TrimSpace(text[1:])
	}
	return func(command ...string) (elements []string) {
		t.Helper()
		_, err := fmt.Fprintf(conn, "*%d\r\n", len(command))
		must(t, err)
		for _, word := range command {
			_, err := fmt.Fprintf(conn, "$%d\r\n%s\r\n", len(word), word)
			must(t, err)
		}
		kind, text := line()
		if kind == '-' {
			t.Fatalf("%q: %s", command, text)
		}
		if kind != '*' {
			return nil
		}
		n, err := strconv.Atoi(text)
		must(t, err)
		for range n {
			_, size := line()
			length, err := strconv.Atoi(size)
			must(t, err)
			element := make([]byte, length+2)
			_, err = io.ReadFull(answers, element)
			must(t, err)
			elements = append(elements, string(element[:length]))
		}
		return elements
	}
}
