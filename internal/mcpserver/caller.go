package mcpserver

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
)

// listTTL is how long a client may keep a list of tools. Short, because a role
// may change with the next token.
const listTTL = 5 * time.Second

func cacheable() mcp.Cacheable {
	return mcp.Cacheable{TTLMs: int(listTTL.Milliseconds()), CacheScope: "private"}
}

// The keys of a tool's _meta.
const (
	metaKind      = "countersign/kind"
	metaRoles     = "countersign/roles"
	metaUntrusted = "countersign/untrusted"
	metaFields    = "countersign/fields" // only to a gateway that fetches the catalogue
)

// withCaller puts the caller of this request into the context, in place of the
// caller of a session's first request. Without one it returns ctx unchanged.
func withCaller(ctx context.Context, extra *mcp.RequestExtra, meta mcp.Meta) (context.Context, *access.Principal, error) {
	c := callerOf(extra)
	if c.who == nil {
		return ctx, nil, fault.Unauthorized.New("The request has no caller.")
	}
	if c.names.Trace == "" {
		carried, _ := meta["traceparent"].(string)
		c.names.Trace = httpx.TraceID(carried)
	}
	return admission.With(access.With(telemetry.WithRequest(ctx, c.names), c.who), c.work), c.who, nil
}

// lister returns the caller of a list and a context that has them, or the JSON-RPC error
// by which the list is refused. Lists have one page, so every cursor is unknown.
func (s *Server) lister(ctx context.Context, extra *mcp.RequestExtra, meta mcp.Meta, cursor string) (context.Context, *access.Principal, error) {
	ctx, who, err := withCaller(ctx, extra, meta)
	if err == nil {
		err = gate.Permit(who, gate.Listing)
	}
	if err != nil {
		return ctx, nil, s.protocolError(ctx, err)
	}
	if cursor != "" {
		return ctx, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "unknown cursor: the list has one page"}
	}
	return ctx, who, nil
}

// protocolError makes a JSON-RPC error of what cannot be a tool's result: a
// failed list, a missing caller.
func (s *Server) protocolError(ctx context.Context, err error) error {
	f := fault.From(err)
	s.errors.LogCause(ctx, f)
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Error()}
}

// resultType is what a result that is whole says of itself in a version.
func resultType(version string) string {
	if version < modernVersion {
		return ""
	}
	return "complete"
}

// versionOf is the protocol version of a message: its own, or that of its session. A session
// begins with a handshake, and has the newest version of those when its client asked for
// another one.
func versionOf[P mcp.Params](req *mcp.ServerRequest[P]) string {
	version := req.ProtocolVersion()
	if req.Params.GetMeta()[mcp.MetaKeyProtocolVersion] == nil && !legacyVersions[version] {
		return newestHandshake
	}
	return version
}

// newestHandshake is the last protocol version with a handshake.
const newestHandshake = "2025-11-25"

// legacyVersions are the handshake versions that a client and the SDK agree on by
// naming them.
var legacyVersions = map[string]bool{"2024-11-05": true, "2025-03-26": true, linksVersion: true, newestHandshake: true}

// linksVersion is the first protocol version whose clients know links in answers.
const linksVersion = "2025-06-18"

// modernVersion is the first protocol version without a handshake.
const modernVersion = "2026-07-28"

// caller is the principal of one request, the ids of the request, and whether it gets no
// answer: then the response stays empty.
type caller struct {
	who       *access.Principal
	names     telemetry.Request
	cancelled *atomic.Bool
	work      *admission.Work
}

// unanswered reports whether a call gets no answer: its client has cancelled it, and it is
// recorded as that. What was recorded before the cancellation came is answered.
func unanswered(ctx context.Context, o result.Outcome) bool {
	f := o.Fault()
	return ctx.Err() != nil && f != nil && f.Code == fault.Cancelled
}

const callerKey = "countersign/caller"

// callerOf returns the caller of a request; zero when it has none.
func callerOf(extra *mcp.RequestExtra) caller {
	if extra == nil || extra.TokenInfo == nil {
		return caller{}
	}
	c, _ := extra.TokenInfo.Extra[callerKey].(caller)
	return c
}
