package tool

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"countersign.dev/internal/access"
)

// Outputs are masked by a plan that is made once per type: every field that the
// reader may not see is replaced in place. Each row is masked by its own relation.

var (
	relationType = reflect.TypeFor[access.Relation]()
)

// plan locates the sensitive fields of a struct type.
type plan struct {
	relation []int // index of the field of type access.Relation; nil without one
	masked   []maskedField
	inner    []innerField // fields that hold further structs
}

type maskedField struct {
	index []int
	class access.Class
	style access.Style
}

type innerField struct {
	index []int
	plan  *plan
}

// planner makes plans and caches them: types may contain themselves.
type planner struct {
	policy access.Policy
	mu     sync.Mutex
	plans  map[reflect.Type]*plan
}

// plan returns the plan of the struct inside t (behind pointers and slices), or
// nil when there is none.
func (r *planner) plan(t reflect.Type) (*plan, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plans == nil {
		r.plans = map[reflect.Type]*plan{}
	}
	return r.build(t)
}

func (r *planner) build(t reflect.Type) (*plan, error) {
	t = structIn(t)
	if t == nil {
		return nil, nil
	}
	if p, known := r.plans[t]; known {
		return p, nil
	}
	p := &plan{}
	r.plans[t] = p
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous && (!isStruct(field.Type) || maskable(field.Type)) && r.hides(field.Type) { // else its fields are among these
			return nil, fmt.Errorf("%s.%s: %w", t, field.Name, errHidden)
		}
	}
	for field := range fields(t) {
		if err := r.add(p, field); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, field.Name, err)
		}
	}
	if len(p.masked) > 0 && p.relation == nil {
		return nil, fmt.Errorf("%s has a masked field and no field of type access.Relation", t)
	}
	return p, nil
}

func (r *planner) add(p *plan, field reflect.StructField) error {
	if field.Type == relationType {
		if jsonName(field) != "-" {
			return fmt.Errorf("the relation must not be on the wire: tag it json:\"-\"")
		}
		p.relation = field.Index
		return nil
	}
	if tag, ok := field.Tag.Lookup("mask"); ok {
		return r.mask(p, field, tag)
	}
	inner, err := r.build(field.Type)
	switch {
	case err != nil:
		return err
	case inner == nil && r.hides(field.Type):
		return errHidden
	case inner == nil:
		return nil
	}
	p.inner = append(p.inner, innerField{field.Index, inner})
	return nil
}

var errHidden = errors.New("a sensitive value needs a mask tag, on a field of its own: no plan reaches what is in a map, in a list of values or in an any")

// hides reports whether values of a type can hold sensitive ones. An any can, where the
// domain declares a class of fields. above are the types that it is a part of.
func (r *planner) hides(t reflect.Type, above ...reflect.Type) bool {
	switch {
	case slices.Contains(above, t):
		return false
	case maskable(t):
		return true
	}
	above = append(above, t)
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return r.hides(t.Elem(), above...)
	case reflect.Interface:
		return len(r.policy.Classes) > 0
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(t) {
			_, tagged := field.Tag.Lookup("mask")
			if tagged || (field.IsExported() || field.Anonymous) && r.hides(field.Type, above...) {
				return true
			}
		}
	}
	return false
}

func maskable(t reflect.Type) bool { return reflect.PointerTo(t).Implements(maskableType) }

func isStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

func (r *planner) mask(p *plan, field reflect.StructField, tag string) error {
	name, style, _ := strings.Cut(tag, ",")
	class, declared := r.policy.Class(name)
	if !declared {
		return fmt.Errorf("the domain declares no class of fields %q", name)
	}
	if field.Type.Kind() != reflect.String && !maskable(field.Type) {
		return fmt.Errorf("only strings and access.Sensitive values can be masked")
	}
	p.masked = append(p.masked, maskedField{field.Index, class, access.Style(style)})
	return nil
}

// apply masks a value in place for its reader. v must be addressable.
func (p *plan) apply(who *access.Principal, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.apply(who, v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			p.apply(who, v.Index(i))
		}
	case reflect.Struct:
		p.applyStruct(who, v)
	}
}

func (p *plan) applyStruct(who *access.Principal, v reflect.Value) {
	relation := access.Other
	if p.relation != nil {
		relation = v.FieldByIndex(p.relation).Interface().(access.Relation)
	}
	for _, f := range p.masked {
		if access.Visible(who, relation, f.class) {
			continue
		}
		field := v.FieldByIndex(f.index)
		if sensitive, ok := field.Addr().Interface().(access.Maskable); ok {
			sensitive.Mask()
			continue
		}
		field.SetString(f.style.Mask(field.String()))
	}
	for _, f := range p.inner {
		if inner, err := v.FieldByIndexErr(f.index); err == nil { // not in an embedded struct that is left out
			f.plan.apply(who, inner)
		}
	}
}
