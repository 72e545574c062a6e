package mcpwire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ReadVersion returns the version that the metadata of a message's params declares, or empty:
// it declares none. One that is not supported is refused.
func ReadVersion(params []byte) (version string, refused *jsonrpc.Error) {
	version, given, refused := declared(params)
	if given && refused == nil {
		refused = supported(version)
	}
	return version, refused
}

// IsModern reports whether a message over HTTP is one of [ModernVersion], and whether its
// metadata declares a version. The header alone decides: metadata that declares another version
// is refused, and so is a version that is not supported. A header may be missing in handshake
// versions only.
func IsModern(header http.Header, params []byte) (modern, declares bool, refused *jsonrpc.Error) {
	version := header.Get(HeaderVersion)
	inMeta, given, refused := declared(params)
	switch {
	case refused != nil:
		return false, given, refused
	case given && version == "" && inMeta != ModernVersion && supported(inMeta) == nil:
	case given && version != inMeta:
		return false, true, &jsonrpc.Error{Code: mcp.CodeHeaderMismatch, Message: "The header " + HeaderVersion + " is not the version of the message's metadata, " + mcp.MetaKeyProtocolVersion + "."}
	case given || version != "":
		refused = supported(version)
	}
	return version == ModernVersion, given, refused
}

// declared is the version of a message's metadata, and whether it has one, which is a string.
func declared(params []byte) (version string, given bool, refused *jsonrpc.Error) {
	var members, meta map[string]json.RawMessage // by their exact names
	if len(params) == 0 || json.Unmarshal(params, &members) != nil || json.Unmarshal(members["_meta"], &meta) != nil {
		return "", false, nil
	}
	value, given := meta[mcp.MetaKeyProtocolVersion]
	if given && (value[0] != '"' || json.Unmarshal(value, &version) != nil) {
		return "", true, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The _meta field " + mcp.MetaKeyProtocolVersion + " is a string."}
	}
	return version, given, nil
}

// supported refuses a version that there is not, and names those that there are.
func supported(version string) *jsonrpc.Error {
	all := mcp.SupportedProtocolVersions()
	if slices.Contains(all, version) {
		return nil
	}
	data, _ := json.Marshal(mcp.UnsupportedProtocolVersionData{Supported: all, Requested: version[:min(len(version), maxID)]}) // texts alone
	return &jsonrpc.Error{Code: mcp.CodeUnsupportedProtocolVersion, Message: "This version of the protocol is not supported.", Data: data}
}

// WithoutVersion returns a message whose metadata declares no version.
func WithoutVersion(message []byte) ([]byte, error) {
	return edit(message, "params", func(params []byte) ([]byte, error) {
		return edit(params, "_meta", func(meta []byte) ([]byte, error) {
			var members map[string]json.RawMessage
			if err := json.Unmarshal(meta, &members); err != nil {
				return nil, err
			}
			delete(members, mcp.MetaKeyProtocolVersion)
			return encode(members)
		})
	})
}

// edit changes one member of an object.
func edit(object []byte, name string, change func([]byte) ([]byte, error)) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	changed, err := change(members[name])
	if err != nil {
		return nil, err
	}
	members[name] = changed
	return encode(members)
}

// encode writes an object without escapes for HTML: its values keep their bytes.
func encode(members map[string]json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(members)
	return bytes.TrimSpace(b.Bytes()), err
}

// DecodeName reads the value of the header [HeaderName], which is encoded if it cannot be
// sent as it is. ok is false if the encoding is not valid.
func DecodeName(value string) (name string, ok bool) {
	encoded, marked := strings.CutPrefix(value, "=?base64?")
	encoded, ended := strings.CutSuffix(encoded, "?=")
	if !marked || !ended {
		return value, true
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	return string(decoded), err == nil
}
