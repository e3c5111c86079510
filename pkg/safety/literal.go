package safety

// hit is one occurrence of a literal: the offset behind its last byte, and its
// number.
type hit struct {
	end int32
	lit uint16
}

// automaton finds many literals in one pass (Aho–Corasick, compiled to a full
// transition table). Letters A to Z are folded; every other byte stands for
// itself. States are kept as offsets into next, and the states that end a
// literal come last, so that the loop has one comparison a byte.
type automaton struct {
	class    [256]uint8
	next     []uint32
	firstOut uint32
	outs     [][]uint16 // literals of state firstOut + i*width
	width    uint32
}

// trieNode is a node while the automaton is built.
type trieNode struct {
	edge []uint32 // by class; 0 is no edge (the root is nobody's child)
	fail uint32
	out  []uint16
}

// newAutomaton compiles literals, which must be lower case and not empty.
func newAutomaton(literals []string) *automaton {
	a := &automaton{}
	a.width = a.classify(literals)
	nodes := a.trie(literals)
	order := a.link(nodes)
	a.number(nodes, order)
	return a
}

// classify gives each byte that occurs in a literal a class of its own and all
// others class 0. It returns the number of classes.
func (a *automaton) classify(literals []string) uint32 {
	n := uint8(0)
	for _, l := range literals {
		for i := range len(l) {
			if a.class[l[i]] == 0 {
				n++
				a.class[l[i]] = n
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		a.class[c-'a'+'A'] = a.class[c]
	}
	return uint32(n) + 1
}

func (a *automaton) trie(literals []string) []trieNode {
	nodes := []trieNode{{edge: make([]uint32, a.width)}}
	for id, l := range literals {
		at := uint32(0)
		for i := range len(l) {
			c := a.class[l[i]]
			if nodes[at].edge[c] == 0 {
				nodes[at].edge[c] = uint32(len(nodes))
				nodes = append(nodes, trieNode{edge: make([]uint32, a.width)})
			}
			at = nodes[at].edge[c]
		}
		nodes[at].out = append(nodes[at].out, uint16(id))
	}
	return nodes
}

// link turns the trie into a complete transition function, breadth first, and
// returns the nodes in that order.
func (a *automaton) link(nodes []trieNode) []uint32 {
	order := make([]uint32, 1, len(nodes))
	for i := 0; i < len(order); i++ {
		at := order[i]
		for c, child := range nodes[at].edge {
			fallback := nodes[nodes[at].fail].edge[c]
			if child == 0 {
				nodes[at].edge[c] = fallback
				continue
			}
			order = append(order, child)
			if at != 0 {
				nodes[child].fail = fallback
				nodes[child].out = append(nodes[child].out, nodes[fallback].out...)
			}
		}
	}
	return order
}

// number lays the states out: the root first, those that end a literal last.
func (a *automaton) number(nodes []trieNode, order []uint32) {
	state := make([]uint32, len(nodes))
	n := uint32(0)
	for _, outs := range []bool{false, true} {
		if outs {
			a.firstOut = n * a.width
		}
		for _, id := range order {
			if (len(nodes[id].out) > 0) == outs {
				state[id] = n * a.width
				n++
			}
		}
	}
	a.next = make([]uint32, n*a.width)
	a.outs = make([][]uint16, n-a.firstOut/a.width)
	for id, node := range nodes {
		for c, to := range node.edge {
			a.next[state[id]+uint32(c)] = state[to]
		}
		if len(node.out) > 0 {
			a.outs[(state[id]-a.firstOut)/a.width] = node.out
		}
	}
}

// find appends every occurrence of every literal in data to hits, in order of
// their ends.
func (a *automaton) find(data []byte, hits []hit) []hit {
	state, next, class := uint32(0), a.next, &a.class
	for i, b := range data {
		state = next[state+uint32(class[b])]
		if state >= a.firstOut {
			for _, l := range a.outs[(state-a.firstOut)/a.width] {
				hits = append(hits, hit{end: int32(i + 1), lit: l})
			}
		}
	}
	return hits
}
