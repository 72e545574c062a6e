// Package facts computes with rows of answers, and writes them for people: sums and averages,
// groups, the order by a figure, what a row is called, and its fields in a sentence.
package facts
