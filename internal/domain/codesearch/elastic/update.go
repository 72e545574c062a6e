package elastic

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// Update brings the index of a source up to date. A new index is made beside the one
// that is searched, as a clone of it where there is one, so that only files that
// changed are written; then the alias is moved in one step and the old index removed.
// A process that is killed at any point leaves the old one.
func (s *Store) Update(ctx context.Context, src index.Source, o index.Options) (index.Report, error) {
	began := time.Now()
	live, err := s.serving(ctx, []string{src.Name}, true)
	if err != nil {
		return index.Report{}, err
	}
	u := &update{Store: s, name: src.Name, live: live[0]}
	before, err := u.before(ctx)
	if err != nil {
		return index.Report{}, err
	}
	report, entries, err := index.Scan(ctx, src, before, o)
	if err != nil {
		return index.Report{}, err
	}
	u.compare(before.Files, entries)
	if o.Settled && u.live.good() && len(u.changed)+len(u.gone) == 0 && report.Same(u.live.meta) {
		report.Meta, report.Took = u.live.meta, time.Since(began)
		return report, nil
	}
	err = u.publish(ctx, description{Version: version, Repository: report.Meta, Made: time.Now().UTC()})
	report.Took = time.Since(began)
	return report, err
}

// update is one run.
type update struct {
	*Store
	name    string
	live    serving
	changed []index.Entry
	gone    []index.File // that are no longer there, or as they were
}

// before lists what is indexed.
func (u *update) before(ctx context.Context) (index.Before, error) {
	if !u.live.good() {
		return index.Before{}, nil
	}
	b := index.Before{Meta: u.live.meta, Take: func(f index.File) (index.Entry, error) { return u.take(ctx, f) }}
	body := object{"size": pageFiles, "stored_fields": "_none_", "docvalue_fields": []string{aboutField}, "query": term(kindField, fileKind), "sort": []object{{pathField: "asc"}}}
	for {
		ctx, cancel := context.WithTimeout(ctx, writeLimit)
		answers, err := u.search(ctx, "", lookup{[]string{u.live.index}, body})
		cancel()
		if err != nil {
			return b, err
		}
		hits := answers[0].Hits.Hits
		for _, h := range hits {
			one, err := h.file()
			if err != nil {
				return b, fault.StoreFailed("code search store", err)
			}
			b.Files = append(b.Files, one.File)
		}
		if len(hits) < pageFiles {
			return b, nil
		}
		body["search_after"] = hits[len(hits)-1].SortedAt
	}
}

// take reads what was found in a file.
func (u *update) take(ctx context.Context, f index.File) (index.Entry, error) {
	docs, err := u.read(ctx, []fileID{{u.live.index, digest(f.Path)}}, true)
	if err != nil {
		return index.Entry{}, err
	}
	return index.Unpack(docs[0].File, docs[0].Analysis, docs[0].text)
}

// compare finds what is to be written, and what to be removed.
func (u *update) compare(before []index.File, entries []index.Entry) {
	kept := map[string]bool{}
	for _, e := range entries {
		if e.Kept {
			kept[e.Path] = true
			continue
		}
		u.changed = append(u.changed, e)
	}
	for _, f := range before {
		if !kept[f.Path] {
			u.gone = append(u.gone, f)
		}
	}
}

// publish makes searches see what was found.
func (u *update) publish(ctx context.Context, d description) error {
	if u.live.good() && len(u.changed)+len(u.gone) == 0 {
		d.Words = u.live.parts
		return u.describe(ctx, u.live.index, d)
	}
	u.removeLeftovers(ctx)
	words, err := u.count(ctx, u.live, u.changed, u.gone)
	if err != nil {
		return err
	}
	d.Words = len(words)
	made := u.alias(u.name) + "-" + strconv.FormatInt(d.Made.UnixNano(), 36)
	err = u.build(ctx, made, d, words)
	if err != nil {
		u.discard(ctx, made)
		return err
	}
	u.forget()
	return nil
}

