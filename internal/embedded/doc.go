// Package embedded starts the engines that a demo and the tests need and that
// nobody installed: a private PostgreSQL as a child process, and a Redis inside
// the process. The development identity issuer is its own package, issuer.
//
// It knows no table, no key and no user of ours; it hands out addresses. In
// production nothing of it runs. Start reading at [StartPostgres].
package embedded
