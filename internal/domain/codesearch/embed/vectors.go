package embed

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"slices"

	"countersign.dev/internal/domain/codesearch/index"
)

// The file of an index's vectors, all integers little endian:
//
//	magic [4]byte "CSVX", version u32, checksum u32 (CRC-32C of all that follows),
//	checksum of the index u32, chunks u32, dimension u32, length of the model's name
//	u32, the name, then for each chunk: hash [16]byte, scale f32, dimension × i8
//
// A scale of 0 is a chunk without a vector yet.
const (
	magic        = "CSVX"
	version      = 1
	fixedHeader  = 28
	hashSize     = 16
	maxDimension = 16384
)

type hash [hashSize]byte

// vector is a direction: each component is a part of the greatest.
type vector struct {
	scale float32 // times it, the vector has the length 1; 0: none
	parts []int8
}

// newVector rounds a vector.
func newVector(v []float32) vector {
	length, most := 0.0, float32(0)
	for _, x := range v {
		length += float64(x) * float64(x)
		most = max(most, float32(math.Abs(float64(x))))
	}
	if length == 0 || math.IsNaN(length) || math.IsInf(length, 0) {
		return vector{}
	}
	out := vector{scale: most / 127 / float32(math.Sqrt(length)), parts: make([]int8, len(v))}
	for i, x := range v {
		out.parts[i] = int8(math.Round(float64(x / most * 127)))
	}
	return out
}

// times is the cosine of the angle between two vectors.
func (v vector) times(w vector) float32 {
	if len(v.parts) != len(w.parts) {
		return 0
	}
	sum := int32(0)
	for i, x := range v.parts {
		sum += int32(x) * int32(w.parts[i])
	}
	return float32(sum) * v.scale * w.scale
}

// vectors are those of an index's chunks, in their order.
type vectors struct {
	of      uint32 // the checksum of the index
	model   string
	hashes  []hash
	all     []vector
	missing int
}

// fileOf is the file of an index's vectors.
func fileOf(indexFile string) string { return indexFile + ".vectors" }

var errDamaged = errors.New("the file of the vectors is damaged")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// load reads the vectors beside an index.
func load(indexFile string) (v *vectors, err error) {
	b, err := os.ReadFile(fileOf(indexFile))
	if err != nil {
		return nil, err
	}
	if len(b) < fixedHeader || string(b[:4]) != magic || binary.LittleEndian.Uint32(b[4:]) != version || crc32.Checksum(b[12:], castagnoli) != binary.LittleEndian.Uint32(b[8:]) {
		return nil, errDamaged
	}
	number := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	n, dimension, name := number(16), number(20), number(24)
	size := hashSize + 4 + dimension
	if dimension > maxDimension || name > len(b)-fixedHeader || len(b)-fixedHeader-name != n*size {
		return nil, errDamaged
	}
	v = &vectors{of: uint32(number(12)), model: string(b[fixedHeader : fixedHeader+name]), hashes: make([]hash, n), all: make([]vector, n)}
	for i, at := 0, fixedHeader+name; i < n; i, at = i+1, at+size {
		copy(v.hashes[i][:], b[at:])
		v.all[i].scale = math.Float32frombits(binary.LittleEndian.Uint32(b[at+hashSize:]))
		if v.all[i].scale == 0 {
			v.missing++
			continue
		}
		parts := make([]int8, dimension)
		for j, x := range b[at+hashSize+4 : at+size] {
			parts[j] = int8(x)
		}
		v.all[i].parts = parts
	}
	return v, nil
}

// save replaces the file beside an index in one step.
func (v *vectors) save(indexFile string) error {
	dimension := 0
	for _, one := range v.all {
		dimension = max(dimension, len(one.parts))
	}
	b := make([]byte, fixedHeader, fixedHeader+len(v.model)+len(v.all)*(hashSize+4+dimension))
	copy(b, magic)
	for at, n := range map[int]int{4: version, 12: int(v.of), 16: len(v.all), 20: dimension, 24: len(v.model)} {
		binary.LittleEndian.PutUint32(b[at:], uint32(n))
	}
	b = append(b, v.model...)
	for i, one := range v.all {
		b = append(b, v.hashes[i][:]...)
		if len(one.parts) != dimension {
			one = vector{parts: make([]int8, dimension)}
		}
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(one.scale))
		for _, x := range one.parts {
			b = append(b, byte(x))
		}
	}
	binary.LittleEndian.PutUint32(b[8:], crc32.Checksum(b[12:], castagnoli))
	return index.Replace(fileOf(indexFile), func(f *os.File) error {
		_, err := f.Write(b)
		return err
	})
}

// fits reports whether the vectors are those of an index, by a model.
func (v *vectors) fits(ix *index.Index, model string) bool {
	return v.of == ix.Checksum() && v.model == model && len(v.all) == len(ix.Chunks)
}

// like reports whether a vector has the length of these: the service may have another
// model under the same name by now.
func (v *vectors) like(w vector) bool {
	return !slices.ContainsFunc(v.all, func(one vector) bool { return one.scale != 0 && len(one.parts) != len(w.parts) })
}
