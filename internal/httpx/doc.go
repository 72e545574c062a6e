// Package httpx is what every HTTP surface shares: handlers that return errors,
// the middleware of every request, strict reading of bodies, server-sent events,
// and a server that slow clients cannot exhaust.
//
// It knows neither the routes nor the shape of an error on the wire: each
// surface has an [ErrorWriter] of its own. Start there.
package httpx
