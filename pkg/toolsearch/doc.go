// Package toolsearch says which of many tools a task may need.
//
// A model that is shown hundreds of tools pays for all of them with every request and chooses badly among them. This
// package ranks tools by a text: by the words of their names, descriptions and arguments (BM25F, as skills are ranked),
// by the built-in vectors, and by how well their servers fit as a whole, and takes tools down that keep failing. It knows
// nothing of servers and models, opens no connection, and the same tools and text always come to the same order.
//
// docs/tools.md has the numbers.
package toolsearch
