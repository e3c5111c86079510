package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirects judges the redirections of a statement and returns the input that they give it.
func (j *judge) redirects(s *syntax.Stmt, in input) input {
	for _, r := range s.Redirs {
		if r.Word != nil {
			j.words(r.Word)
		}
		if r.Hdoc != nil {
			j.words(r.Hdoc)
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			in = j.document(r)
		case syntax.WordHdoc:
			text, known := j.value(r.Word)
			in = input{text: text, known: known}
		case syntax.RdrIn:
			in = input{file: true, network: runsNetwork(r.Word)}
			j.readable(r.Word, r)
		case syntax.DplIn, syntax.DplOut:
		default:
			j.target(r.Word, r)
		}
	}
	return in
}

// document returns the text of a here-document.
func (j *judge) document(r *syntax.Redirect) input {
	if r.Hdoc == nil {
		return input{known: true}
	}
	if quoted(r.Word) {
		return input{text: r.Hdoc.Lit(), known: true}
	}
	text, known := j.expandDocument(r.Hdoc)
	return input{text: text, known: known}
}

// quoted tells whether the end mark of a here-document is quoted, so that nothing in it is expanded.
func quoted(w *syntax.Word) bool {
	for _, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(part.Value, `\`) {
				return true
			}
		}
	}
	return false
}
