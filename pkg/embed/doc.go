// Package embed turns texts into vectors.
//
// It owns the interface [Embedder] and what implements it: the built-in model ([Builtin]), an
// OpenAI-compatible endpoint (package openai below it) and a cache on disk in front of either ([NewCache]).
// None is a nil Embedder: the caller searches by words alone. It knows nothing of skills beyond the three
// parts of a [Text], and stores no index.
//
// The built-in model is a file in the program: words in order, an int8 row for each, used where they lie.
// Opening it reads its header and no more. Its vectors depend on nothing but the text: not on the machine, on
// the order of texts or on how many cores there are. docs/embedding.md says how it is made.
//
// An endpoint is reached only when its owner set one; what is sent is the text of [Text.Join], cut at the
// model's limit. An answer with fewer vectors, another width, a zero or a NaN is an error, and nothing of it
// is kept.
package embed
