package checkout

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// The limits of what is read of a repository that may not mean well.
const (
	maxDeltas  = 4096 // between an object and what it is made of
	maxPacks   = 4096
	maxSpent   = 1 << 30  // bytes of all objects that are read, as often as they are
	maxSources = 8        // folders of objects: alternates lead to others
	keptBases  = 32 << 20 // bytes of objects that others are made of
	maxHeld    = 64 << 20 // bytes of the differences between an object and what it is made of
)

// The kinds of objects, as packs number them.
const (
	commitObject = 1
	treeObject   = 2
	byOffset     = 6 // made of another one of the pack
	byID         = 7
)

var kinds = map[string]int{"commit": commitObject, "tree": treeObject}

// objects reads objects of a repository, loose ones and those in packs. It needs no git.
type objects struct {
	folders []string
	packs   []*pack
	spent   budget
}

// budget is how many bytes of objects were read.
type budget int

func (b *budget) spend(n int) error {
	if n > maxObject {
		return errObject
	}
	if *b += budget(n); *b > maxSpent {
		return errObject
	}
	return nil
}

// openObjects opens a folder of objects, and those that it says to look into, too.
// Their ids have so many bytes.
func openObjects(folder string, idSize int) *objects {
	o := &objects{folders: []string{folder}}
	for i := 0; i < len(o.folders); i++ {
		o.addPacks(filepath.Join(o.folders[i], "pack"), idSize)
		more, _ := read(filepath.Join(o.folders[i], "info", "alternates"))
		for line := range strings.Lines(string(more)) {
			other := strings.TrimSpace(line)
			if !filepath.IsAbs(other) {
				other = filepath.Join(o.folders[i], other)
			}
			if other != "" && len(o.folders) < maxSources {
				o.folders = append(o.folders, other)
			}
		}
	}
	return o
}

// addPacks opens the packs of a folder.
func (o *objects) addPacks(folder string, idSize int) {
	entries, _ := os.ReadDir(folder) // a repository may have none
	for _, e := range entries {
		if len(o.packs) == maxPacks {
			return
		}
		if !strings.HasPrefix(e.Name(), "pack-") || !strings.HasSuffix(e.Name(), ".idx") {
			continue
		}
		if p, err := openPack(filepath.Join(folder, e.Name()), idSize, &o.spent); err == nil {
			o.packs = append(o.packs, p)
		}
	}
}

func (o *objects) close() {
	for _, p := range o.packs {
		p.close()
	}
}

// read reads an object of a kind.
func (o *objects) read(ctx context.Context, id []byte, kind int) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	data, err := o.find(id, kind)
	if err == nil {
		err = o.spent.spend(len(data)) // also of one that was read before: its reader has work
	}
	return data, err
}

// find reads an object of a kind where it is.
func (o *objects) find(id []byte, kind int) ([]byte, error) {
	for _, p := range o.packs {
		if at, ok := p.find(id); ok {
			found, data, err := p.object(at)
			if err == nil && found != kind {
				err = errObject
			}
			return data, err
		}
	}
	name := hex.EncodeToString(id)
	for _, folder := range o.folders {
		packed, err := read(filepath.Join(folder, name[:2], name[2:]))
		if err == nil {
			return loose(packed, kind)
		}
	}
	return nil, errObject
}

// loose reads an object that is a file of its own.
func loose(packed []byte, kind int) ([]byte, error) {
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxObject))
	if err != nil {
		return nil, err
	}
	head, data, ok := bytes.Cut(text, []byte{0})
	name, size, _ := strings.Cut(string(head), " ")
	if !ok || kinds[name] != kind || size != fmt.Sprint(len(data)) {
		return nil, errObject
	}
	return data, nil
}

// pack is a file of objects with its index.
type pack struct {
	index, data *os.File
	idSize      int         // bytes
	fan         [256]uint32 // how many ids begin with at most a byte
	bases       map[int64]base
	kept        int
	spent       *budget // of all packs
}

// base is an object that others are made of.
type base struct {
	kind int
	data []byte
}

// openPack opens a pack by the name of its index, of the second version.
func openPack(name string, idSize int, spent *budget) (*pack, error) {
	p := &pack{idSize: idSize, spent: spent, bases: map[int64]base{}}
	if err := p.open(name); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *pack) open(name string) (err error) {
	if p.index, _, err = openRegular(os.OpenFile, name); err != nil {
		return err
	}
	if p.data, _, err = openRegular(os.OpenFile, strings.TrimSuffix(name, ".idx")+".pack"); err != nil {
		return err
	}
	head := make([]byte, 8+4*len(p.fan))
	if _, err := p.index.ReadAt(head, 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return errObject
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
	}
	return nil
}

