// Package record holds what a task server keeps: tasks, entities and their links,
// with the rules that need no store (statuses, sizes) and the codes of what goes
// wrong. It knows no SQL, no wire format but the names of fields, and no person.
// Start with [Task].
package record
