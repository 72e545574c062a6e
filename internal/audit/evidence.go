package audit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Evidence is what logs are compared with, besides each other.
type Evidence struct {
	Keys   []string     // trusted public keys; none: those that the logs name themselves
	Expect *Head        // an event that one of the logs must have
	Heads  []SignedHead // from Redis
	Some   bool         // of the logs alone are given: the others are not missing
}

// Result is the report of one log.
type Result struct {
	Path    string
	Signer  string // the key that signed the head; empty: it is not signed
	Missing bool   // there is no file of it
	Report
}

// VerifyAll checks logs by themselves, against the evidence, and against the
// heads that they keep of each other. A path is a log, with the files that were
// rotated from it; a renamed file that another one continues; or a folder of logs.
func VerifyAll(paths []string, ev Evidence) ([]Result, error) {
	logs, err := findLogs(paths)
	if err != nil {
		return nil, err
	}
	for _, l := range logs { // what others say first: a log that is written meanwhile only grows
		if err := l.collect(); err != nil {
			return nil, err
		}
	}
	attestations := attestationsOf(logs, ev)
	results := make([]Result, len(logs))
	for i, l := range logs {
		if results[i], err = l.verify(attestations[l.identity.ID], ev); err != nil {
			return nil, err
		}
	}
	if !ev.Some {
		results[0].Remarks = append(results[0].Remarks, missingLogs(logs, ev)...)
	}
	if ev.Expect != nil {
		expect(results, logs, *ev.Expect)
	}
	return results, nil
}

// logFiles are the files of one log, the oldest first.
type logFiles struct {
	path     string
	files    []string // none: the log is missing
	current  bool     // there is a file at the path
	first    Event    // of the oldest file
	last     Head     // of the newest
	identity Identity
	keys     []string // that the log names
	anchors  []SignedHead
	expected bool
	headless bool
	head     storedHead
}

// findLogs reads the paths, and joins the files that continue each other.
func findLogs(paths []string) ([]*logFiles, error) {
	var logs []*logFiles
	for _, path := range paths {
		found, err := expand(path)
		if err != nil {
			return nil, fmt.Errorf("verifying the audit log: %w", err)
		}
		for _, p := range found {
			segments, err := segmentsOf(p)
			if err != nil {
				return nil, err
			}
			_, err = os.Stat(p)
			if !errors.Is(err, os.ErrNotExist) { // another error is that of opening it
				segments = append(segments, p)
			}
			logs = append(logs, &logFiles{path: p, files: segments, current: err == nil})
		}
	}
	for _, l := range logs {
		if err := l.ends(); err != nil {
			return nil, err
		}
	}
	return join(logs), nil
}

// expand lists the logs of a folder: the files that have a head.
func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, nil //nolint:nilerr // a missing file is an error when it is opened
	}
	heads, err := filepath.Glob(escapeGlob(path) + "/*.head")
	if err == nil && len(heads) == 0 {
		err = fmt.Errorf("the folder %s has no audit log", path)
	}
	for i := range heads {
		heads[i] = strings.TrimSuffix(heads[i], ".head")
	}
	return heads, err
}

// ends reads the first and the last event.
func (l *logFiles) ends() error {
	if len(l.files) == 0 {
		return nil
	}
	first, err := os.Open(l.files[0])
	if err != nil {
		return fmt.Errorf("verifying the audit log: %w", err)
	}
	defer first.Close()
	if line, err := lines(first).next(); err == nil {
		l.first, _ = parse(line.text)
	}
	last, err := os.Open(l.files[len(l.files)-1])
	if err != nil {
		return fmt.Errorf("verifying the audit log: %w", err)
	}
	defer last.Close()
	if t, err := readTail(last); err == nil { // a broken tail continues nothing, and is reported later
		l.last = t.last
	}
	return nil
}

// join puts a renamed file before the one that continues it.
func join(logs []*logFiles) []*logFiles {
	for again := true; again; {
		again = false
		for _, l := range logs {
			at := slices.IndexFunc(logs, func(before *logFiles) bool {
				return before != l && l.first.Seq > 1 && before.last.Seq == l.first.Seq-1 && before.last.Hash == l.first.Prev
			})
			if at >= 0 {
				l.files, l.first = append(slices.Clone(logs[at].files), l.files...), logs[at].first
				logs, again = slices.Delete(logs, at, at+1), true
				break
			}
		}
	}
	return logs
}

