package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// floor is what a rate of indexing is compared with: how fast go/parser reads Go files of
// the corpora, on this machine and at this time. Machines differ more than programs do.
type floor []string

// floorOf chooses files of at least 8 MB together, which are parsed for some tenths of a second, or all
// where there is less.
func floorOf(roots map[string]string) (files floor) {
	left := int64(8 << 20)
	for _, name := range slices.Sorted(maps.Keys(roots)) {
		// What cannot be read is left out here. It is an error when the corpus is indexed.
		_ = filepath.WalkDir(roots[name], func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.Type().IsRegular() || filepath.Ext(path) != ".go" {
				return nil
			}
			if left <= 0 {
				return filepath.SkipAll
			}
			if info, err := entry.Info(); err == nil {
				left -= info.Size()
				files = append(files, path)
			}
			return nil
		})
	}
	return files
}

// rate is the lines per second of one core. The texts are read before, and not kept: a heap that is larger would
// be collected less often.
func (f floor) rate() float64 {
	var texts [][]byte
	lines := 0
	for _, file := range f {
		if text, err := os.ReadFile(file); err == nil {
			texts = append(texts, text)
			lines += bytes.Count(text, []byte("\n"))
		}
	}
	before := processorTime()
	for _, text := range texts {
		_, _ = parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution) // tests of parsers do not parse
	}
	return perSecond(lines, processorTime()-before)
}

// beside writes the floor, and how many times it a rate is: nothing where no corpus has Go.
func (f floor) beside(rate float64) string {
	if len(f) == 0 {
		return "\t"
	}
	floor := f.rate()
	return fmt.Sprintf("%.0f\t%.2f", floor, rate/floor)
}

func perSecond(lines int, spent time.Duration) float64 { return float64(lines) / spent.Seconds() }
