package embedded_test

import (
	"bufio"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/testkit"
)

// TestRedisKeysExpire uses the protocol directly and waits on the wall clock,
// because the keys must expire by it.
func TestRedisKeysExpire(t *testing.T) {
	r, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	conn, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	say := func(command string) string {
		fmt.Fprintf(conn, "%s\r\n", command)
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	for _, command := range []string{"*1\r\n$4\r\nPING", "*2\r\n$3\r\nGET\r\n$1\r\nk", "*2\r\n$4\r\nAUTH\r\n$5\r\nwrong"} {
		if got := say(command); !strings.HasPrefix(got, "-NOAUTH") && !strings.HasPrefix(got, "-WRONGPASS") {
			t.Errorf("without the password: got %q to %q, want a refusal", got, command)
		}
	}
	address, err := url.Parse(r.URL())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := address.User.Password()
	if got := say(fmt.Sprintf("*2\r\n$4\r\nAUTH\r\n$%d\r\n%s", len(password), password)); got != "+OK" {
		t.Fatalf("with the password: got %q", got)
	}
	if got := say("*5\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n$2\r\nPX\r\n$2\r\n30"); got != "+OK" {
		t.Fatalf("got %q", got)
	}
	for deadline := time.Now().Add(testkit.Patience); time.Now().Before(deadline); {
		if say("*2\r\n$6\r\nEXISTS\r\n$1\r\nk") == ":0" {
			return
		}
	}
	t.Error("a key of 30 ms is still there")
}