// open opens all files as one.
func (l *logFiles) open() (io.Reader, func(), error) {
	var all []io.Reader
	var opened []*os.File
	end := func() {
		for _, f := range opened {
			_ = f.Close()
		}
	}
	for _, path := range l.files {
		f, err := os.Open(path)
		if err != nil {
			end()
			return nil, nil, fmt.Errorf("verifying the audit log: %w", err)
		}
		opened, all = append(opened, f), append(all, f)
	}
	return io.MultiReader(all...), end, nil
}

// collect reads whose log it is, and the heads of others in it.
func (l *logFiles) collect() error {
	r, end, err := l.open()
	if err != nil {
		return err
	}
	defer end()
	readEvents(r, func(e Event, err error) bool {
		switch {
		case err != nil:
			return false // reported by verify
		case e.Kind == Opened && e.Log != nil:
			l.identity = *e.Log
			if e.Log.Key != "" && !slices.Contains(l.keys, e.Log.Key) {
				l.keys = append(l.keys, e.Log.Key)
			}
		case e.Kind == Anchored && e.Anchor != nil:
			l.anchors = append(l.anchors, *e.Anchor)
		}
		return true
	})
	head, err := readHead(l.path)
	if err != nil && !errors.Is(err, errNoHead) {
		return fmt.Errorf("verifying the audit log: %w", err)
	}
	l.head, l.headless = head, err != nil
	l.identity.ID = cmp.Or(l.identity.ID, head.Log)
	return nil
}

// attestationsOf lists what others say about each log, by its id and the event.
func attestationsOf(logs []*logFiles, ev Evidence) map[string]map[uint64][]attestation {
	all := map[string]map[uint64][]attestation{}
	add := func(h SignedHead, by string) {
		if all[h.Log] == nil {
			all[h.Log] = map[uint64][]attestation{}
		}
		if c := (attestation{h.Hash, by}); !slices.Contains(all[h.Log][h.Seq], c) {
			all[h.Log][h.Seq] = append(all[h.Log][h.Seq], c)
		}
	}
	for _, l := range logs {
		if s := l.head.signed; s.Signature != "" && s.Head() != l.head.Head() { // of an earlier end
			s.Log = l.identity.ID
			add(s, "The signature of its head")
		}
		for _, h := range l.anchors {
			if h.trusted(ev.Keys) {
				add(h, "The log of "+cmp.Or(l.identity.Name, l.path))
			}
		}
	}
	for _, h := range ev.Heads {
		if h.trusted(ev.Keys) {
			add(h, "Redis")
		}
	}
	return all
}

// Signed reports whether a head is signed by the key that it names.
func (h SignedHead) Signed() bool { return h.check() == nil }

// trusted reports whether a head is signed, by one of the keys when there are
// some: anyone who can write to Redis can make others.
func (h SignedHead) trusted(keys []string) bool {
	if len(keys) > 0 && !slices.Contains(keys, h.Key) {
		return false
	}
	return h.check() == nil
}

