package store

import "math/bits"

// ToolRecord is what the samples of one tool come to.
type ToolRecord struct {
	Key string // backend:tool, or backend:server:tool
	ToolStats
	Failures int // of the last calls, in a row; at most 64
}

// Tools returns what is known of all tools, sorted by key.
func (s *Store) Tools() (out []ToolRecord, err error) {
	err = s.read(func(v *view) error {
		v.scan(keyTool, func(key string, _ []byte) bool {
			key = key[len(keyTool):]
			t := v.tally(key)
			out = append(out, ToolRecord{Key: key, ToolStats: v.toolStats(key), Failures: min(bits.TrailingZeros64(t.bits), int(t.recent))})
			return true
		})
		return nil
	})
	return out, err
}
