// Package vocabulary knows words: which say nothing in a question, what code calls what people say, and which words are
// used for each other. It is general knowledge of programming, and of no repository. All words are stems, as
// [words.Stem] makes them. Start with [Meant] and [Synonyms].
package vocabulary
