package mcpserver_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// client is an MCP client in a page: it reads where to get a token, begins a session
// and lists the tools in it, and lists them once more without a session.
const client = `(async (mcp) => {
	const send = async (headers, message) => {
		const response = await fetch(mcp, {method: "POST", headers: {"Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers},
			body: JSON.stringify({jsonrpc: "2.0", ...message})});
		const text = await response.text();
		return {response, message: text && JSON.parse(text.includes("data: ") ? text.split("data: ")[1] : text)};
	};
	const stranger = await send({}, {id: 1, method: "ping"});
	const token = {Authorization: "Bearer alice"};
	const about = {protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {name: "page", version: "1"}};
	const begun = await send(token, {id: 2, method: "initialize", params: about});
	const session = {...token, "Mcp-Session-Id": begun.response.headers.get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"};
	await send(session, {method: "notifications/initialized"});
	const listed = await send(session, {id: 3, method: "tools/list"});
	const key = "io.modelcontextprotocol/";
	const stateless = await send({...token, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"},
		{id: 4, method: "tools/list", params: {_meta: {[key + "protocolVersion"]: "2026-07-28", [key + "clientCapabilities"]: {}}}});
	return [stranger.response.headers.get("WWW-Authenticate"), begun.message.result.serverInfo.name, String(listed.message.result.tools.length), String(stateless.message.result.tools.length)];
})(%q)`

// TestClientInAPageOfAnotherOriginConnects, where that origin is allowed, with a
// real browser between them.
func TestClientInAPageOfAnotherOriginConnects(t *testing.T) {
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>A client</title><link rel=icon href=data:,>"))
	}))
	t.Cleanup(page.Close)
	h := open(t, func(o *mcpserver.Options) { o.AllowedOrigins, o.Scopes = []string{page.URL}, []string{"mcp"} })
	p := browsertest.New(t)
	p.Open(page.URL)
	got := browsertest.Eval[[]string](p, fmt.Sprintf(client, h.URL+"/mcp"))
	if diff := cmp.Diff([]string{`Bearer scope="mcp"`, "office", "7", "7"}, got); diff != "" {
		t.Errorf("a client in a page (-want +got):\n%s", diff)
	}
}
