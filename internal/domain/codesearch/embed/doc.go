// Package embed adds embeddings to code search: it fetches them from any address
// that speaks OpenAI's /v1/embeddings, keeps those of an index's chunks beside it by
// the hash of their text, and fuses the nearest chunks with the ones that words
// found. Without an answer in time there are the ones that words found, and a
// sentence that says so. Start with Update and Searcher.
package embed
