package query

import (
	"math"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/tally"
)

// How much a word counts by where in the path it is.
const (
	anyFolder  = 0.8
	ownName    = 1   // the file's, and that of the folder that it is in
	folderStem = 0.4 // of a folder's name, where that of the file is 1
)

// What a path weighs, in parts of the best score before it.
const (
	pathWeight = 0.9
	stemWeight = 0.4
)

// matchPaths looks the words of the query up in the paths of a shard's files.
func (s *search) matchPaths(shard *shardSearch) {
	shard.inPaths, shard.inFolders = tally.Cleared(shard.inPaths, len(shard.Files)), tally.Cleared(shard.inFolders, len(shard.Files))
	shard.paths = shard.inPaths
	found, files := shard.inFolders, shard.seenFiles[:0] // of the current group
	for i, g := range s.groups {
		for _, t := range g.terms {
			term, ok := shard.PathWord(t.text)
			if !ok {
				continue
			}
			for p := shard.Postings(term); p.Next(); {
				at := &shard.paths[p.Chunk]
				part, stem := inName(p.Payload)
				at.stem += float32(t.inPath) * stem
				if t.inPath >= coveredBy {
					at.groups |= 1 << i
				}
				if found[p.Chunk] == 0 {
					files = append(files, int32(p.Chunk))
				}
				found[p.Chunk] = max(found[p.Chunk], float32(t.inPath)*part)
			}
		}
		share := float32(g.weight * s.idf[i] / s.total)
		for _, file := range files {
			shard.paths[file].part += found[file] * share
			found[file] = 0
		}
		files = files[:0]
	}
	shard.seenFiles = files
}

// inName is what one word of a path is worth, and how much it is of a name.
func inName(p index.Payload) (part, stem float32) {
	part = anyFolder
	if p&index.LastFolder != 0 {
		part = ownName
		stem = folderStem / float32(max(1, p.FolderParts()))
	}
	if p&index.InBase != 0 {
		part = ownName
		stem += 1 / float32(max(1, p.BaseParts()))
	}
	return part, stem
}

// worth is what the path is worth, in parts of the best score.
func (p inPath) worth() (path, stem float64) {
	return pathWeight * float64(p.part), stemWeight * float64(min(1, p.stem)) * math.Sqrt(float64(min(1, p.part)))
}
