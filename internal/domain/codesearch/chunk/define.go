package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// definition reads the name that a line defines, if it does. member: the line is directly
// within a type.
func (s *syntax) definition(body []byte, level int, member bool) (Definition, bool) {
	body = s.withoutAttributes(s.withoutComment(body))
	if len(body) == 0 {
		return Definition{}, false
	}
	if s.aliases && bytes.HasPrefix(body, []byte("typedef ")) {
		if d, ok := alias(body); ok {
			return d, true
		}
	}
	rest := body
	for range 8 { // modifiers, then a keyword
		word, after := firstWord(rest)
		if len(word) == 0 {
			break
		}
		isType, known := s.keywords[string(word)]
		if known && s.creates && len(rest) == len(body) { // drop table name, or a column
			break
		}
		if known && !s.modifies(after) {
			return s.named(after, string(word), isType, position{level, member || bytes.HasSuffix(body[:len(body)-len(rest)], []byte("const"))}) // no variable
		} else if !known && !s.modifiers[withoutScope(word)] && word[0] != '"' { // extern "C"
			break
		}
		rest = after
	}
	switch {
	case s.messages && (body[0] == '-' || body[0] == '+'):
		return message(body)
	case s.signatures && level == 0:
		return signature(body)
	case s.calls:
		if d, ok := s.function(withoutTuple(body, rest), level, member); ok || !s.properties || !member {
			return d, ok
		}
		return property(body)
	case s.constants:
		return constant(body)
	case s.methods:
		if d, ok := s.method(rest, member); ok {
			return d, true
		}
	}
	if s.assigns {
		return assigned(body, level)
	}
	return Definition{}, false
}

// modifies reports whether what follows a keyword is another one with a name, as in
// const fn name, fun interface Name and class func name.
func (s *syntax) modifies(after []byte) bool {
	word, rest := firstWord(after)
	_, known := s.keywords[string(word)]
	rest = bytes.TrimLeft(rest, " \t")
	return known && len(rest) > 0 && letter(rest[0])
}

// position is where a line is.
type position struct {
	level  int
	member bool // directly within a type
}

// named reads the name after a keyword.
func (s *syntax) named(after []byte, keyword string, isType bool, at position) (Definition, bool) {
	after = bytes.TrimLeft(after, " \t*&")
	if s.creates || s.dashed || s.labels {
		name, of := s.label(after)
		return Definition{Name: name, Of: of, Type: isType}, name != ""
	}
	switch keyword {
	case "fun": // fun <T> Type<T>?.name
		after = bytes.ReplaceAll(bytes.TrimLeft(withoutTypes(after), " "), []byte("?."), []byte("."))
	case "impl": // impl<T> Trait for Type
		after = implemented(withoutTypes(after))
	case "func":
		if len(after) > 0 && after[0] == '(' { // a receiver
			_, after, _ = bytes.Cut(after, []byte(")"))
		}
	case "class", "struct", "union", "enum":
		if s.aliases && s.variable(after, at.level) {
			return Definition{}, false
		}
		if s.aliases && keyword != "class" && bytes.IndexByte(after, '{') < 0 && bytes.IndexByte(after, '(') >= 0 {
			return s.function(append([]byte("t "), after...), at.level, false) // struct point *make(void)
		}
		if first, rest := firstWord(after); string(first) == "class" || string(first) == "struct" {
			after = rest
		}
		after = s.withoutMacros(after)
	case "const", "let", "var", "val", "static":
		if at.level > 1 && !at.member || at.level > 0 && s.assigns {
			return Definition{}, false
		}
		if _, rest := firstWord(after); s.assigns && bytes.HasPrefix(rest, []byte(" extends ")) {
			return Definition{}, false // a type parameter on a line of its own
		}
		_, value, _ := bytes.Cut(after, []byte("="))
		if value = bytes.TrimLeft(value, " \t"); bytes.HasPrefix(value, []byte("require(")) {
			return Definition{}, false // another file's name
		}
		first, _ := firstWord(value)
		isType = s.values[string(first)]
	case "function": // Lua's function Type:name()
		head, _, _ := bytes.Cut(after, []byte("("))
		after = bytes.ReplaceAll(head, []byte(":"), []byte("."))
	case "delegate": // delegate void Name(int a);
		return s.function(append(bytes.TrimRight(after, "; \t"), '{'), at.level, at.member)
	case "def":
		after = bytes.TrimPrefix(after, []byte("self."))
	}
	name, of := lastPart(after)
	declared := s.calls && isType && bytes.HasSuffix(bytes.TrimSpace(after), []byte(";")) && !bytes.ContainsAny(after, "{=")
	if name == "" || declared && (s.aliases || bytes.IndexByte(after, '(') < 0) { // not record Name(int a);
		return Definition{}, false
	}
	return Definition{Name: name, Of: of, Type: isType}, true
}

// implemented is the type of a Rust impl, without types in brackets.
func implemented(after []byte) []byte {
	trait, of, found := bytes.Cut(after, []byte(" for "))
	if of = bytes.TrimLeft(of, " &"); found && len(of) > 0 && of[0] != '[' && of[0] != '(' {
		after = of
	} else if found { // a slice or a tuple has no name
		after = trait
	}
	for {
		after = bytes.TrimLeft(after, " &*")
		word, rest := firstWord(after)
		if text := string(word); len(rest) == 0 || text != "mut" && text != "dyn" && text != "const" && !bytes.HasPrefix(word, []byte("'")) {
			return after
		}
		after = rest
	}
}

