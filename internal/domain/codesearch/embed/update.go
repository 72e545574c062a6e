package embed

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"countersign.dev/internal/domain/codesearch/index"
)

// saveEvery is after how many batches the vectors are saved, so that little is lost
// when the run ends early.
const saveEvery = 32

// Report says what an update did.
type Report struct {
	Chunks, Made, Kept int
}

// Update makes the vectors that the chunks of an index do not have yet. Chunks with
// the same text share one, whatever file they are in and whatever it is called. When
// the service fails, what was made until then is kept. Progress, if it is not nil, is
// called after each batch with what was done so far.
func Update(ctx context.Context, service Service, indexFile string, progress func(Report)) (Report, error) {
	ix, err := index.Open(indexFile)
	if err != nil {
		return Report{}, err
	}
	defer ix.Close()
	before, err := load(indexFile)
	if err == nil && before.fits(ix, service.Model) && before.missing == 0 {
		return Report{Chunks: len(before.all), Kept: len(before.all)}, nil
	}
	u := update{Service: service, progress: progress, file: indexFile, now: &vectors{of: ix.Checksum(), model: service.Model}, sharing: map[hash][]int{}}
	if err := u.read(ix); err != nil {
		return Report{}, err
	}
	u.reuse(before)
	err = u.make(ctx)
	return u.report, errors.Join(err, u.now.save(indexFile))
}

// update is one run.
type update struct {
	Service
	progress func(Report)

	file    string
	now     *vectors
	texts   []string
	sharing map[hash][]int // chunks by the hash of their text
	report  Report
}

// read reads and hashes the text of each chunk.
func (u *update) read(ix *index.Index) error {
	u.texts = make([]string, len(ix.Chunks))
	u.now.hashes, u.now.all = make([]hash, len(ix.Chunks)), make([]vector, len(ix.Chunks))
	u.report.Chunks = len(ix.Chunks)
	for i := range ix.Files {
		f := &ix.Files[i]
		text, err := ix.Text(f)
		if err != nil {
			return err
		}
		first, n := f.Chunks()
		for c := first; c < first+n; c++ {
			chunk := ix.Chunks[c]
			u.texts[c] = strings.ToValidUTF8(f.Path+"\n"+string(text[chunk.Start:min(chunk.End, chunk.Start+textSize)]), "")
			sum := sha256.Sum256(text[chunk.Start:chunk.End])
			copy(u.now.hashes[c][:], sum[:])
			u.sharing[u.now.hashes[c]] = append(u.sharing[u.now.hashes[c]], c)
		}
	}
	return nil
}

// reuse takes over what was made before by the same model.
func (u *update) reuse(before *vectors) {
	if before == nil || before.model != u.Model {
		return
	}
	for i, h := range before.hashes {
		if before.all[i].scale != 0 {
			u.report.Kept += u.set(h, before.all[i])
		}
	}
}

// set gives a vector to the chunks of a text, and returns how many had none.
func (u *update) set(h hash, v vector) (n int) {
	for _, c := range u.sharing[h] {
		if u.now.all[c].scale == 0 {
			u.now.all[c] = v
			n++
		}
	}
	return n
}

// make asks for the vectors that are missing, batch by batch.
func (u *update) make(ctx context.Context) error {
	var batch []int
	batches := 0
	asked := map[hash]bool{}
	for c := range u.texts {
		if h := u.now.hashes[c]; u.now.all[c].scale == 0 && !asked[h] {
			asked[h] = true
			batch = append(batch, c)
		}
		if len(batch) == batchSize || c == len(u.texts)-1 && len(batch) > 0 {
			if err := u.batch(ctx, batch); err != nil {
				return fmt.Errorf("%d of %d chunks have embeddings: %w", u.report.Made+u.report.Kept, len(u.texts), err)
			}
			batch = batch[:0]
			if batches++; batches%saveEvery == 0 {
				if err := u.now.save(u.file); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (u *update) batch(ctx context.Context, chunks []int) error {
	texts := make([]string, len(chunks))
	for i, c := range chunks {
		texts[i] = u.texts[c]
	}
	made, err := u.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i, c := range chunks {
		u.report.Made += u.set(u.now.hashes[c], newVector(made[i]))
	}
	if u.progress != nil {
		u.progress(u.report)
	}
	return nil
}
