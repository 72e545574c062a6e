// Package vocabulary knows words: which say nothing in a question, what code calls what people say, and which words are
// used for each other. It is general knowledge of programming. Words are stems, as [words.Stem]
// makes them, but for [Silent]. Start with [Meanings] and [Synonyms].
package vocabulary
