package chunk

import (
	"slices"
	"strings"
	"testing"
)

// TestDefinitionsAreFound: in each language the names that people look for.
func TestDefinitionsAreFound(t *testing.T) {
	for language, c := range map[string]struct{ src, want string }{
		"Go":         {"package p\n\ntype Server struct{}\n\nfunc (s *Server) Run() {}\n\nconst Limit = 1\n", "Server Server.Run Limit"},
		"Python":     {"class Server:\n    def run(self):\n        pass\n\nasync def main():\n    pass\n", "Server Server.run main"},
		"JavaScript": {"export class Server {\n  run() {\n  }\n}\nexport const main = async () => {\n};\nfunction helper() {\n}\n", "Server Server.run main helper"},
		"TypeScript": {"export interface Options {\n}\nexport abstract class Server {\n  private async run(): Promise<void> {\n  }\n}\n", "Options Server Server.run"},
		"Java":       {"public class Server {\n  public void run(int a) {\n  }\n  class Inner {\n    void deep() {\n    }\n  }\n}\n", "Server Server.run Server.Inner Inner.deep"},
		"C#":         {"namespace A {\n  public class Server {\n    class Inner {\n      public void Run() {\n      }\n    }\n  }\n}\n", "Server Server.Inner Inner.Run"},
		"C":          {"struct point {\n  int x;\n};\nstatic int run(struct point *p)\n{\n}\n#define LIMIT 5\n", "point run LIMIT"},
		"C++":        {"namespace a {\nnamespace b {\nclass Server {\n  void run() {\n  }\n};\n}\n}\nvoid Server::stop() {\n}\n", "a a.b b.Server Server.run Server.stop"},
		"Ruby":       {"module A\n  class Server\n    def run\n    end\n    def self.stop\n    end\n  end\nend\n", "A A.Server Server.run Server.stop"},
		"Rust":       {"pub struct Server {\n}\nimpl Server {\n    pub async fn run(&self) {\n    }\n}\nimpl<T> Drop for Server {\n}\n", "Server Server Server.run Server"},
		"PHP":        {"<?php\nfinal class Server {\n  public static function &run() {\n  }\n}\n", "Server Server.run"},
		"Kotlin":     {"class Server {\n  suspend fun run() {\n  }\n}\nfun <T> List<T>.second(): T {\n}\ninline fun <reified T> make() {\n}\n", "Server Server.run make"},
		"Swift":      {"public struct Server {\n  func run() {\n  }\n}\nextension Server {\n}\n", "Server Server.run Server"},
		"Scala":      {"object Server {\n  def run(): Unit = {\n  }\n}\n", "Server Server.run"},
		"Lua":        {"local function helper()\nend\nfunction Server:run()\nend\nM.stop = function()\nend\n", "helper Server.run M.stop"},
		"Zig":        {"pub fn run() void {\n}\nconst Server = struct {\n};\n", "run Server"},
		"Elixir":     {"defmodule App.Server do\n  def run(x) do\n  end\n  defp helper, do: 1\nend\n", "App.Server Server.run Server.helper"},
		"Haskell":    {"module App where\n\ndata Server = Server Int\n\nrun :: Server -> IO ()\nrun s = pure ()\n", "App Server run"},
		"Shell":      {"run() {\n}\nfunction stop {\n}\n", "run stop"},
	} {
		got := defined(language, c.src)
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %v", language, want, got)
			}
		}
	}
}

// defined are the names that a source defines, with the types that they belong to.
func defined(language, src string) (all []string) {
	for _, chunk := range Of(language, []byte(src)) {
		for _, d := range chunk.Definitions {
			all = append(all, strings.TrimPrefix(d.Of+"."+d.Name, "."))
		}
	}
	return all
}

