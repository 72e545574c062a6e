package connected

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// inherited are the variables of this process that a child process gets. Keys of
// models and secrets of the configuration are not among them.
var inherited = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// environment is what a child process gets: a few variables of this process, and
// those of the file, which win.
func environment(getenv func(string) string, own []string) []string {
	var env []string
	for _, name := range inherited {
		if value := getenv(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return append(env, own...)
}

// find looks a program up in the PATH that it will have. What is not found is
// returned as it is, and fails when it is started.
func find(command string, env []string) string {
	if strings.ContainsRune(command, filepath.Separator) {
		return command
	}
	path := ""
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, "PATH="); ok {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, command)
		if info, err := os.Stat(file); filepath.IsAbs(file) && err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return command
}

// Limits of what a child process's standard error may fill of the log.
const (
	logLines  = 60
	logPeriod = time.Minute
)

// childLog writes a child process's standard error to the log, at most logLines
// in each logPeriod.
type childLog struct {
	log    *slog.Logger
	server string
	now    func() time.Time

	mu      sync.Mutex
	since   time.Time
	lines   int
	dropped int
}

func newChildLog(log *slog.Logger, server string, now func() time.Time) *childLog {
	if now == nil {
		now = time.Now
	}
	return &childLog{log: log, server: server, now: now}
}

func (c *childLog) line(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.now(); now.Sub(c.since) >= logPeriod {
		if c.dropped > 0 {
			c.log.Warn("lines of a connected server were left out", "server", c.server, "lines", c.dropped)
		}
		c.since, c.lines, c.dropped = now, 0, 0
	}
	if c.lines++; c.lines > logLines {
		c.dropped++
		return
	}
	c.log.Info("a connected server says", "server", c.server, "line", strings.ToValidUTF8(text, "�"))
}