func (p *pack) close() {
	for _, f := range []*os.File{p.index, p.data} {
		if f != nil {
			_ = f.Close()
		}
	}
}

// find returns where an object begins.
func (p *pack) find(id []byte) (at int64, ok bool) {
	const head = 8 + 4*256
	size, all := int64(len(id)), int64(p.fan[255])
	first, end := int64(0), int64(p.fan[id[0]])
	if id[0] > 0 {
		first = int64(p.fan[id[0]-1])
	}
	if first >= end || end > all {
		return 0, false
	}
	other := make([]byte, size)
	var failed error
	number := first + int64(sort.Search(int(end-first), func(i int) bool {
		if _, err := p.index.ReadAt(other, head+(first+int64(i))*size); err != nil {
			failed = err
		}
		return bytes.Compare(other, id) >= 0
	}))
	if number >= end || failed != nil {
		return 0, false
	}
	if _, err := p.index.ReadAt(other, head+number*size); err != nil || !bytes.Equal(other, id) {
		return 0, false
	}
	offsets := head + all*(size+4)
	b := make([]byte, 8)
	if _, err := p.index.ReadAt(b[:4], offsets+4*number); err != nil {
		return 0, false
	}
	near := binary.BigEndian.Uint32(b)
	if near < 1<<31 {
		return int64(near), true
	}
	if _, err := p.index.ReadAt(b, offsets+4*all+8*int64(near&^(1<<31))); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(b)), true
}

// object reads an object of the pack, and what it is made of.
func (p *pack) object(at int64) (kind int, data []byte, err error) {
	var deltas [][]byte
	var places []int64
	held := 0
	for {
		if known, ok := p.bases[at]; ok {
			kind, data = known.kind, known.data
			break
		}
		e, err := p.entry(at)
		if err != nil {
			return 0, nil, err
		}
		if e.kind != byOffset {
			kind, data = e.kind, e.data
			p.keep(at, kind, data)
			break
		}
		deltas, places, at = append(deltas, e.data), append(places, at), e.base
		if held += len(e.data); len(deltas) > maxDeltas || held > maxHeld {
			return 0, nil, errObject
		}
	}
	for i := len(deltas) - 1; i >= 0; i-- {
		if data, err = patched(data, deltas[i]); err != nil {
			return 0, nil, err
		}
		if err := p.spent.spend(len(data)); err != nil {
			return 0, nil, err
		}
		p.keep(places[i], kind, data)
	}
	return kind, data, nil
}

// keep remembers what the next object may be made of.
func (p *pack) keep(at int64, kind int, data []byte) {
	if p.kept += len(data); p.kept > keptBases {
		p.bases, p.kept = map[int64]base{}, len(data)
	}
	p.bases[at] = base{kind, data}
}

// packed is an object as it is in a pack: of another one, the difference alone.
type packed struct {
	kind int
	base int64 // where the other one begins
	data []byte
}

// entry reads what is at a place of the pack.
func (p *pack) entry(at int64) (e packed, err error) {
	if at < 0 {
		return e, errObject
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p.data, at, 1<<62-at), 4<<10)
	first, err := r.ReadByte()
	if err != nil {
		return e, err
	}
	size, shift := uint64(first&15), 4
	for b := first; b&0x80 != 0; shift += 7 {
		if b, err = r.ReadByte(); err != nil || shift > 32 {
			return e, errObject
		}
		size |= uint64(b&0x7f) << shift
	}
	switch e.kind = int(first >> 4 & 7); e.kind {
	case byOffset:
		back, err := distance(r)
		if err != nil || back <= 0 || back > at {
			return e, errObject
		}
		e.base = at - back
	case byID:
		id := make([]byte, p.idSize)
		if _, err := io.ReadFull(r, id); err != nil {
			return e, err
		}
		there := false
		if e.base, there = p.find(id); !there {
			return e, errObject
		}
		e.kind = byOffset
	}
	if err := p.spent.spend(int(min(size, maxObject+1))); err != nil {
		return e, err
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return e, err
	}
	e.data = make([]byte, size)
	_, err = io.ReadFull(z, e.data)
	return e, err
}

// distance reads how far before an object another one begins.
func distance(r io.ByteReader) (n int64, err error) {
	for i := 0; ; i++ {
		b, err := r.ReadByte()
		if err != nil || i > 7 {
			return 0, errObject
		}
		n = n<<7 | int64(b&0x7f)
		if b&0x80 == 0 {
			return n, nil
		}
		n++
	}
}
