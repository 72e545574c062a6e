// Package draw draws what a terminal shows of a gateway's answers: rows as a table
// that fits, and a change that waits as a card. Whatever a server or a person wrote
// has no characters left that could command the terminal. It knows neither the
// gateway nor the terminal. Start with [Table] and [Card].
package draw
