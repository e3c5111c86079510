// Package registry is the server of a skill community: the API that docs/registry-api.md describes, over a
// storage that docs/format-registry.md describes.
//
// It owns who may see and change what, when two uploads are the same, what becomes of the files of an upload,
// search among what a caller may see, and the storage interface with its implementation in files. What the
// API looks like on the wire is package api; how words are searched is package index.
//
// A Server answers from memory and storage; what it acknowledged is in the storage. It is safe for concurrent
// use. Several servers may share one storage if the storage allows it: each follows the others' changes.
package registry
