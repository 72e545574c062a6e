package chunk

import (
	"strings"
	"testing"
	"time"
)

// TestLiteralsHideNoDefinition: what comes after a literal with a brace, a quote or the
// beginning of a comment in it is found, at its own level.
func TestLiteralsHideNoDefinition(t *testing.T) {
	for _, c := range []struct{ language, src, want string }{
		{"JavaScript", "const bad = /[`~]/;\nclass A {\n  one() {\n    return a.replace(/\\{/g, '') / 2;\n  }\n  two() {\n    return x / y /* { */;\n  }\n}\n", "bad A A.one A.two"},
		{"JavaScript", "const a = `\\`{`;\nclass A {\n  one() {\n    return /['\"]{/.test(a)\n  }\n  two() {\n  }\n}\n", "a A A.one A.two"},
		{"JavaScript", "class A {\n  one() {\n    return `'${a.replace(/'/g, `'\\\\''`)}'`\n  }\n  two() {\n    return `${a.map((b) => {\n      return `{${b}`\n    })} {`\n  }\n  three() {\n  }\n}\n", "A A.one A.two A.three"},
		{"Perl", "sub a {\n}\n\n=head1 B\n\nsub not_here {\n", "a"},
		{"TSX", "class A {\n  one() {\n    return <p>{a} {b}<br /> / </p>\n  }\n  two() {\n  }\n}\n", "A A.one A.two"},
		{"Rust", "fn a() {\n    match c {\n        b'{' | '{' | '\\u{7b}' | '\"' => 1,\n    }\n}\nimpl<'a> B {\n    fn c(&'a self) {\n    }\n}\nfn d() {\n}\n", "a B B.c d"},
		{"Rust", "fn a() {\n    print(\"{ and\n      { { \\\" more\");\n    b(r#\"{\"{\"#);\n}\n/* { /* { */ { */\nimpl B {\n    fn c() {\n    }\n}\n", "a B B.c"},
		{"Kotlin", "class A {\n  fun b() {\n    if (c == '{' || c == '\"') d()\n  }\n  fun e() {\n  }\n}\nclass F {\n}\n", "A A.b A.e F"},
		{"Scala", "object A {\n  def b = {\n    c == '{'\n  }\n  def e = 'symbol\n}\nobject F {\n}\n", "A A.b A.e F"},
		{"C#", "class A {\n  void B() {\n    c = @\"{ \"\"quoted\"\" {\n      {\\\";\n    d = $@\"{e}{{\";\n  }\n  void F() {\n  }\n}\nclass G {\n}\n", "A A.B A.F G"},
		{"C#", "class A {\n  void B() {\n    c = \"\"\"\n      { \"{\"\n      \"\"\";\n  }\n#if X\n  void F(int a) {\n#else\n  void F() {\n#endif\n  }\n}\nclass G {\n}\n", "A A.B A.F A.F G"},
		{"PHP", "<p>don't { </p>\n<?php\nclass A {\n  function b() {\n    $c = <<<EOT\n      { it's\n      EOT;\n    $d = <<<'X'\n{ \"\nX;\n    $e = 'select {\n      \\'{';\n  }\n  function f() { ?>\n    <p>it's { </p>\n  <?php }\n  function g() {\n  }\n}\nclass H {\n}\n", "A A.b A.f A.g H"},
		{"Ruby", "=begin\nclass Old\n=end\nclass A\n  def b\n    run <<~SQL, 1\n      def not_here\n    SQL\n    list << 1\n  end\n  class << self\n    def c\n    end\n  end\nend\n", "A A.b A.c"},
		{"Shell", "a() {\n  cat <<EOF\n{\nb() {\nEOF\n}\nc() {\n  x=$((1 << 2))\n}\n", "a c"},
		{"Perl", "=pod\n\nsub old {\n\n=cut\n\nsub a {\n  print <<\"END\";\nsub not_here {\nEND\n}\nsub b {\n}\n", "a b"},
		{"C", "int run(int a) {\n" + strings.Repeat("#if A\n  if (a) {\n#elif B\n  if (b) {\n#else\n  {\n#endif\n  }\n", 3) + "}\nint stop(void) {\n}\n", "run stop"},
		{"C++", "class A {\n  void b() {\n    c(R\"x({ \" {)\" )x\");\n  }\n  void d() {\n  }\n};\nclass E {\n};\n", "A A.b A.d E"},
		{"Swift", "class A {\n  func b() {\n    c(#\"{ \" { \" \\\"#)\n  }\n  func d() {\n  }\n}\nclass E {\n}\n", "A A.b A.d E"},
		{"Dart", "class A {\n  void b() {\n    c('''{ it's\n      {''');\n  }\n  void d() {\n  }\n}\nclass E {\n}\n", "A A.b A.d E"},
		{"Lua", "--[[\nfunction old()\n]]\nlocal a = [[\nfunction not_here()\n]]\nfunction b()\nend\n", "b"},
		{"Zig", "const a =\n    \\\\ \" {\n;\nfn b() void {\n    c('{');\n}\nfn d() void {\n}\n", "a b d"},
	} {
		if got := strings.Join(defined(c.language, c.src), " "); got != c.want {
			t.Errorf("%s: %s, not %s, in\n%s", c.language, got, c.want, c.src)
		}
	}
}

// TestUnendedStringHidesNothing: where the end of a string over lines is not found, the
// scanner did not understand it, and the rest of the file counts.
func TestUnendedStringHidesNothing(t *testing.T) {
	for language, src := range map[string]string{
		"JavaScript": "x = ` {\nclass A {\n}\n", "Rust": "x!(\" )\nstruct A {\n}\n", "PHP": "<?php\n$x = <<<EOT\nclass A {\n}\n", "Ruby": "x <<A\nclass A\nend\n",
	} {
		if got := defined(language, src); len(got) == 0 || got[len(got)-1] != "A" {
			t.Errorf("%s: %q", language, got)
		}
	}
}

// TestTimeIsLinear: a text that is sixteen times as long takes about sixteen times as long,
// and not the square of it, whatever it repeats.
func TestTimeIsLinear(t *testing.T) {
	const short, times, limit = 8 << 10, 16, 90
	for _, c := range []struct{ language, begin, repeated string }{
		{"JavaScript", "", `'\`}, {"JavaScript", "", "/\\"}, {"JavaScript", "", "/ "}, {"JavaScript", "", "`${"}, {"TypeScript", "x", "<<"}, {"Java", "int f", "<"}, {"Java", "Map", "<a"}, {"C++", "x(", "<<"}, {"C++", "int x", "<<"},
		{"Kotlin", "fun ", "<"}, {"C++", "", "template<"}, {"C++", "", "R\"("}, {"PHP", "<?php ", "<<<"}, {"Rust", "", "r#\""}, {"Rust", "", "/*"}, {"Swift", "", "#\""}, {"C#", "", "@\"\""}, {"Ruby", "", "<<-"},
		{"Java", "", "class a {\n"}, {"C", "", "int f(a\n"}, {"C++", "", "#if\n"}, {"Go", "package p\n", "func a() {\n"},
	} {
		took := func(size int) time.Duration {
			src := []byte(c.begin + strings.Repeat(c.repeated, size/len(c.repeated)))
			least := time.Hour
			for range 5 {
				began := time.Now()
				Of(c.language, src)
				least = min(least, time.Since(began))
			}
			return least
		}
		if one, many := took(short), took(times*short); many > limit*max(one, 20*time.Microsecond) {
			t.Errorf("%s, %s repeated: %v for %d bytes, %v for %d times as many", c.language, c.repeated, one, short, many, times)
		}
	}
}
