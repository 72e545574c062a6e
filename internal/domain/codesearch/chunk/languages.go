package chunk

import "strings"

// syntax is what the scanner knows of a language.
type syntax struct {
	comments   []string        // that begin a comment to the end of the line
	open       string          // of a comment over lines, and close
	close      string          //
	quotes     string          // characters around strings of one line
	long       []literal       // strings over lines
	literals                   // that are not all alike
	keywords   map[string]bool // before the name of a definition; true: of a type
	values     map[string]bool // that make a constant a type
	modifiers  map[string]bool // may come before a keyword, or before a type
	calls      bool            // functions have no keyword: a type, a name, a parenthesis
	methods    bool            // methods have no keyword: a name, a parenthesis, a brace
	assigns    bool            // name = function, and name: function
	members    bool            // functions without a body define their names within a type
	messages   bool            // methods are - (type)name
	aliases    bool            // typedef, and words of macros before names
	properties bool            // type name { get; set; } within a type
	constants  bool            // Name = value, and attr_reader :name
	creates    bool            // create table if not exists name
	dashed     bool            // names have dashes
	labels     bool            // names are in quotes, the last of them counts
	signatures bool            // name :: type, at the beginning of a line
	indented   int             // columns of one level, where blocks are indented; 0: braces
}

// with adds what only some languages have.
func (s syntax) with(l literals) *syntax {
	s.literals = l
	return &s
}

// ready notes what the comments and strings of a language begin with, and braces.
func (s *syntax) ready() *syntax {
	s.starts = [256]bool{'{': true, '}': true}
	begin := append([]string{s.open, s.heredoc}, s.comments...)
	for _, l := range s.long {
		begin = append(begin, l.open)
	}
	for _, text := range begin {
		if text != "" {
			s.starts[text[0]] = true
		}
	}
	for _, c := range []byte(s.quotes) {
		s.starts[c] = true
	}
	s.starts['\''] = s.starts['\''] || s.chars
	s.starts['/'] = s.starts['/'] || s.regexes
	s.starts['?'] = s.html
	return s
}

// keywords makes the words before names: of types, and of everything else.
func keywords(types, others string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(types) {
		all[word] = true
	}
	for _, word := range strings.Fields(others) {
		all[word] = false
	}
	return all
}

// goSyntax is for Go files that have no outline.
var goSyntax = (&syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: longs("`"), keywords: keywords("type", "func var const")}).ready()

const cModifiers = "static inline extern const volatile constexpr virtual explicit friend typedef unsigned signed public private protected internal abstract final override sealed async partial readonly synchronized native default export declare open data case implicit lazy suspend inner infix operator tailrec external"

