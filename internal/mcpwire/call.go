package mcpwire

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Call is a tools/call. Its byte fields are spans of the message.
type Call struct {
	ID     []byte // a plain string or an integer, as it was written
	Tool   string
	Args   []byte // an object
	Trace  string // the traceparent of its metadata, or empty
	Modern bool   // the metadata is that of [ModernVersion]
}

// maxID bounds the id of a call, in bytes; the SDK reads longer ones.
const maxID = 100

var noArgs = []byte("{}")

// ReadCall reads a message that is strict JSON. ok is false unless it is a
// tools/call whose every member is understood: no progress, no answers to earlier
// questions, no metadata that changes how it is answered. named is what its header
// calls the tool, or empty.
func ReadCall(message []byte, named string) (c Call, ok bool) {
	var version, method, params []byte
	m := membersOf(message)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case "jsonrpc":
			version = value
		case "method":
			method = value
		case "id":
			c.ID = value
		case "params":
			params = value
		default:
			return c, false
		}
	}
	if !m.ok || string(version) != `"2.0"` || string(method) != `"`+MethodCall+`"` || !plainID(c.ID) {
		return c, false
	}
	return c, c.readParams(params, named)
}

func (c *Call) readParams(params []byte, named string) bool {
	c.Args = noArgs
	m := membersOf(params)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case "name":
			tool, ok := text(value)
			if !ok {
				return false
			}
			if c.Tool = named; string(tool) != named {
				c.Tool = string(tool)
			}
		case "arguments":
			if !isObject(value) {
				return false
			}
			c.Args = value
		case "_meta":
			if !c.readMeta(value) {
				return false
			}
		default:
			return false
		}
	}
	return m.ok && c.Tool != ""
}

// readMeta reads the metadata of a call. Names of others than MCP's say nothing to
// us and are passed over.
func (c *Call) readMeta(meta []byte) bool {
	var version, capabilities []byte
	m := membersOf(meta)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case mcp.MetaKeyProtocolVersion:
			version = value
		case mcp.MetaKeyClientCapabilities:
			capabilities = value
		case mcp.MetaKeyClientInfo:
			if !plainInfo(value) {
				return false
			}
		case "traceparent":
			trace, ok := text(value)
			if !ok {
				return false
			}
			c.Trace = string(trace)
		case "progressToken", "io.modelcontextprotocol/logLevel":
			return false
		}
	}
	if !m.ok {
		return false
	}
	if version == nil && capabilities == nil {
		return true
	}
	c.Modern = true
	return string(version) == `"`+ModernVersion+`"` && plainCapabilities(capabilities)
}

// plainInfo reports whether what a client says of itself is made of texts alone.
// Icons, for one, are left to the SDK.
func plainInfo(info []byte) bool {
	m := membersOf(info)
	for name, value, more := m.next(); more; name, value, more = m.next() {
		switch string(name) {
		case "name", "title", "version", "websiteUrl":
		default:
			return false
		}
		if value[0] != '"' {
			return false
		}
	}
	return m.ok
}

// plainCapabilities reports whether the SDK could read a client's capabilities.
// None of them changes how a call is answered.
func plainCapabilities(capabilities []byte) bool {
	return string(capabilities) == "{}" || isObject(capabilities) && json.Unmarshal(capabilities, new(mcp.ClientCapabilities)) == nil
}

// plainID reports whether every reader carries an id as it is written: a plain
// string, or an integer of at most 15 digits.
func plainID(id []byte) bool {
	if len(id) == 0 || len(id) > maxID {
		return false
	}
	if id[0] == '"' {
		_, ok := text(id)
		return ok
	}
	digits := id
	if digits[0] == '-' {
		digits = digits[1:]
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(digits) > 0 && len(digits) <= 15
}
