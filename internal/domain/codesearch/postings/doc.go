// Package postings reads the terms of an index and where each is, as they are on disk: a table of the terms in
// lexical order, their texts, and of each term the numbers that it is at with a byte for each. It knows neither
// what a number is of nor what a byte says.
package postings
