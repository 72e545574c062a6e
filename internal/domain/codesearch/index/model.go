package index

import (
	"time"

	"countersign.dev/internal/domain/codesearch/checkout"
	"countersign.dev/internal/domain/codesearch/chunk"
	"countersign.dev/internal/domain/codesearch/linguist"
)

// Meta describes an index as a whole.
type Meta struct {
	Name      string    `json:"name"`               // of the repository
	Root      string    `json:"root"`               // the folder that was indexed
	Commit    string    `json:"commit,omitempty"`   // checked out when it was; 40 hex digits, or empty outside of git
	Remote    string    `json:"remote,omitempty"`   // see [checkout.State], for links
	Within    string    `json:"within,omitempty"`   // the folder's path in the repository that it is a part of
	Changed   []string  `json:"changed,omitempty"`  // files that are not as in the commit, and folders (with a slash) that have only such; in order
	Unproven  bool      `json:"unproven,omitempty"` // no file is known to be as in the commit: git's files cannot be read, or too many are not
	Indexed   time.Time `json:"indexed"`
	Files     int       `json:"files"`
	Lines     int       `json:"lines"`
	Skipped   int       `json:"skipped"` // files that are binary, too large or unreadable
	Words     int       `json:"words"`   // in all chunks, for the average length
	Chunks    int       `json:"chunks"`
	Languages []string  `json:"languages"` // most lines first
}

// File is one file of the repository.
type File struct {
	Path     string // slashes, relative to the root
	Language string // as go-enry names it; empty: unknown
	Flags    linguist.Flag
	Lines    int
	Size     int // bytes
	Modified time.Time

	first, chunks int // its chunks
	words         int // in them; only of kept entries
	hash          [hashSize]byte
	blob          checkout.Name // of the text
	offset        int           // of its compressed text
	packed        int           // bytes of it
}

// Chunks returns the numbers of the file's chunks: from first, n of them.
func (f *File) Chunks() (first, n int) { return f.first, f.chunks }

// Chunk is one piece of a file.
type Chunk struct {
	File       int32
	Line, Last int32 // from 1, both inclusive
	Start, End int32 // bytes of the file's text
	Words      int32 // its length

	definitions int32 // offset of its definitions; -1: none
}

// Definition is a name that a chunk declares.
type Definition = chunk.Definition

// Payload is what a posting says of a term in a chunk.
type Payload uint8

// The parts of a payload: the number of occurrences, at most 15, and where the
// term is besides.
const (
	countMask Payload = 0x0f
	InName    Payload = 0x10 // in the name of a definition
	InDoc     Payload = 0x20 // in the comment of the definition
	InOwner   Payload = 0x40 // in the name of the type around it
)

// The parts of a payload in paths: where the part is, and of how many the file's
// own name consists.
const (
	InFolder   Payload = 0x01
	InBase     Payload = 0x02
	LastFolder Payload = 0x04 // the one that the file is in

	baseShift, folderShift = 3, 5
	maxParts               = 3
)

// BaseParts is of how many terms the file's own name consists, and FolderParts that
// of the folder that it is in: 3 is what more have, too.
func (p Payload) BaseParts() int { return int(p>>baseShift) & maxParts }

// FolderParts is described at [Payload.BaseParts].
func (p Payload) FolderParts() int { return int(p>>folderShift) & maxParts }

// The kinds of definitions: their payloads, too.
const (
	otherKind = 1
	typeKind  = 2
)

// IsType reports, of a name that is defined, whether one of the chunk's definitions of it is a type.
func (p Payload) IsType() bool { return p&typeKind != 0 }

// Count is how often the term is in the chunk, at most 15.
func (p Payload) Count() int { return int(p & countMask) }

const (
	hashSize    = 16
	maxCount    = 15
	maxFileSize = 1 << 20 // bytes; larger files are data
)
