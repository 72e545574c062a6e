// Package words divides text into the terms of the index: identifiers into their
// parts, and each part into its stem. It knows no language and no file; the index
// and the queries use the same rules, so that both find the same terms. Start with
// Next and Terms.
package words
