// Package httpx is what every HTTP surface of ours shares: handlers that return
// errors, the chain that every request runs through, bodies read strictly and
// within a limit, event streams, and a server that slow clients cannot exhaust.
//
// It knows faults and request ids, and nothing of tools, tokens or routes: what
// an error looks like on the wire is the surface's choice. Start with [Surface].
package httpx
