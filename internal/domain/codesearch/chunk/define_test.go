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
		"C#":         {"namespace A {\n  public class Server {\n    class Inner {\n      public void Run() {\n      }\n    }\n  }\n}\n", "A A.Server Server.Inner Inner.Run"},
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
		var got []string
		for _, chunk := range Of(language, []byte(c.src)) {
			for _, d := range chunk.Definitions {
				got = append(got, strings.TrimPrefix(d.Of+"."+d.Name, "."))
			}
		}
		for _, want := range strings.Fields(c.want) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %s is not among %v", language, want, got)
			}
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
