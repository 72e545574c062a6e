// Package embedded starts the engines of a demo and of tests: a private
// PostgreSQL as a child process, and a Redis inside the process; and it opens
// the private folder that keeps a demo's data. The development identity issuer is its own package, issuer.
//
// It knows no table, no key and no account; it returns addresses. It is not
// used in production. Start reading at [StartPostgres].
package embedded
