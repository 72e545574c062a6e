package supervise

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// argument makes an executable the supervisor.
const argument = "supervise-child"

// Asked reports whether the arguments of a process ask it to be the supervisor.
func Asked(args []string) bool { return len(args) > 2 && args[1] == argument }

// maxLine is how many bytes of one line of standard error are passed on.
const maxLine = 1024

// Command describes a program to run.
type Command struct {
	Path  string            // found in PATH of Env by the caller
	Args  []string          // without the program's own name; no shell reads them
	Dir   string            // working folder; empty: that of this process
	Env   []string          // the whole environment
	Said  func(line string) // takes each line of its standard error, cut at 1 KiB
	Grace time.Duration     // between the steps of End; 2 s when zero
}

// Process is a running program. End must be called.
type Process struct {
	Stdin  *os.File // with deadlines
	Stdout io.ReadCloser

	grace   time.Duration
	control io.WriteCloser
	done    chan struct{} // closed when everything has ended
	err     error         // of the program's end; read after done
	ending  sync.Once
}

// Start starts a program under a supervisor.
func Start(c Command) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	own, theirs, err := controlPipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command(self, append([]string{argument, c.Path}, c.Args...)...)
	cmd.Path = cmp.Or(runningExecutable, self)
	cmd.Dir, cmd.ExtraFiles, cmd.SysProcAttr = c.Dir, []*os.File{theirs}, ownGroup()
	cmd.Env = append([]string{}, c.Env...) // never nil, which would be the environment of this process
	p := &Process{control: own, grace: cmp.Or(c.Grace, 2*time.Second), done: make(chan struct{})}
	if err := p.start(cmd, c.Said); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return p, nil
}

// controlPipe is broken by the kernel when this process ends.
func controlPipe() (own, theirs *os.File, err error) {
	theirs, own, err = os.Pipe()
	return own, theirs, err
}

func (p *Process) start(cmd *exec.Cmd, said func(string)) (err error) {
	// Not cmd's own pipes, which Wait closes with the last words in them.
	theirInput, input, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirInput.Close()
	output, theirOutput, err := os.Pipe()
	if err != nil {
		return errors.Join(err, input.Close())
	}
	defer theirOutput.Close()
	words, theirWords, err := os.Pipe()
	if err != nil {
		return errors.Join(err, input.Close(), output.Close())
	}
	defer theirWords.Close()
	p.Stdin, p.Stdout, cmd.Stdin, cmd.Stdout, cmd.Stderr = input, output, theirInput, theirOutput, theirWords
	if err := cmd.Start(); err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", cmd.Args[2], err), input.Close(), output.Close(), words.Close())
	}
	go p.wait(cmd, words, said)
	return nil
}

// wait waits for the supervisor, and for the last words of its processes. It ends
// after all of them, unless it was killed itself: then one that left the program's
// group may keep its standard error open without end, and is not waited for.
func (p *Process) wait(cmd *exec.Cmd, words *os.File, said func(string)) {
	defer close(p.done)
	read := make(chan struct{})
	go func() { defer close(read); lines(words, said) }()
	p.err = cmd.Wait()
	timer := time.NewTimer(p.grace)
	defer timer.Stop()
	select {
	case <-read:
	case <-timer.C:
	}
	_ = words.Close()
	<-read
	_ = p.control.Close()
}

// lines passes lines on until the end of r.
func lines(r io.Reader, said func(string)) {
	b := bufio.NewReaderSize(r, maxLine)
	for {
		line, more, err := b.ReadLine()
		if err != nil {
			return
		}
		if said != nil {
			said(string(line))
		}
		for more && err == nil { // the rest of a long line is dropped
			_, more, err = b.ReadLine()
		}
	}
}

// Done is closed when the program and all that it started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is how the program ended; nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// End ends the program and all that it started: it closes the program's standard
// input, asks everything to terminate after the grace, and kills what is left
// after another. It returns when all have ended.
func (p *Process) End() {
	p.ending.Do(func() {
		_ = p.Stdin.Close()
		if p.endedWithin(p.grace) {
			return
		}
		_, _ = p.control.Write([]byte{terminate})
		if p.endedWithin(p.grace) {
			return
		}
		_ = p.control.Close() // the supervisor kills everything
	})
	<-p.done
	_ = p.Stdout.Close()
}

func (p *Process) endedWithin(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// terminate is the one byte that a supervisor is sent.
const terminate = 't'
