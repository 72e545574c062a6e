// Package index builds, stores and opens the index of one repository: which terms
// are in which chunks of which files, and the files' text. It owns the walk over a
// folder, the format on disk and its version, what an update may reuse, and the
// atomic replacement of one index by the next. It knows no query and no person.
// Start with Update in update.go, then Open in open.go.
package index
