// Package tasks is the task server: tasks, what they depend on, and the entities that
// they are about, in workspaces with one SQLite file each. Its tools, their inputs and
// the shapes of their results are those of document 002.
//
// It knows no wire format (package dialect), no SQL (package store) and no path on
// disk but a workspace's (package workspace). Start with tools.go, then [Server].
package tasks
