package safety

// Find runs the finder of the scan over a text and returns the literals that it
// finds, with where they start.
func Find(literals []string, data []byte) map[int][]string {
	found := map[int][]string{}
	for _, h := range newFinder(literals).find(data, nil) {
		found[int(h.start)] = append(found[int(h.start)], literals[h.lit])
	}
	return found
}

// RulesVersion is the version that the cache knows.
const RulesVersion = rulesVersion
