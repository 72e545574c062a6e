package dialect

import (
	"testing"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
)

// TestPeopleReadWhatMayBeGiven: who asks for a value that there is none of reads which
// there are, in words.
func TestPeopleReadWhatMayBeGiven(t *testing.T) {
	for want, err := range map[string]error{
		`"open" is no valid status. It must be to do, in progress, blocked, done, cancelled or to be deleted.`:                   NoFilter("status", "open", record.Statuses()),
		`"person" is no valid entity type. It must be file or other.`:                                                            NoFilter("entity_type", "person", record.EntityTypes()),
		`Task 7 is to do and cannot become done. From to do a task can become in progress, blocked, cancelled or to be deleted.`: record.CheckTransition(7, record.Todo, record.Done),
		`There is no task 7 in this workspace. Ask which there are.`:                                                             record.NotFound("task", 7),
	} {
		if got := fault.Sentence(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
