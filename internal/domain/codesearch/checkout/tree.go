package checkout

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"path"
	"strconv"
	"strings"
)

// Name is the beginning of git's id of a text.
type Name [20]byte

// Name is git's name of a text in the repository, or in most repositories where there is
// none.
func (c State) Name(src []byte) (b Name) {
	var h hash.Hash = sha1.New() // git's choice: it proves nothing about a text that was made to deceive
	if len(c.Commit) == 2*sha256.Size {
		h = sha256.New()
	}
	h.Write(append(strconv.AppendInt([]byte("blob "), int64(len(src)), 10), 0))
	h.Write(src)
	copy(b[:], h.Sum(nil))
	return b
}

// Text is a text in the folder.
type Text struct {
	Path string // slashes, relative to the folder
	Name Name
}

// ErrNoFolder reports a folder that the commit does not have.
var ErrNoFolder = errors.New("the commit has no such folder")

// Has reports for each text whether the commit has it at its path.
func (c State) Has(ctx context.Context, texts []Text) ([]bool, error) {
	t := tree{objects: openObjects(c.objects, len(c.Commit)/2), files: map[string]int{}, folders: map[string]bool{}, same: make([]bool, len(texts)), texts: texts}
	defer t.close()
	for i := range texts {
		t.files[texts[i].Path] = i
		for at := texts[i].Path; at != "." && !t.folders[path.Dir(at)]; {
			at = path.Dir(at)
			t.folders[at] = true
		}
	}
	id, err := hex.DecodeString(c.Commit)
	if err != nil {
		return t.same, err
	}
	text, err := t.read(ctx, id, commitObject)
	if err != nil {
		return t.same, err
	}
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if id, err = hex.DecodeString(strings.TrimPrefix(string(first), "tree ")); err != nil || 2*len(id) != len(c.Commit) {
		return t.same, errObject
	}
	for _, name := range c.Within {
		if id, err = t.below(ctx, id, name); err != nil {
			return t.same, err
		}
	}
	return t.same, t.walk(ctx, id, ".")
}

// tree compares the files of a commit with texts.
type tree struct {
	*objects
	files   map[string]int
	folders map[string]bool // those that have some of the files, and are not read yet
	texts   []Text
	same    []bool
}

// The modes of what a tree has, as git writes them.
const (
	folderMode = "40000"
	fileMode   = "100" // and the rights
)

// below is the id of a folder in a folder.
func (t *tree) below(ctx context.Context, id []byte, name string) (found []byte, _ error) {
	err := t.each(ctx, id, func(mode, has string, id []byte) error {
		if mode == folderMode && has == name {
			found = id
		}
		return nil
	})
	if err == nil && found == nil {
		err = ErrNoFolder
	}
	return found, err
}

// walk compares the files of a folder and those below it.
func (t *tree) walk(ctx context.Context, id []byte, folder string) error {
	return t.each(ctx, id, func(mode, name string, id []byte) error {
		at := path.Join(folder, name)
		if mode == folderMode && t.folders[at] {
			delete(t.folders, at) // git writes no name twice; a tree with many of one would take without end
			return t.walk(ctx, id, at)
		}
		if i, ok := t.files[at]; ok && strings.HasPrefix(mode, fileMode) {
			t.same[i] = bytes.Equal(t.texts[i].Name[:], id[:len(Name{})])
		}
		return nil
	})
}

// each calls fn with what a folder has.
func (t *tree) each(ctx context.Context, id []byte, fn func(mode, name string, id []byte) error) error {
	rest, err := t.read(ctx, id, treeObject)
	if err != nil {
		return err
	}
	for len(rest) > 0 {
		head, after, ok := bytes.Cut(rest, []byte{0})
		mode, name, named := strings.Cut(string(head), " ")
		if !ok || !named || len(after) < len(id) || name == "" || name == "." || name == ".." || strings.Contains(name, "/") {
			return errObject
		}
		if err := fn(mode, name, after[:len(id)]); err != nil {
			return err
		}
		rest = after[len(id):]
	}
	return nil
}
