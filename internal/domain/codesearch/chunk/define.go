package chunk

import (
	"bytes"
	"slices"
	"strings"
)

// notNames are words before a parenthesis that define nothing.
var notNames = set("if for while switch catch return else do try throw new sizeof typeof await yield case delete assert super this elif using lock foreach with unless until synchronized when match guard func function in not and or is as")

// definition reads the name that a line defines, if it does.
func (s *syntax) definition(body []byte, level int) (Definition, bool) {
	rest := body
	for range 8 { // modifiers, then a keyword
		word, after := firstWord(rest)
		if len(word) == 0 {
			break
		}
		if isType, known := s.keywords[string(word)]; known {
			return s.named(after, string(word), isType, level)
		}
		if !s.modifiers[string(word)] {
			break
		}
		rest = after
	}
	switch {
	case s.signatures && level == 0:
		return signature(body)
	case s.calls:
		return s.function(body, level)
	case s.methods:
		if d, ok := s.method(rest); ok {
			return d, true
		}
	}
	if s.assigns {
		return assigned(body, level)
	}
	return Definition{}, false
}

// firstWord returns the first word of a line, with a sign that belongs to it, and
// what is after it.
func firstWord(text []byte) (word, after []byte) {
	text = bytes.TrimLeft(text, " \t")
	i := 0
	for i < len(text) && text[i] != ' ' && text[i] != '\t' && (text[i] != '(' || bytes.HasPrefix(text, []byte("pub("))) && text[i] != '{' && text[i] != '<' && text[i] != '=' && text[i] != ':' && text[i] != ';' {
		i++
	}
	return text[:i], text[i:]
}

// named reads the name after a keyword.
func (s *syntax) named(after []byte, keyword string, isType bool, level int) (Definition, bool) {
	after = bytes.TrimLeft(after, " \t*&")
	switch keyword {
	case "fun": // fun <T> name
		if bytes.HasPrefix(after, []byte("<")) {
			_, after, _ = bytes.Cut(after, []byte("> "))
		}
	case "impl": // impl<T> Trait for Type
		after = implemented(after)
	case "func":
		if len(after) > 0 && after[0] == '(' { // a receiver
			_, after, _ = bytes.Cut(after, []byte(")"))
		}
	case "struct", "union", "enum":
		if s.calls && bytes.IndexByte(after, '{') < 0 && bytes.IndexByte(after, '(') >= 0 {
			return s.function(append([]byte("t "), after...), level) // struct point *make(void)
		}
		if first, rest := firstWord(after); string(first) == "class" || string(first) == "struct" {
			after = rest
		}
	case "const", "let", "var", "val", "static":
		if level > 1 || level > 0 && s.assigns {
			return Definition{}, false
		}
		if _, value, _ := bytes.Cut(after, []byte("=")); bytes.HasPrefix(bytes.TrimLeft(value, " \t"), []byte("require(")) {
			return Definition{}, false // another file's name
		}
	case "function": // Lua's function Type:name()
		head, _, _ := bytes.Cut(after, []byte("("))
		after = bytes.ReplaceAll(head, []byte(":"), []byte("."))
	case "def":
		after = bytes.TrimPrefix(after, []byte("self."))
	}
	name, of := lastPart(after)
	if name == "" || bytes.HasSuffix(bytes.TrimSpace(after), []byte(";")) && s.calls && isType {
		return Definition{}, false
	}
	return Definition{Name: name, Of: of, Type: isType}, true
}

// implemented is the type of a Rust impl.
func implemented(after []byte) []byte {
	if _, of, found := bytes.Cut(after, []byte(" for ")); found {
		return bytes.TrimLeft(of, " &")
	}
	if len(after) > 0 && after[0] == '<' {
		if i := bytes.IndexByte(after, '>'); i > 0 {
			return bytes.TrimLeft(after[i+1:], " ")
		}
	}
	return after
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

// lastPart reads a name such as run, Server.run, Server::run or \App\Server, and
// what is before its last part.
func lastPart(text []byte) (name, of string) {
	text = bytes.TrimLeft(text, " \t\\")
	i := 0
	for i < len(text) && (letter(text[i]) || text[i] == '.' || text[i] == ':' && i+1 < len(text) && (text[i+1] == ':' || i > 0 && text[i-1] == ':') || text[i] == '\\' || text[i] == '~' || text[i] == '$') {
		i++
	}
	whole := bytes.Trim(text[:i], ".:\\")
	if j := bytes.LastIndexAny(whole, ".:\\"); j >= 0 {
		owner := bytes.TrimRight(whole[:j], ".:\\")
		if k := bytes.LastIndexAny(owner, ".:\\"); k >= 0 {
			owner = owner[k+1:]
		}
		return string(whole[j+1:]), string(owner)
	}
	return string(whole), ""
}

func letter(c byte) bool {
	return c == '_' || c >= 0x80 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// function reads a function of a language without a keyword for them: a type, a
// name, a parenthesis, and no semicolon at the end. Java's and C#'s constructors
// have a modifier for a type.
func (s *syntax) function(body []byte, level int) (Definition, bool) {
	open := bytes.IndexByte(body, '(')
	if open <= 0 || level > maxLevel || body[0] == '#' || body[0] == '}' || body[0] == '.' {
		return Definition{}, false
	}
	if end := bytes.TrimRight(body, " \t"); end[len(end)-1] == ';' && bytes.IndexByte(body, '{') < 0 {
		return Definition{}, false
	}
	head := body[:open]
	if bytes.ContainsAny(head, "=\"'+|?,") || bytes.Contains(head, []byte("->")) {
		return Definition{}, false
	}
	head = bytes.TrimRight(head, " \t")
	i := len(head)
	for i > 0 && (letter(head[i-1]) || head[i-1] == ':' || head[i-1] == '~') {
		i--
	}
	name, of := lastPart(head[i:])
	before := bytes.TrimSpace(head[:i])
	if name == "" || notNames[name] || len(before) == 0 && of == "" {
		return Definition{}, false
	}
	if first, _ := firstWord(before); notNames[string(first)] {
		return Definition{}, false
	}
	return Definition{Name: name, Of: of}, true
}

// method reads a method of a class of JavaScript, or a function of a shell: a
// name, parentheses, a brace at the end of the line.
func (s *syntax) method(rest []byte) (Definition, bool) {
	rest = bytes.TrimLeft(rest, " \t*#")
	open := bytes.IndexByte(rest, '(')
	end := bytes.TrimRight(rest, " \t")
	if open <= 0 || len(end) == 0 || end[len(end)-1] != '{' || bytes.Contains(rest, []byte("=>")) {
		return Definition{}, false
	}
	head := rest[:open]
	if i := bytes.IndexByte(head, '<'); i > 0 {
		head = head[:i]
	}
	if slices.ContainsFunc(bytes.TrimRight(head, " "), func(c byte) bool { return !letter(c) && c != '$' && c != '-' }) {
		return Definition{}, false
	}
	name := string(bytes.TrimSpace(head))
	return Definition{Name: name}, name != "" && !notNames[name]
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
