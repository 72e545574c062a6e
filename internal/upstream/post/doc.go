// Package post sends single requests to one server over HTTP/1.1, each at most
// once, and reads the answers whole.
//
// It exists because a call through the gateway is mostly HTTP: [Client] writes and
// reads on the caller's goroutine, where http.Transport passes a request to two
// others and makes maps of headers that are not read. [Transport] sends the same
// requests by an http.RoundTripper; both pass one contract suite.
//
// It knows neither MCP nor tokens, follows no redirect, keeps no cookie, uses no
// proxy, and asks for no compression. Start with [Sender].
package post
