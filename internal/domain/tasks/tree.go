package tasks

import (
	"context"

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
	b, err := readBranches(ctx, sc, root, fit, store.TreePage{
		Page: store.Page{Limit: tree.Limit, Offset: in.Offset, Details: in.details()}, MaxDepth: in.MaxDepth,
	})
	if err != nil {
		return tree, err
	}
	tree.Subtasks = nest(b.nodes)
	tree.Total, tree.Returned, tree.Omitted = b.total, len(tree.Subtasks), b.below-len(b.nodes)
	if fit && in.Offset+tree.Returned < tree.Total && tree.Returned > 0 {
		tree.Limit = tree.Returned // what a client adds to the offset
	}
	return tree, nil
}

// nest makes trees of nodes, each of which is before those below it.
func nest(nodes []store.Node) []*Node {
	root := &Node{Subtasks: []*Node{}}
	above := []*Node{root} // the last node of each level
	for _, n := range nodes {
		one, parent := &Node{Task: n.Task}, above[n.Depth-1]
		parent.Subtasks = append(parent.Subtasks, one)
		above = append(above[:n.Depth], one)
	}
	return root.Subtasks
}
