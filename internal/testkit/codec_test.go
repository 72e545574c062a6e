package testkit_test

import (
	"go/ast"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// envelopeFields are what only an answer of a tool has: its page and its hint, what
// a refusal says, and the mark of untrusted text.
var envelopeFields = []string{"hint", "hasmore", "nextcursor", "truncated", "suggestedaction", "confirmationdata", "untrusted"}

// envelopeReaders are the files that read one of those fields from JSON, each with
// the reason. The codec is package result.
var envelopeReaders = map[string]string{
	"internal/client/answer.go": "the notice of a frame of the live protocol, which is no answer of a tool",
	"internal/client/client.go": "what a gateway's error says, of any shape",
}

// TestAnswersAreReadByTheirCodec: no package but result decodes JSON into a value with
// a field of an answer, to find a hint, a refusal or an untrusted mark there.
func TestAnswersAreReadByTheirCodec(t *testing.T) {
	read := map[string]bool{}
	for room, files := range sources(t) {
		if room == "internal/result" || strings.HasPrefix(room, "internal/testkit") {
			continue
		}
		types := structsOf(files)
		for name, file := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			for _, field := range decodedFields(file, types) {
				if path := room + "/" + name; envelopeReaders[path] == "" {
					t.Errorf("%s decodes %q from JSON: use result.DecodeEnvelope", path, field)
				} else {
					read[path] = true
				}
			}
		}
	}
	for path := range envelopeReaders {
		if !read[path] {
			t.Errorf("%s is excepted and reads nothing of an answer: take it off the list", path)
		}
	}
}

// structsOf are the named structs of a room.
func structsOf(files map[string]*ast.File) map[string]*ast.StructType {
	types := map[string]*ast.StructType{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					types[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	return types
}

// decodedFields lists the fields of answers in the structs that a file decodes JSON
// into: the variables whose address is given to a function that is named Unmarshal or
// Decode, and the type arguments of one that is named Parse or Decode.
func decodedFields(file *ast.File, types map[string]*ast.StructType) (found []string) {
	for _, decl := range file.Decls {
		variables := map[string]ast.Expr{}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for _, name := range n.Names {
					variables[name.Name] = n.Type
				}
			case *ast.Field:
				for _, name := range n.Names {
					variables[name.Name] = n.Type
				}
			case *ast.AssignStmt:
				for i, right := range n.Rhs {
					if made, ok := right.(*ast.CompositeLit); ok && i < len(n.Lhs) {
						if name, ok := n.Lhs[i].(*ast.Ident); ok {
							variables[name.Name] = made.Type
						}
					}
				}
			case *ast.CallExpr:
				found = append(found, ofAnswer(target(n, variables), types, 0)...)
			}
			return true
		})
	}
	return found
}

// target is the type that a call decodes into, or nil.
func target(call *ast.CallExpr, variables map[string]ast.Expr) ast.Expr {
	if generic, ok := call.Fun.(*ast.IndexExpr); ok && slices.Contains([]string{"Parse", "Decode", "decode"}, called(generic.X)) {
		return generic.Index
	}
	if !slices.Contains([]string{"Unmarshal", "Decode"}, called(call.Fun)) || len(call.Args) == 0 {
		return nil
	}
	into := call.Args[len(call.Args)-1]
	if address, ok := into.(*ast.UnaryExpr); ok {
		into = address.X
	}
	if name, ok := into.(*ast.Ident); ok {
		return variables[name.Name]
	}
	return nil
}

func called(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// ofAnswer lists the fields of answers in a type, and in those that its fields have.
func ofAnswer(of ast.Expr, types map[string]*ast.StructType, depth int) (found []string) {
	switch e := of.(type) {
	case *ast.StarExpr:
		return ofAnswer(e.X, types, depth)
	case *ast.ArrayType:
		return ofAnswer(e.Elt, types, depth)
	case *ast.Ident:
		if s := types[e.Name]; s != nil && depth < 5 {
			return ofAnswer(s, types, depth+1)
		}
	case *ast.StructType:
		for _, field := range e.Fields.List {
			for _, name := range jsonNames(field) {
				if slices.Contains(envelopeFields, strings.ToLower(name)) {
					found = append(found, name)
				}
			}
			found = append(found, ofAnswer(field.Type, types, depth)...)
		}
	}
	return found
}

// jsonNames are the names under which a field is read.
func jsonNames(field *ast.Field) (names []string) {
	if field.Tag != nil {
		if tag, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ","); tag != "" {
			return []string{tag}
		}
	}
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	return names
}