// build fills a new index and puts it in the place of the old one.
func (u *update) build(ctx context.Context, made string, d description, words [][]byte) error {
	steps := []func() error{
		func() error { return u.create(ctx, made) },
		func() error { return u.fill(ctx, made, words) },
		func() error { return u.describe(ctx, made, d) },
		func() error { return u.call(ctx, esapi.IndicesRefreshRequest{Index: []string{made}}) },
		func() error { return u.freeze(ctx, made, true) }, // so that it can be cloned
		func() error { return u.swap(ctx, made) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// call makes a request whose answer is not read.
func (u *update) call(ctx context.Context, r elasticsearch.Request) error {
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	return u.Send(ctx, r, new(object))
}

// create makes the new index: empty, or with all that the old one has.
func (u *update) create(ctx context.Context, made string) error {
	if !u.live.good() {
		return u.call(ctx, esapi.IndicesCreateRequest{Index: made, Body: elasticsearch.JSON(definition())})
	}
	err := u.call(ctx, esapi.IndicesCloneRequest{Index: u.live.index, Target: made, Timeout: writeLimit, Body: elasticsearch.JSON(object{})})
	if err != nil {
		return err
	}
	return u.freeze(ctx, made, false)
}

// freeze lets an index take no writes, or lets it take them again.
func (u *update) freeze(ctx context.Context, name string, frozen bool) error {
	return u.call(ctx, esapi.IndicesPutSettingsRequest{Index: []string{name}, Body: elasticsearch.JSON(object{"index.blocks.write": frozen})})
}

// describe writes what an index says of itself.
func (u *update) describe(ctx context.Context, name string, d description) error {
	err := u.call(ctx, esapi.IndicesPutMappingRequest{Index: []string{name}, Body: elasticsearch.JSON(object{"_meta": d})})
	u.forget()
	return err
}

// fill removes the documents of files that are gone and writes those of changed ones,
// and of all words.
func (u *update) fill(ctx context.Context, made string, words [][]byte) error {
	b := batch{update: u, index: made}
	for _, f := range u.gone {
		_, chunks := f.Chunks()
		b.remove(digest(f.Path), chunks)
		if err := b.flush(ctx, false); err != nil {
			return err
		}
	}
	for i := range u.changed {
		if err := b.write(&u.changed[i]); err != nil {
			return err
		}
		if err := b.flush(ctx, false); err != nil {
			return err
		}
	}
	for i, part := range words {
		b.add("index", wordsID(i), document{Kind: wordsKind, Text: part})
		if err := b.flush(ctx, true); err != nil {
			return err
		}
	}
	return b.flush(ctx, true)
}

// batch is a bulk request that is being filled.
type batch struct {
	*update
	index   string
	lines   []any
	actions int
	files   int
	bytes   int
}

func (b *batch) add(action, id string, doc any) {
	b.lines = append(b.lines, object{action: object{"_id": id}})
	if doc != nil {
		b.lines = append(b.lines, doc)
	}
	b.actions++
}

// chunkID is the document of a file's chunk.
func chunkID(file string, number int) string { return file + "-" + strconv.Itoa(number) }

func (b *batch) remove(file string, chunks int) {
	b.add("delete", file, nil)
	for i := range chunks {
		b.add("delete", chunkID(file, i), nil)
	}
	b.files++
}

func (b *batch) write(e *index.Entry) error {
	id := digest(e.Path)
	docs, err := documents(e)
	if err != nil {
		return err
	}
	for i, d := range docs[1:] {
		b.add("index", chunkID(id, i), d)
		b.bytes += len(d.Terms)
	}
	b.add("index", id, docs[0])
	b.bytes += len(docs[0].Analysis) + len(docs[0].Text)
	b.files++
	return nil
}

// flush sends the request when it is full, or is the last one.
func (b *batch) flush(ctx context.Context, last bool) error {
	if b.actions == 0 || !last && b.files < batchFiles && b.bytes < batchBytes {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, writeLimit)
	defer cancel()
	outcomes, err := b.Bulk(ctx, b.index, "", b.actions, b.lines...)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := b.OutcomeFault(o); err != nil {
			return err
		}
	}
	b.lines, b.actions, b.files, b.bytes = nil, 0, 0, 0
	return nil
}

// swap moves the alias to the new index and removes the old one, in one step.
func (u *update) swap(ctx context.Context, made string) error {
	actions := []object{{"add": object{"index": made, "alias": u.alias(u.name)}}}
	if u.live.index != "" {
		actions = append(actions, object{"remove_index": object{"index": u.live.index}})
	}
	return u.call(ctx, esapi.IndicesUpdateAliasesRequest{Body: elasticsearch.JSON(object{"actions": actions})})
}

// forget makes the next search look where the aliases lead.
func (s *Store) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = nil
}

// discard removes an index that was not finished, also when the run was cancelled.
func (u *update) discard(ctx context.Context, made string) {
	_ = u.call(context.WithoutCancel(ctx), esapi.IndicesDeleteRequest{Index: []string{made}}) // it may not be there; the next run removes it otherwise
}

// leftoverAge is how old an index without an alias must be to be one that a killed
// process left, and not one that another process is filling.
const leftoverAge = time.Hour

// madeAt reads when an index was made from its name.
func madeAt(name string) time.Time {
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '-')+1:], 36, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, n)
}

// removeLeftovers removes what killed processes left of this repository. A failure
// only leaves it for the next run.
func (u *update) removeLeftovers(ctx context.Context) {
	all, err := u.list(ctx)
	if err != nil {
		return
	}
	for name, one := range all {
		if len(one.Aliases) == 0 && u.ours(name) && time.Since(madeAt(name)) > leftoverAge {
			u.discard(ctx, name)
		}
	}
}

// ours reports whether an index was made for this repository.
func (u *update) ours(name string) bool {
	rest, ok := strings.CutPrefix(name, u.alias(u.name)+"-")
	return ok && !strings.Contains(rest, "-") && !madeAt(name).IsZero()
}
