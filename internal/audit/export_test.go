package audit

// The stages of a rotation at which a test kills the process.
const (
	StageFull    = "the file is full"
	StageRenamed = "the file is renamed, and the new one is empty"
	StageHead    = "the new file has its first line, and the head does not name it"
)

// Stages lists them in their order.
func Stages() []string { return []string{StageFull, StageRenamed, StageHead} }

// StopInRotation calls at for each stage of the log's next rotation.
func StopInRotation(l *Log, at func(stage string)) {
	l.mu.Lock() // a signature that is late is no stage
	defer l.mu.Unlock()
	l.signing.timer.Stop()
	l.file = &stagedFile{l.file, at, 0}
	l.head = &stagedHead{l.head, at}
}

type stagedFile struct {
	file
	at    func(string)
	syncs int
}

// Sync is called before the file is renamed, and when there is a new one.
func (f *stagedFile) Sync() error {
	f.at(Stages()[f.syncs])
	f.syncs++
	return f.file.Sync()
}

type stagedHead struct {
	headFile
	at func(string)
}

func (h *stagedHead) WriteAt(p []byte, off int64) (int, error) {
	h.at(StageHead)
	return h.headFile.WriteAt(p, off)
}

// seal sets the event's hash and returns its line.
func seal(e *Event) []byte { return new(sealer).seal(e) }