// syntaxes are the languages that the scanner knows, by their names in go-enry.
var syntaxes = func() map[string]*syntax {
	python := &syntax{comments: []string{"#"}, quotes: `"'`, long: longs(`"""`, "'''"), keywords: keywords("class", "def"), modifiers: set("async"), indented: 4}
	script := &syntax{
		comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: []literal{{open: "`", close: "`", escapes: true, holes: true}}, literals: literals{regexes: true}, methods: true, assigns: true,
		keywords:  keywords("class interface enum namespace module type", "function const let var"),
		modifiers: set("export default async declare abstract public private protected static readonly override get set function*"),
	}
	java := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: longs(`"""`), keywords: keywords("class interface enum record @interface", ""), modifiers: set(cModifiers), calls: true, members: true}
	sharp := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, long: longs(`"""`), literals: literals{conditional: true, raw: '@'}, keywords: keywords("class interface enum struct record", "delegate"), modifiers: set(cModifiers + " required unsafe new"), calls: true, members: true, properties: true}
	c := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, literals: literals{conditional: true}, keywords: keywords("struct union enum", "#define"), modifiers: set(cModifiers), calls: true, aliases: true}
	cpp := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, literals: literals{conditional: true, raw: 'R'}, keywords: keywords("class struct union enum namespace concept using", "#define"), modifiers: set(cModifiers), calls: true, aliases: true}
	objc := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, literals: literals{conditional: true, raw: 'R'}, keywords: keywords("@interface @implementation @protocol struct union enum", "#define"), modifiers: set(cModifiers), calls: true, aliases: true, messages: true}
	ruby := &syntax{comments: []string{"#"}, quotes: `"'`, literals: literals{heredoc: "<<", document: literal{open: "=begin", close: "=end", alone: true}}, keywords: keywords("class module", "def"), modifiers: set("private protected public private_class_method"), indented: 2, constants: true}
	rust := &syntax{
		comments: []string{"//"}, open: "/*", close: "*/", long: escaped(`"`), literals: literals{nested: true, chars: true, raw: 'r'}, keywords: keywords("struct enum trait union mod type impl", "fn const static macro_rules!"),
		modifiers: set("pub async unsafe extern default"),
	}
	php := &syntax{comments: []string{"//", "#"}, open: "/*", close: "*/", long: escaped(`"`, "'"), literals: literals{html: true, heredoc: "<<<", spaced: true}, keywords: keywords("class interface trait enum", "function const"), modifiers: set("abstract final public private protected static readonly")}
	kotlin := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"`, long: longs(`"""`), literals: literals{nested: true, chars: true}, keywords: keywords("class interface object typealias", "fun val var"), modifiers: set(cModifiers + " enum annotation companion actual expect lateinit inline value")}
	swift := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"`, long: longs(`"""`), literals: literals{nested: true, raw: '#', conditional: true}, keywords: keywords("class struct enum protocol extension actor typealias", "func var let"), modifiers: set("public private fileprivate internal open final static override mutating indirect convenience required lazy weak @objc @discardableResult @inlinable")}
	scala := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"`, long: longs(`"""`), literals: literals{nested: true, chars: true}, keywords: keywords("class trait object enum type", "def val var given"), modifiers: set(cModifiers + " package")}
	lua := &syntax{comments: []string{"--"}, open: "--[[", close: "]]", quotes: `"'`, long: []literal{{open: "[[", close: "]]"}}, keywords: keywords("", "function"), modifiers: set("local"), assigns: true, indented: 2}
	zig := &syntax{comments: []string{"//", `\\`}, quotes: `"`, literals: literals{chars: true}, keywords: keywords("", "fn const var test"), values: set("struct enum union packed opaque error"), modifiers: set("pub export extern inline")}
	elixir := &syntax{comments: []string{"#"}, quotes: `"`, long: longs(`"""`), keywords: keywords("defmodule defprotocol defimpl @type @typep @opaque", "def defp defmacro defmacrop defguard defguardp defdelegate @callback @macrocallback"), indented: 2}
	haskell := &syntax{comments: []string{"--"}, open: "{-", close: "-}", quotes: `"`, literals: literals{nested: true, chars: true}, keywords: keywords("data newtype type class instance module", ""), indented: 2, signatures: true}
	shell := &syntax{comments: []string{"#"}, quotes: `"'`, literals: literals{heredoc: "<<", spaced: true}, keywords: keywords("", "function"), methods: true}
	perl := &syntax{comments: []string{"#"}, quotes: `"'`, literals: literals{heredoc: "<<", document: literal{open: "=", close: "=cut", alone: true, code: true}}, keywords: keywords("package class role", "sub method")}
	julia := &syntax{comments: []string{"#"}, open: "#=", close: "=#", quotes: `"`, literals: literals{nested: true, chars: true}, long: longs(`"""`), keywords: keywords("struct module type", "function macro const"), modifiers: set("mutable abstract primitive"), indented: 4}
	dart := java.with(literals{nested: true})
	dart.long = longs(`"""`, "'''")
	groovy := java.with(literals{})
	groovy.long = dart.long
	proto := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, keywords: keywords("message enum service", "rpc")}
	sql := &syntax{comments: []string{"--"}, open: "/*", close: "*/", quotes: `"'`, long: longs("$$"), keywords: keywords("", "function procedure table view trigger FUNCTION PROCEDURE TABLE VIEW TRIGGER"), modifiers: set("create or replace temporary temp unlogged external materialized CREATE OR REPLACE TEMPORARY TEMP UNLOGGED EXTERNAL MATERIALIZED"), creates: true}
	power := &syntax{comments: []string{"#"}, open: "<#", close: "#>", quotes: `"'`, keywords: keywords("class enum", "function filter workflow"), modifiers: set("global:"), dashed: true}
	graph := &syntax{comments: []string{"#"}, quotes: `"`, long: longs(`"""`), keywords: keywords("type interface enum union input scalar", "directive fragment query mutation"), modifiers: set("extend")}
	terraform := &syntax{comments: []string{"#", "//"}, open: "/*", close: "*/", quotes: `"`, keywords: keywords("", "resource data module variable output provider"), labels: true}
	solidity := &syntax{comments: []string{"//"}, open: "/*", close: "*/", quotes: `"'`, keywords: keywords("contract interface library struct enum", "function modifier event error"), modifiers: set("abstract")}
	all := map[string]*syntax{
		"Python": python, "JavaScript": script, "TypeScript": script, "TSX": script, "JSX": script, "Vue": script, "Svelte": script, "Java": java, "C#": sharp, "C": c, "C++": cpp, "Objective-C": objc,
		"Ruby": ruby, "Rust": rust, "PHP": php, "Hack": php, "Kotlin": kotlin, "Swift": swift, "Scala": scala, "Lua": lua, "Zig": zig, "Elixir": elixir, "Haskell": haskell, "Shell": shell, "Dart": dart, "Groovy": groovy,
		"Perl": perl, "Julia": julia, "Protocol Buffer": proto, "Crystal": ruby,
		"SQL": sql, "PLpgSQL": sql, "PLSQL": sql, "TSQL": sql, "PowerShell": power, "GraphQL": graph, "HCL": terraform, "Solidity": solidity,
	}
	for _, s := range all {
		s.ready()
	}
	return all
}()
