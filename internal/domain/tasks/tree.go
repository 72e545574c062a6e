package tasks

import (
	"context"
	"encoding/json"

	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/tool"
)

func treeTools(s *Server) []tool.Tool {
	return []tool.Tool{read(s, tool.Spec{
		Name: "get_task_tree", Title: "Get a task tree", Allow: everyone, Untrusted: taskTexts, Synonyms: []string{"subtasks", "children", "below", "hierarchy"},
		Description: "Show a task with everything below it, siblings in the order in which they were made. limit and offset count the task's own children, max_depth the levels below it; omitted_count says how many tasks below it are not shown.",
	}, taskTree)}
}

// The bounds of a tree.
const (
	maxChildren  = 1000
	usualFitting = 100 // children, when no limit is given: as many as fit
)

type treeInput struct {
	taskInput
	Shown
	MaxDepth int `json:"max_depth,omitempty" jsonschema:"minimum=1,maximum=100,default=10" jsonschema_description:"Levels below the task"`
	Limit    int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000" jsonschema_description:"Children of the task to return; without it, as many as fit"`
	Offset   int `json:"offset,omitempty" jsonschema:"minimum=0,default=0" jsonschema_description:"Children of the task to skip"`
}

// Node is a task with what is below it.
type Node struct {
	record.Task
	Subtasks []*Node `json:"subtasks,omitempty"`
}

// Tree is a task with the part of what is below it that was asked for.
type Tree struct {
	record.Task
	Subtasks []*Node `json:"subtasks"`
	Total    int     `json:"total_count" jsonschema_description:"Children of the task."`
	Returned int     `json:"returned_count" jsonschema_description:"Children of the task that are shown."`
	Limit    int     `json:"limit" field:"show=detail"`
	Offset   int     `json:"offset" field:"show=detail"`
	Omitted  int     `json:"omitted_count" jsonschema_description:"Tasks below it, however deep, that are not shown."`
}

func taskTree(ctx context.Context, sc scope, in treeInput) (tree Tree, err error) {
	root, err := sc.Task(ctx, in.TaskID)
	if err != nil {
		return tree, err
	}
	if !in.details() {
		root.TaskDetails = nil
	}
	tree = Tree{Task: root, Limit: in.Limit, Offset: in.Offset, Subtasks: []*Node{}}
	fit := in.Limit == 0
	if fit {
		tree.Limit = usualFitting
	}
	nodes, total, size, err := sc.Tree(ctx, in.TaskID, store.TreePage{
		Page: store.Page{Limit: tree.Limit, Offset: in.Offset, Details: in.details()}, MaxDepth: in.MaxDepth,
	})
	if err != nil {
		return tree, err
	}
	shown, err := fitting(groups(nodes), tree.Task, fit, in.details())
	if err != nil {
		return tree, err
	}
	kept := 0
	for _, group := range shown {
		kept += len(group)
		tree.Subtasks = append(tree.Subtasks, nest(group))
	}
	tree.Total, tree.Returned, tree.Omitted = total, len(shown), size-kept
	if fit && in.Offset+tree.Returned < total && tree.Returned > 0 {
		tree.Limit = tree.Returned // what a client adds to the offset
	}
	return tree, nil
}

// groups divides the nodes of a tree by the root's children.
func groups(nodes []store.Node) (all [][]store.Node) {
	for i, from := 1, 0; i <= len(nodes); i++ {
		if i == len(nodes) || nodes[i].Depth == 1 {
			all, from = append(all, nodes[from:i]), i
		}
	}
	return all
}

// fitting returns the groups that an answer has room for. With fit others are left
// out, and of a first one that is too large the deepest levels; without,
// RESPONSE_SIZE_EXCEEDED says what fits.
func fitting(all [][]store.Node, root record.Task, fit, details bool) ([][]store.Node, error) {
	tokens, err := tokensOf(root)
	if err != nil {
		return nil, err
	}
	used, fitting := tokens, 0
	for _, group := range all {
		for _, n := range group {
			if tokens, err = tokensOf(n.Task); err != nil {
				return nil, err
			}
			used += tokens
		}
		if used <= dialect.MaxTokens {
			fitting++
		}
	}
	switch {
	case used <= dialect.MaxTokens:
		return all, nil
	case fit && fitting > 0:
		return all[:fitting], nil
	case fit:
		if pruned := prune(all[0], dialect.MaxTokens-frame(root)); len(pruned) > 0 {
			return [][]store.Node{pruned}, nil
		}
	}
	return nil, dialect.TooLarge(used, fitting, details)
}

// nested is what a task of a tree has besides its own fields, in tokens.
const nested = 6

func tokensOf(t record.Task) (int, error) {
	encoded, err := json.Marshal(t)
	return dialect.Estimate(encoded) + nested, err
}

func frame(root record.Task) int {
	tokens, _ := tokensOf(root) // it was encoded before
	return tokens + 80
}

// prune cuts the deepest levels of a group, until it has no more tokens than room.
func prune(group []store.Node, fitting int) []store.Node {
	deepest := 0
	for _, n := range group {
		deepest = max(deepest, n.Depth)
	}
	for depth := deepest; depth >= 1; depth-- {
		var kept []store.Node
		used := 0
		for _, n := range group {
			if n.Depth <= depth {
				tokens, _ := tokensOf(n.Task)
				used += tokens
				kept = append(kept, n)
			}
		}
		if used <= fitting {
			return kept
		}
	}
	return nil
}

// nest makes the tree of a group, whose first node is above all others.
func nest(group []store.Node) *Node {
	var above []*Node // the last node of each level
	for _, n := range group {
		one := &Node{Task: n.Task}
		above = append(above[:n.Depth-1], one)
		if n.Depth > 1 {
			parent := above[n.Depth-2]
			parent.Subtasks = append(parent.Subtasks, one)
		}
	}
	return above[0]
}