// TestDefinitionsInEveryForm: these are all names that a source defines, in order, however
// much comes before them and wherever their bodies are.
func TestDefinitionsInEveryForm(t *testing.T) {
	for _, c := range []struct{ language, src, want string }{
		{"Scala", "sealed private[data] trait Laws[F[_]] {\n}\n@InternalApi private[akka] final case class Sent(a: Int)\npackage object dsl {\n}\n", "Laws Sent dsl"},
		{"Kotlin", "public fun interface Sink<in T> {\n}\nprivate fun <T> Flow<T>.wait(\n  a: Int) {\n}\nfun Any?.unbox(): Any? = this\n", "Sink Flow.wait Any.unbox"},
		{"Kotlin", "class Queue<E : Any>(\n  private val size: Int,\n  val name: String\n) : Base() {\n  fun close() {\n  }\n}\nfun open() {\n}\n", "Queue Queue.size Queue.name Queue.close open"},
		{"Haskell", "{- | Servers.\ndata Old = Old\n\nstop :: IO () -}\ndata Server = Server {- inline -} { port :: Int }\n\nrun :: Server -> IO ()\n", "Server run"},
		{"Java", "interface Node<K, V> {\n  Map<String, List<V>> all(K key);\n  @Deprecated(\"a(b)\") <T> T cast(Class<T> type);\n}\n", "Node Node.all Node.cast"},
		{"Java", "class A {\n  int f() {\n    return big\n        ? one(this)\n        : two(this);\n  }\n}\n", "A A.f"},
		{"C#", "class A\n{\n  [Pure]\n  public JsonToken? End<T>(int a)\n  {\n    Check(a);\n  }\n  protected abstract void Stop();\n}\n", "A A.End A.Stop"},
		{"TypeScript", "export class A<T> {\n  multiplex(\n    a: string\n  ) {\n    send(a);\n  }\n  delete<R>(url: string): R;\n}\n", "A A.multiplex A.delete"},
		{"JavaScript", "module.exports = {\n  build (a) { return new A(a) },\n  run: 1\n}\nrun(a)\n", "build"},
		{"C", "typedef struct node_s node_t;\ntypedef int (*compare)(int a,\n    int b);\ntypedef int visit(int a);\ntypedef struct {\n  int a;\n} pair_t, *pair_p;  /* two */\n", "node_t compare visit pair_t"},
		{"C", "static ngx_int_t\nngx_run(ngx_pool_t *p,\n  struct node *n)\n{\n}\n#  define LIMIT 5\n", "ngx_run LIMIT"},
		{"C", "static void run(int a,\n                int b);\nint stop(void); // here\nint sum(const int *a,\n        const struct pair* b) {\n}\n", "sum"},
		{"C", "int run(struct ring *r,\n        struct pool *p,\n        int n)\n{\n  struct ring *old = r->next;\n  struct pool one = *p;\n  struct node *left, *right;\n}\nstruct ring {\n  struct ring *next;\n};\nstruct pool table = {\n};\n", "run ring table"},
		{"C", "INLINE(int) ring_size(struct ring *r)\n{\n  if (r) size(r);\n}\nAPI(int) ring_open(void);\n", "ring_size"},
		{"Java", "class A {\n  @SuppressWarnings(\"a(b)\")\n  @Nullable\n  int f() {\n  }\n}\n", "A A.f"},
		{"C++", "struct Of<T*> : public Base<A, B> {\n};\nclass EXPORT_API Log final : public Base {\n};\ntemplate <typename T> struct Fill {\n};\nenum Kind { A, B };\nusing Callback = void (*)(int);\n", "Of Log Fill Kind Callback"},
		{"C++", "template <typename K, class C>\ntypename List<K, C>::Node*\nList<K, C>::Find(const K& key,\n  int n) const {\n}\n", "List.Find"},
		{"Rust", "impl<'a, T: Into<Vec<u8>>> Drop for Pool<'a, T> {\n  pub const fn size(&self) -> usize {\n  }\n}\n#[inline] pub fn run() {\n}\n", "Pool Pool.size run"},
		{"Elixir", "defmodule A do\n  @type token :: binary\n  @callback open(token) :: any\n  defguard is_open(a) when a\n  defdelegate close(a), to: B\nend\n", "A A.token A.open A.is_open A.close"},
		{"Shell", "run() { # at once\n}\nstop()\n{\n  run a\n}\n", "run stop"},
		{"Rust", "pub(self) fn a() {\n}\npub(in crate::b) fn c() {\n}\npub extern \"C\" fn d() {\n}\nimpl<'a> Tr for &'a mut Foo {\n}\nimpl dyn Any {\n}\nimpl Tr for Box<dyn Foo> {\n}\nimpl<T> Join for [T] {\n}\n", "a c d Foo Any Box Join"},
		{"C++", "extern \"C\" int run(int a) {\n}\n", "run"},
		{"C#", "namespace App;\npublic record P(int X, int Y);\npublic record struct Q(int X);\npublic delegate void Handler<T>(int x);\nclass A {\n  public string Name { get; set; }\n  public List<int> All => all;\n  public static int Size\n  {\n    get { return size; }\n  }\n  public (int a, string b) Both(int c) {\n    return x;\n  }\n  private int plain;\n}\n", "P Q Handler A A.Name A.All A.Size A.Both"},
		{"C#", "namespace App\n{\n  class A {\n  }\n}\n", "A"},
		{"PHP", "<?php\nnamespace App\\Models;\nfunction a() {\n}\n", "a"},
		{"Ruby", "LIMIT = 5\nclass A\n  attr_accessor :name, :size # both\n  Error = Class.new\n  def b\n    x == 1\n  end\nend\n", "LIMIT A A.name A.size A.Error A.b"},
		{"Kotlin", "const val LIMIT = 1\nclass A {\n  val b = 1\n  companion object {\n    const val C = 1\n  }\n  fun d() {\n    val local = 1\n  }\n}\n", "LIMIT A A.b A.C A.d"},
		{"TypeScript", "export function f<\n  const A extends B,\n>(a: A) {\n}\n", "f"},
		{"Java", "\ufeffclass A {\n}\n", "A"},
		{"SQL", "CREATE TABLE IF NOT EXISTS app.users (\n  id int\n);\ncreate or replace function count_users() returns int as $$\n  create table not_here (a int);\n$$;\nDROP TABLE old;\nALTER TABLE users ADD x int;\nCREATE VIEW \"Seen\" AS SELECT 1;\n", "app.users count_users Seen"},
		{"PowerShell", "function Get-Item2 {\n}\nfunction global:Stop-It($a) {\n}\nclass Pool {\n}\n", "Get-Item2 Stop-It Pool"},
		{"GraphQL", "type User {\n  id: ID\n}\nextend type Query {\n  a: Int\n}\ninput Filter {\n  a: Int\n}\n", "User Query Filter"},
		{"HCL", "resource \"aws_instance\" \"web\" {\n  ami = \"a\"\n}\nvariable \"size\" {\n}\n", "aws_instance.web size"},
		{"Solidity", "contract Bank {\n  event Paid(int a);\n  function pay() public {\n  }\n}\n", "Bank Bank.Paid Bank.pay"},
		{"Swift", "class A {\n  @available(iOS 13, *) class func make() {\n  }\n}\n", "A A.make"},
		{"Objective-C", "@interface Ring : NSObject\n- (void)open;\n@end\n@implementation Ring\n- (void)seal:(int)x with:(id)y {\n  [self open];\n}\n+ (instancetype)make\n{\n}\n@end\n", "Ring Ring seal make"},
		{"Perl", "package Net::Pool;\nsub open {\n}\n", "Net.Pool open"},
		{"Julia", "mutable struct Pool\nend\nfunction open(p)\nend\n", "Pool open"},
		{"Protocol Buffer", "message Token {\n}\nservice Auth {\n  rpc Verify(Token) returns (Token);\n}\n", "Token Auth Auth.Verify"},
	} {
		if got := strings.Join(defined(c.language, c.src), " "); got != c.want {
			t.Errorf("%s: %s, not %s, in\n%s", c.language, got, c.want, c.src)
		}
	}
}

// TestImportsDefineNothing: a name that comes from another file is defined there.
func TestImportsDefineNothing(t *testing.T) {
	for _, chunk := range Of("JavaScript", []byte("const seal = require(\"./seal\");\nconst { open } = require('./open');\n")) {
		if len(chunk.Definitions) > 0 {
			t.Errorf("%+v", chunk.Definitions)
		}
	}
}
