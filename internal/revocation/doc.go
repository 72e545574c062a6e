// Package revocation knows whose tokens no longer count: single tokens that were
// revoked or signed out, people whose sign-ins were revoked, and accounts that
// have ended.
//
// The list is kept in Redis by a small interface that package state has. Every
// process holds a copy of it, which one read a second keeps at most two seconds
// old, so that a request asks no Redis. A process that cannot read the list
// rejects every request once its copy is older than [Grace]. Start with [List].
package revocation
