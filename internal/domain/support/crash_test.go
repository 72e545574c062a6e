package support_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"countersign.dev/internal/domain/support"
)

// victim names the file that a child process of this test works on until it is
// killed, and where in its change.
const victim = "COUNTERSIGN_TEST_VICTIM"

// runAsVictim closes a ticket, says so between the change and its receipt, or
// after both but before the end, and waits to be killed.
func runAsVictim() bool {
	path, stage := os.Getenv(victim), os.Getenv(victim+"_STAGE")
	if path == "" {
		return false
	}
	ctx := context.Background()
	s, err := support.OpenSQLite(ctx, path)
	if err != nil {
		panic(err)
	}
	row, _, err := s.Ticket(ctx, everything, "TICK-003")
	if err != nil {
		panic(err)
	}
	c := support.Closing{ID: row.ID, Version: row.Version, Resolution: "Killed in the middle.", At: day, Receipt: receipt("killed")}
	err = s.Change(ctx, func(ctx context.Context) error {
		if _, err := s.CloseTicket(ctx, everything, c); err != nil {
			return err
		}
		if stage == "before the receipt" {
			wait()
		}
		if err := s.Keep(ctx, c.Receipt); err != nil {
			return err
		}
		if stage == "before the end" {
			wait()
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
	wait()
	return true
}

func wait() {
	fmt.Println("now")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until killed
}

// TestKilledProcessLeavesBothOrNeither: kill -9 in the middle of a change.
func TestKilledProcessLeavesBothOrNeither(t *testing.T) {
	for _, c := range []struct {
		stage string
		want  bool
	}{{"before the receipt", false}, {"before the end", false}, {"after the end", true}} {
		t.Run(c.stage, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "support.db")
			fill(t, sqliteAt(t, path), sample())
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), victim+"="+path, victim+"_STAGE="+c.stage)
			in, _ := child.StdinPipe()
			defer in.Close()
			out, _ := child.StdoutPipe()
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "now\n" {
				t.Fatalf("the child said %q, %v", line, err)
			}
			_ = child.Process.Kill()
			_ = child.Wait()

			s := sqliteAt(t, path)
			row, _, err := s.Ticket(t.Context(), everything, "TICK-003")
			_, found, err2 := s.Find(t.Context(), ann, "killed")
			if err != nil || err2 != nil || (row.Status == "closed") != c.want || found != c.want {
				t.Errorf("status %s, receipt %v, %v, %v; want both: %v", row.Status, found, err, err2, c.want)
			}
		})
	}
}