// signature reads the type of a function, as Haskell has it: name :: type.
func signature(body []byte) (Definition, bool) {
	left, _, found := bytes.Cut(body, []byte(" ::"))
	name := string(bytes.TrimSpace(left))
	if !found || name == "" || strings.ContainsAny(name, " \t(){}\"=") {
		return Definition{}, false
	}
	return Definition{Name: name}, true
}

// function reads a function of a language without a keyword for them: a type, a
// name, a parenthesis, and no semicolon at the end. Java's and C#'s constructors
// have a modifier for a type.
func (s *syntax) function(body []byte, level int, member bool) (Definition, bool) {
	body = bytes.TrimLeft(withoutTypes(body), " ")
	if s.aliases {
		body = withoutMacro(body)
	}
	open := bytes.IndexByte(body, '(')
	if open <= 0 || level > maxLevel || !letter(body[0]) && body[0] != '~' && body[0] != '@' && body[0] != ':' || body[0] == ':' && body[1] != ':' {
		return Definition{}, false
	}
	declared := member && s.members
	if end := bytes.TrimRight(body, " \t"); end[len(end)-1] == ';' && bytes.IndexByte(body, '{') < 0 && !declared {
		return Definition{}, false
	}
	head := body[:open]
	if bytes.ContainsAny(head, "=\"'+|,") || bytes.Contains(head, []byte(" ?")) || bytes.Contains(head, []byte("->")) {
		return Definition{}, false
	}
	head = bytes.TrimRight(head, " \t")
	i := len(head)
	for i > 0 && (letter(head[i-1]) || head[i-1] == ':' || head[i-1] == '~') {
		i--
	}
	name, of := lastPart(head[i:])
	before := bytes.TrimSpace(head[:i])
	if name == "" || name == "void" || notNames[name] || len(before) == 0 && of == "" {
		return Definition{}, false
	}
	if first, _ := firstWord(before); notNames[string(first)] {
		return Definition{}, false
	}
	return Definition{Name: name, Of: of}, true
}

// message reads a method of Objective-C, - (type)name:(type)parameter, unless it is only
// declared.
func message(body []byte) (Definition, bool) {
	rest := bytes.TrimLeft(body[1:], " ")
	after := bytes.TrimLeft(withoutGroup(rest, '(', ')'), " ")
	name, _ := lastPart(after)
	return Definition{Name: name}, len(after) < len(rest) && name != "" && !bytes.HasSuffix(body, []byte(";"))
}

// method reads a method of a class of JavaScript, or a function of a shell: a
// name, parentheses, a brace at the end of the line. Within a type the parameters may take
// several lines, and there may be no body.
func (s *syntax) method(rest []byte, member bool) (Definition, bool) {
	rest = bytes.TrimLeft(rest, " \t*#")
	if s.assigns { // types are in brackets, and comments begin otherwise
		rest = withoutTypes(rest)
	} else if i := bytes.Index(rest, []byte(" #")); i > 0 {
		rest = rest[:i]
	}
	open := bytes.IndexByte(rest, '(')
	end := bytes.TrimRight(rest, " \t")
	if open <= 0 || len(end) == 0 || !member && !s.hasBody(end) {
		return Definition{}, false
	}
	head := bytes.TrimRight(rest[:open], " ")
	if s.assigns {
		head = bytes.TrimRight(head, "?")
	}
	if slices.ContainsFunc(head, func(c byte) bool { return !letter(c) && c != '$' && c != '-' && (c != ':' || s.assigns) }) {
		return Definition{}, false
	}
	name := string(head)
	return Definition{Name: name}, name != "" && (member || !notNames[name])
}

// hasBody reports whether a line that calls or defines something begins a body, or has one.
// That of a shell's function may begin on the next line.
func (s *syntax) hasBody(line []byte) bool {
	switch {
	case bytes.Contains(line, []byte("=>")):
		return false
	case bytes.HasSuffix(line, []byte("{")), !s.assigns && bytes.HasSuffix(line, []byte("()")):
		return true
	}
	return bytes.Contains(line, []byte(") { ")) && bytes.HasSuffix(bytes.TrimRight(line, ","), []byte("}"))
}

// assigned reads exports.name = function, Type.prototype.name = (a) => and
// name: function.
func assigned(body []byte, level int) (Definition, bool) {
	i := bytes.IndexAny(body, "=:")
	if i <= 0 || level > 2 {
		return Definition{}, false
	}
	value := bytes.TrimLeft(body[i+1:], " \t")
	makes := bytes.HasPrefix(value, []byte("function")) || bytes.HasPrefix(value, []byte("async ")) || bytes.HasPrefix(value, []byte("class ")) || bytes.Contains(value, []byte("=>")) && (value[0] == '(' || letter(value[0]))
	exported := level == 0 && (bytes.HasPrefix(body, []byte("exports.")) || bytes.HasPrefix(body, []byte("module.exports.")))
	if !makes && !exported {
		return Definition{}, false
	}
	left := bytes.TrimSpace(body[:i])
	if slices.ContainsFunc(left, func(c byte) bool { return !letter(c) && c != '.' && c != '$' }) {
		return Definition{}, false
	}
	name, of := lastPart(left)
	if of == "prototype" {
		owner, _, _ := bytes.Cut(left, []byte("."))
		of = string(owner)
	}
	return Definition{Name: name, Of: of}, name != ""
}
