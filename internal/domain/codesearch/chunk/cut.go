package chunk

const (
	minLines = 5 // shorter neighbours are one chunk
	maxLevel = 3 // of nesting, up to which a definition begins a chunk of its own
)

const none = -1

// Definition is a name that a chunk declares.
type Definition struct {
	Name string // as written, without its package or type
	Of   string // the type that it belongs to; may be empty
	Line int
	Type bool // a type, class, module or interface
}

// cut is a line at which a chunk begins.
type cut struct {
	line        int // index, from 0
	doc         int // lines at the start that are its comment
	level       int // of nesting
	definitions []Definition
}
