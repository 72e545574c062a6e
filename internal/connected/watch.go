package connected

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"countersign.dev/internal/upstream"
)

// watchPeriod is how often the files are looked at.
const watchPeriod = 2 * time.Second

// Host is connected to the servers. Package upstream has it.
type Host interface {
	Replace(servers []upstream.Server)
	Recheck()
}

// Watch reads the files again when they change and on SIGHUP, until the context
// ends.
func (s *Set) Watch(ctx context.Context, h Host) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	tick := time.NewTicker(watchPeriod)
	defer tick.Stop()
	file, lock := stateOf(s.o.File), stateOf(s.o.Lock)
	for {
		asked := false
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			asked = true
		case <-tick.C:
		}
		if now := stateOf(s.o.File); asked || now != file {
			file = now
			s.reloadLogged(h)
		}
		if now := stateOf(s.o.Lock); asked || now != lock {
			lock = now
			h.Recheck()
		}
	}
}

// stateOf changes when a file is written or replaced.
func stateOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "missing"
	}
	return fmt.Sprint(info.ModTime().UnixNano(), info.Size())
}

func (s *Set) reloadLogged(h Host) {
	if err := s.Reload(h); err != nil {
		s.o.Log.Error("the file of connected servers was not read again: the servers stay as they are", "error", err)
		return
	}
	s.o.Log.Info("the file of connected servers was read again", "servers", len(s.current().Servers))
}

// Reload reads the file again and replaces the servers. A file that is not valid
// changes nothing.
func (s *Set) Reload(h Host) error {
	file, err := read(s.o)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.file = file
	s.mu.Unlock()
	s.Warn()
	h.Replace(s.Servers())
	return nil
}
