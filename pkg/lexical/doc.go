// Package lexical turns text into terms and terms into scores.
//
// It owns word segmentation (Unicode, with camelCase, hyphens, "c++", "node.js" and CJK bigrams), case and
// width folding, stemming, stop words, and the BM25F arithmetic over the four fields of a skill. It knows
// nothing of files: [pkg/index] stores what it computes.
//
// # Terms
//
// A term is an exact folded form together with its stem. Postings are kept per exact form; the forms that
// share a stem are neighbours in the dictionary, so that a query word finds all its variants and can count
// the exact one for more. A compound ("node.js", "polygon-bevel", "parseHTTPResponse") gives its parts and,
// beside them, the parts joined ("nodejs"), so that every spelling of it meets.
//
// Everything here is deterministic and does not depend on the locale. An [Analyzer] is not safe for
// concurrent use; make one for each goroutine.
package lexical
