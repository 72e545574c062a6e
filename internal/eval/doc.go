// Package eval asks a set of questions of a model, through a running gateway as
// a person would, and says what was right, what was honest and what it cost. It is how
// a company picks its model: it takes the company's own questions too.
//
// A question says what a right answer rests on: the tools, their arguments and
// rows. It knows the gateway by its HTTP contract only, and no change that a
// model asks for is ever approved. Start with [Sets] and [Run].
package eval