// verify reads a log and compares it with what others say.
func (l *logFiles) verify(attestations map[uint64][]attestation, ev Evidence) (Result, error) {
	r, end, err := l.open()
	if err != nil {
		return Result{}, err
	}
	defer end()
	if len(l.files) == 0 {
		return l.missing(), nil
	}
	v := verifier{head: l.head.Head(), attestations: attestations, watch: ev.Expect, unsigned: unsigned{after: l.head.signed.Head()}}
	if err := v.read(r); err != nil {
		return Result{}, err
	}
	if lost := l.head.Seq; !l.current && lost > v.report.Events && v.report.Broken == nil {
		v.head, v.lost = Head{}, lost
		v.remark(Lost, v.report.Events+1, fmt.Sprintf("The file %s is missing: its head names event %d, and what events %d to %d were cannot be known.", l.path, lost, v.report.Events+1, lost))
	}
	v.end()
	l.expected = v.met
	result := Result{Path: l.path, Report: v.report}
	if l.headless && result.Broken == nil {
		result.Broken = &Broken{result.Events + 1, NoHead, "PATH.head is missing or unreadable; events may have been removed here."}
		return result, nil
	}
	if l.head.Unwritten > 0 {
		result.Remarks = append(result.Remarks, Remark{l.head.Seq + 1, fmt.Sprintf("%d events after event %d could not be written. What they were cannot be known.", l.head.Unwritten, l.head.Seq), Unwritten})
	}
	result.Signer = l.signer(ev.Keys)
	if result.Signer == "" && (len(ev.Keys) > 0 || len(l.keys) > 0 || l.head.signed.Signature != "") {
		result.Remarks = append(result.Remarks, Remark{l.head.Seq, "The head is signed by none of the trusted keys: who wrote this log cannot be known.", Contradicted})
	}
	if result.Signer != "" && v.unsigned.last > l.head.signed.Seq {
		result.Remarks = append(result.Remarks, l.notSigned(v.unsigned))
	}
	return result, nil
}

// notSigned is what lines after the signed head say. A log with the same signature as before they
// were read had no start meanwhile.
func (l *logFiles) notSigned(u unsigned) Remark {
	if now, err := readHead(l.path); u.added() && err == nil && now.signed == l.head.signed {
		return Remark{u.after.Seq + 1, fmt.Sprintf("Events %d to %d were added after the process had ended in order.", u.after.Seq+1, u.last), Damaged}
	}
	return Remark{u.last, fmt.Sprintf("Events after number %d are not signed: the process was writing, or was killed.", u.after.Seq), Whole}
}

// missing is the result of a log of which there is no file.
func (l *logFiles) missing() Result {
	text := fmt.Sprintf("The log %s is missing, and so is its head: what events it had cannot be known.", l.path)
	if !l.headless {
		text = fmt.Sprintf("The log %s is missing: its head names %d events, and what they were cannot be known.", l.path, l.head.Seq)
	}
	return Result{Path: l.path, Missing: true, Report: Report{Log: l.identity, Remarks: []Remark{{0, text, Lost}}}}
}

// signer is the key that signed the head: one of the trusted keys, or without any
// one of those that the log names.
func (l *logFiles) signer(trusted []string) string {
	if len(trusted) == 0 {
		trusted = l.keys
	}
	for _, key := range trusted {
		if l.head.signed.signedBy(key) {
			return key
		}
	}
	return ""
}

// missingLogs names the logs that others keep heads of, and that were not given.
func missingLogs(logs []*logFiles, ev Evidence) (remarks []Remark) {
	newest := map[string]SignedHead{}
	see := func(h SignedHead) {
		given := slices.ContainsFunc(logs, func(l *logFiles) bool { return l.identity.ID == h.Log })
		if !given && h.trusted(ev.Keys) && newest[h.Log].Seq < h.Seq {
			newest[h.Log] = h
		}
	}
	for _, l := range logs {
		for _, h := range l.anchors {
			see(h)
		}
	}
	for _, h := range ev.Heads {
		see(h)
	}
	for id, h := range newest {
		remarks = append(remarks, Remark{0, fmt.Sprintf("The log %s of %s had %d events and no file of it was given: what they were cannot be known.", id, cmp.Or(h.Name, "another process"), h.Seq), Lost})
	}
	slices.SortFunc(remarks, func(a, b Remark) int { return cmp.Compare(a.Text, b.Text) })
	return remarks
}

// expect requires an event of one of the logs.
func expect(results []Result, logs []*logFiles, want Head) {
	if !slices.ContainsFunc(logs, func(l *logFiles) bool { return l.expected }) {
		results[0].Remarks = append(results[0].Remarks, Remark{want.Seq, fmt.Sprintf("The expected head %s is in none of these logs: they were cut or rewritten.", want), Contradicted})
	}
}

// Verify checks the log at path, with the files that were rotated from it,
// against its chain and its head, also while a Log is writing it. An error means
// that it could not be read.
func Verify(path string) (Report, error) {
	results, err := VerifyAll([]string{path}, Evidence{})
	if err != nil {
		return Report{}, err
	}
	return results[0].Report, nil
}
