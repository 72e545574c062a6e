// Package company is the sample company: one deterministic fixture that every
// engine is filled from, so that every store, test and demo has the same people,
// salaries and ids.
//
// It is pure data over the standard library. It knows no store and no policy;
// who may see a row is decided elsewhere. Start with [At] for the company on a
// day, [Accounts] for the people who can sign in, and [Scaled] for a
// company of any size.
package company
