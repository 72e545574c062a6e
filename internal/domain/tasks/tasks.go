package tasks

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/tasks/dialect"
	"countersign.dev/internal/domain/tasks/master"
	"countersign.dev/internal/domain/tasks/pool"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/store"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Options say where workspaces are, and where their databases.
type Options struct {
	Folder string // of the databases
	Places workspace.Places
	Now    func() time.Time // nil: time.Now
}

// Server is the task server. It is safe for concurrent use, by several processes over
// the same folder too.
type Server struct {
	opts   Options
	master *master.Store
	pool   *pool.Pool
	uses   *uses
}

// New returns the domain without any store, for its declarations.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Server{opts: o, pool: pool.New(o.Folder, o.Now), uses: newUses(o.Now)}
}

// Open returns the domain over the databases in a folder, which are made where they
// are missing.
func Open(ctx context.Context, o Options) (*Server, error) {
	s := New(o)
	var err error
	s.master, err = master.Open(ctx, o.Folder, s.opts.Now)
	return s, err
}

// Close closes every database.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for place, due := range s.uses.all() {
		_ = s.pool.With(ctx, place.Key(), place.Path, func(w *store.Workspace) error { return w.AddUse(ctx, due) }) // statistics only
	}
	return errors.Join(s.pool.Close(), s.master.Close())
}

const closeTimeout = 2 * time.Second

// Policy declares the domain's roles and classes of fields: none of its own.
func (s *Server) Policy() access.Policy { return access.Policy{} }

// Codes lists the fault codes that this domain adds to the shared ones.
func (s *Server) Codes() []*fault.Code { return record.Codes() }

// everyone may call every tool: what a person sees is decided by the workspace.
var everyone = []access.Role{access.Employee}

// Ready reads the master file.
func (s *Server) Ready(ctx context.Context) error {
	_, err := s.master.Names(ctx)
	return err
}

// Check reads every database of the folder whole, and says how many there are.
func (s *Server) Check(ctx context.Context) (string, error) {
	files, err := filepath.Glob(filepath.Join(s.opts.Folder, "project_*.db"))
	if err != nil {
		return "", err
	}
	for _, name := range files {
		if err := store.CheckFile(ctx, name); err != nil {
			return "", fmt.Errorf("%s cannot be read whole, and needs its backup: %w", name, err)
		}
	}
	return fmt.Sprintf("workspaces that were read whole: %d", len(files)), nil
}

// Invalid is the error of an input that the schema refuses; see [dialect.Invalid].
func (s *Server) Invalid(ctx context.Context, values map[string]any, wrong []tool.Violation) error {
	return dialect.Invalid(values, wrong, func(path string) error {
		_, _, err := s.place(ctx, path)
		return err
	})
}

// Where names the workspace of a call.
type Where struct {
	Workspace string `json:"workspace_path,omitempty" jsonschema:"maxLength=4000" jsonschema_description:"Absolute path of the workspace, or the name of a project" field:"label=Workspace,aka=project|workspace,from=list_projects:workspace_path"`
}

func (w Where) where() string { return w.Workspace }

// located is an input that names a workspace.
type located interface{ where() string }

// scope is the workspace of one call, open, and its caller.
type scope struct {
	*store.Workspace
	place workspace.Place
	who   *access.Principal
	by    string // who makes something, for the store
}

// place finds the workspace that a text means to the caller in the context. Without
// the gateway, which knows the person's default, a workspace must be named.
func (s *Server) place(ctx context.Context, text string) (workspace.Place, *access.Principal, error) {
	who, err := access.From(ctx)
	if err != nil {
		return workspace.Place{}, nil, err
	}
	if text == "" && who.Purpose() == access.PurposeNone && s.opts.Places.Local == "" {
		return workspace.Place{}, nil, record.Workspace("", "workspace_path is required")
	}
	var names map[string]string
	if text != "" && s.master != nil {
		if names, err = s.master.Names(ctx); err != nil {
			return workspace.Place{}, nil, err
		}
	}
	place, err := s.opts.Places.Find(who, text, names)
	return place, who, err
}

// within runs fn in the workspace that a text means, and counts the call.
func (s *Server) within(ctx context.Context, name, text string, fn func(scope) error) error {
	place, who, err := s.place(ctx, text)
	if err != nil {
		return err
	}
	if err := s.master.Touch(ctx, place.Path); err != nil {
		return err
	}
	return s.pool.With(ctx, place.Key(), place.Path, func(w *store.Workspace) error {
		err := fn(scope{w, place, who, s.opts.Places.Signature(who)})
		if due := s.uses.add(place, name, err == nil, !w.Changing(ctx)); len(due) > 0 {
			_ = w.AddUse(ctx, due) // statistics must not fail a call
		}
		return err
	})
}

// read, edit and list declare a tool whose function gets the workspace of the call.
func read[In located, Out any](s *Server, spec tool.Spec, do func(context.Context, scope, In) (Out, error)) tool.Tool {
	return tool.Read(spec, inScope(s, spec, do))
}

func edit[In located, Out any](s *Server, spec tool.Spec, do func(context.Context, scope, In) (Out, error)) tool.Tool {
	return tool.Edit(spec, inScope(s, spec, do))
}

func inScope[In located, Out any](s *Server, spec tool.Spec, do func(context.Context, scope, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (out Out, err error) {
		err = s.within(ctx, spec.Name, in.where(), func(sc scope) error {
			out, err = do(ctx, sc, in)
			return err
		})
		return out, err
	}
}

// Shown says how much of each item an answer has.
type Shown struct {
	Mode string `json:"mode,omitempty" jsonschema:"enum=summary,enum=details,default=summary" jsonschema_description:"summary: the short fields; details: all of them"`
}

func (m Shown) details() bool { return m.Mode == "details" }

// pageable is the input of a list.
type pageable interface {
	located
	details() bool
}

// list declares a list whose page fits into an answer.
func list[In pageable, T any](s *Server, spec tool.Spec, fetch func(context.Context, scope, In, store.Page) ([]T, int, error)) tool.Tool {
	spec.Description += " The answer is a page of items, newest first unless it says otherwise; without a limit it has as many as fit."
	return tool.Offsets(spec, func(ctx context.Context, in In, w tool.OffsetWindow) (rows []T, total int, err error) {
		err = s.within(ctx, spec.Name, in.where(), func(sc scope) error {
			rows, total, err = fetch(ctx, sc, in, store.Page{Limit: w.Limit, Offset: w.Offset, Details: in.details()})
			if err != nil {
				return err
			}
			rows, err = dialect.Fit(rows, w.Fit, in.details())
			return err
		})
		return rows, total, err
	})
}
