// Package company is the sample company: one deterministic fixture that every
// engine is filled from, so that the same person, salary and id is met in every
// store, test and demo.
//
// It is pure data over the standard library. It knows no store and no policy;
// who may see a row is decided elsewhere. Start with [At] for the company as it
// stands on a day, [Accounts] for the people who can sign in, and [Scaled] for a
// company of any size.
package company
