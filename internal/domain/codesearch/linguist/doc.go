// Package linguist says what kind of file a source file is: its language, whether it is
// binary, and whether it is a test, generated, vendored and the like, by GitHub's Linguist
// as go-enry has it and by rules of our own. It knows no index and opens no file. Start
// with LanguageOf, then Rules.
package linguist
