package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The format on disk: a header, then sections, all integers little endian.
//
//	magic [4]byte "CSIX", version u32, checksum u32 (CRC-32C of all that follows),
//	sections × (offset u64, length u64), then the sections in the order below
const (
	magic   = "CSIX"
	Version = 13

	sectionMeta     = iota - 2 // JSON of Meta
	sectionFiles               // per file: path, language, flags, lines, size, time, chunks, text, hashes
	sectionChunks              // per chunk: file, lines, bytes, words, definitions
	sectionDefined             // definitions
	sectionTerms               // the table of the terms: see package postings
	sectionTexts               // the terms' texts, in order
	sectionPostings            // per term: its list of chunks or files, with their payloads
	sectionSources             // compressed texts of the files: see package pieces
	sections

	headerSize = 12 + 16*sections
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write writes the index of the entries and puts it into place.
func write(ctx context.Context, file string, meta Meta, entries []Entry) error {
	m, err := merge(ctx, meta, entries)
	if err != nil {
		return err
	}
	return Replace(file, m.writeTo)
}

// Replace writes a file in one step: beside the old one, which it then replaces. A process or
// a machine that ends at any point leaves one of them whole.
func Replace(file string, write func(*os.File) error) error {
	if err := replaced(file, write); err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, plainPath(err)) // the temporary file has another name each time
	}
	return syncFolder(filepath.Dir(file))
}

func replaced(file string, write func(*os.File) error) error {
	f, err := temporary(file)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the renaming
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// plainPath leaves the operation and its files out of an error.
func plainPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// syncFolder makes a renaming durable.
func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (m *merger) writeTo(f *os.File) error {
	terms, texts, lists := m.sorted()
	meta, err := json.Marshal(m.meta)
	if err != nil {
		return err
	}
	parts := [sections][][]byte{{meta}, {m.files}, {m.chunks}, {m.defined}, {terms}, {texts}, lists, m.texts}
	header := make([]byte, headerSize)
	copy(header, magic)
	binary.LittleEndian.PutUint32(header[4:], Version)
	offset := uint64(headerSize)
	for i, part := range parts {
		length := uint64(0)
		for _, b := range part {
			length += uint64(len(b))
		}
		binary.LittleEndian.PutUint64(header[12+16*i:], offset)
		binary.LittleEndian.PutUint64(header[20+16*i:], length)
		offset += length
	}
	sum := crc32.Update(0, castagnoli, header[12:])
	for _, part := range parts {
		for _, b := range part {
			sum = crc32.Update(sum, castagnoli, b)
		}
	}
	binary.LittleEndian.PutUint32(header[8:], sum)
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.Write(header) // a bufio.Writer keeps its first error for Flush
	for _, part := range parts {
		for _, b := range part {
			_, _ = w.Write(b)
		}
	}
	return w.Flush()
}

// temporary makes the file in which a new index is written before it replaces the old one.
func temporary(file string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	removeLeftovers(file)
	return os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*.new")
}

// leftoverAge is how old the file of an unfinished index must be to be one that a
// killed process left, and not one that another process is writing.
const leftoverAge = time.Hour

func removeLeftovers(file string) {
	folder, base := filepath.Split(file)
	entries, _ := os.ReadDir(filepath.Clean(folder)) // they stay in one that cannot be read
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+base+".") || !strings.HasSuffix(e.Name(), ".new") {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftoverAge {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
