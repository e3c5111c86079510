// Package search answers a query with one ranked list of skills.
//
// It runs four phases over candidates: a lexical score for every skill of the index, the signals that a
// candidate may have besides (a vector, a rank from a server), the mix of both with how well the name fits,
// and last the removal of what must not be shown (shadowed, copied and blocked skills) and the cut. It owns
// what a score means. It writes nothing but the index and the safety cache below $OPENSPACE_HOME.
package search
