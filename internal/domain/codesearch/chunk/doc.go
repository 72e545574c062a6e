// Package chunk divides source files into pieces that can be found: by the
// declarations of Go, by those that a scanner finds in other languages, and by
// blank lines in everything else. It owns the table of languages. It knows no
// index and opens no file. Start with Of, then syntax in languages.go.
package chunk
