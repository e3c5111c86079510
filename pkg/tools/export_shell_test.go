package tools

import "io"

// Collect gives chunks to a collector and returns what it shows of them in room bytes, and how many are left out.
func Collect(chunks [][]byte, half, room int, raw bool) (string, int64) {
	c := &collector{half: half, raw: raw, full: func() {}}
	r, w := io.Pipe()
	go func() {
		for _, chunk := range chunks {
			w.Write(chunk)
		}
		w.Close()
	}()
	c.readFrom(r)
	return c.text(room)
}
