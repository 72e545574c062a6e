package tasks

import (
	"context"
	"encoding/json"
	"errors"

	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
)

// branches are children of a task, each with what is below it, as far as an answer
// has room for them.
type branches struct {
	nodes        []store.Node
	total, below int // all children of the task, and all tasks below it

	tokens int  // of the answer
	stop   bool // reading ends where the answer has no more room
	whole  int  // children that fit whole
	fit    int  // their nodes
	err    error
}

// maxNodes bounds the tasks that are read to say how large an answer would be.
const maxNodes = 20_000

func (b *branches) fits() bool { return b.tokens <= dialect.MaxTokens }

// add adds the next node and reports whether more are to be read.
func (b *branches) add(n store.Node) bool {
	if n.Depth == 1 {
		b.endChild()
	}
	var tokens int
	tokens, b.err = tokensOf(n.Task)
	b.tokens += tokens
	b.nodes = append(b.nodes, n)
	return b.err == nil && len(b.nodes) < maxNodes && (b.fits() || !b.stop)
}

// endChild notes that the last child is complete.
func (b *branches) endChild() {
	if len(b.nodes) > 0 && b.fits() {
		b.whole, b.fit = b.whole+1, len(b.nodes)
	}
}

// readBranches reads the children of a page. With fit those are left out that an
// answer has no room for, and of a first one that is too large the deepest levels;
// without, RESPONSE_SIZE_EXCEEDED says what fits.
func readBranches(ctx context.Context, sc scope, root record.Task, fit bool, p store.TreePage) (branches, error) {
	b, err := walk(ctx, sc, root, fit, p)
	switch {
	case err != nil || b.fits():
		return b, err
	case !fit:
		return b, dialect.TooLarge(b.tokens, b.whole, p.Details)
	case b.whole == 0:
		return shallow(ctx, sc, root, p)
	}
	b.nodes = b.nodes[:b.fit]
	return b, nil
}

// shallow reads the first child of a page with as many levels as an answer has room
// for.
func shallow(ctx context.Context, sc scope, root record.Task, p store.TreePage) (last branches, err error) {
	deepest := p.MaxDepth
	p.Limit = 1
	for p.MaxDepth = 1; p.MaxDepth <= deepest; p.MaxDepth++ {
		b, err := walk(ctx, sc, root, true, p)
		switch {
		case err != nil:
			return b, err
		case !b.fits() && p.MaxDepth == 1:
			return b, dialect.TooLarge(b.tokens, 0, p.Details)
		case !b.fits():
			return last, nil
		}
		last = b
	}
	return last, nil
}

func walk(ctx context.Context, sc scope, root record.Task, stop bool, p store.TreePage) (b branches, err error) {
	tokens, err := tokensOf(root)
	if err != nil {
		return b, err
	}
	b.tokens, b.stop = tokens+frame, stop
	b.total, b.below, err = sc.Tree(ctx, root.ID, p, b.add)
	b.endChild()
	return b, errors.Join(err, b.err)
}

const (
	frame  = 80 // what a tree has besides its tasks, in tokens
	nested = 6  // what a task of a tree has besides its own fields
)

func tokensOf(t record.Task) (int, error) {
	encoded, err := json.Marshal(t)
	return dialect.Estimate(encoded) + nested, err
}
