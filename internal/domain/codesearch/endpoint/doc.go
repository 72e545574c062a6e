// Package endpoint is document 004's HTTP endpoint: POST /mcp/search with its
// validation, errors, headers and CORS, and the two health checks. It owns that
// wire format only: what is searched, and who a bearer token is, are functions
// that it is given. Start with Options in endpoint.go, then validate.go.
//
// A search:
//
//	curl -X POST http://localhost:3106/mcp/search \
//	  -H 'Content-Type: application/json' -H 'X-MCP-Version: 2' \
//	  -d '{"query": "where are cursors sealed", "limit": 5}'
//
// A preflight, answered with 204 and without a token:
//
//	curl -i -X OPTIONS http://localhost:3106/mcp/search -H 'Origin: https://example.com'
//
// An error, here 400 with {"error":{"code":"INVALID_QUERY","message":"Query must be at least 3 characters"}}:
//
//	curl -X POST http://localhost:3106/mcp/search -H 'Content-Type: application/json' -d '{"query":"ab"}'
package endpoint
