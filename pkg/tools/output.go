package tools

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"unicode/utf8"
)

const (
	maxKept     = 64 << 20 // bytes of one output that are saved; a command that writes more is ended
	maxPending  = 64 << 10 // bytes of a line that wait for its end
	maxProgress = 4 << 10  // bytes of a line without its end, from which on it is looked at for progress
	sniffed     = 8 << 10  // bytes at the beginning that tell text from other things
)

// collector takes one output of a command while it runs. It keeps a head and a tail in memory and, when that is not all,
// the whole in a file. Text is cleaned and masked in whole lines before it is kept anywhere.
type collector struct {
	mask *Mask
	raw  bool
	half int    // bytes of the head, and of the tail
	path string // of the file for the whole; empty: none
	full func() // called once when there is too much

	mu      sync.Mutex
	pending []byte // a line without its end, or the beginning of a key
	head    []byte
	tail    []byte // holds all after the head until that is more than the half
	total   int64  // bytes of text so far
	shown   int64  // of them, those that newText returned
	file    *os.File
	saved   bool // the file is there, complete or as far as it goes
	seen    int64
	binary  bool
	over    bool
	err     error // of saving
}

// readFrom reads to the end. It is the only one that adds.
func (c *collector) readFrom(r io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			c.add(buf[:n])
		}
		if err != nil {
			break
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	if c.file != nil {
		c.keep(c.file.Close())
		c.file = nil
	}
}

func (c *collector) add(p []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen < sniffed && bytes.IndexByte(p[:min(len(p), sniffed)], 0) >= 0 && !c.binary {
		c.turnBinary()
	}
	c.seen += int64(len(p))
	if c.binary {
		c.save(p)
	} else {
		c.addText(p)
	}
	if c.seen > maxKept && !c.over {
		c.over = true
		go c.full()
	}
}

// turnBinary takes an output for something that is no text: it is counted and saved as it is.
func (c *collector) turnBinary() {
	c.binary = true
	first := append(append(c.head, c.tail...), c.pending...)
	c.head, c.tail, c.pending = nil, nil, nil
	c.save(first)
}

// addText takes all lines that are complete.
func (c *collector) addText(p []byte) {
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 {
		c.pending = append(c.pending, p...)
		c.settlePending()
		return
	}
	block := append(c.pending, p[:end]...)
	open := openKey(block)
	rest := append(bytes.Clone(block[open:]), p[end:]...)
	c.emit(block[:open])
	c.pending = rest
	c.settlePending()
}

// settlePending keeps what waits for its end small: progress that was written over is dropped.
func (c *collector) settlePending() {
	if len(c.pending) > maxProgress && !c.raw && openKey(c.pending) == len(c.pending) {
		text := settle(escapes().ReplaceAll(c.pending, nil))
		if bytes.HasSuffix(c.pending, []byte("\r")) {
			text = append(text, '\r') // what comes next is written over it
		}
		c.pending = text
	}
	if len(c.pending) > maxPending {
		c.flush()
	}
}

// openKey returns where a private key begins whose end is not there yet, or the length.
func openKey(b []byte) int {
	i := bytes.LastIndex(b, []byte("-----BEGIN "))
	if i < 0 || bytes.Contains(b[i:], []byte("-----END ")) || !bytes.Contains(b[i:], []byte("PRIVATE KEY")) {
		return len(b)
	}
	return i
}

// flush takes what waits, as far as it is whole characters.
func (c *collector) flush() {
	block := c.pending
	c.pending = nil
	if c.binary {
		return
	}
	c.emit(block)
}

// emit cleans, masks and keeps text.
func (c *collector) emit(block []byte) {
	if len(block) == 0 {
		return
	}
	text := []byte(c.mask.Text(string(clean(block, c.raw))))
	c.total += int64(len(text))
	if c.saved {
		c.save(text)
	} else if c.total > int64(2*c.half) {
		c.save(append(append(bytes.Clone(c.head), c.tail...), text...))
	}
	if n := min(c.half-len(c.head), len(text)); n > 0 {
		if n < len(text) {
			n = runeStart(text, n)
		}
		c.head, text = append(c.head, text[:n]...), text[n:]
		if len(text) > 0 {
			c.half = len(c.head) // a character that did not fit closes the head
		}
	}
	c.tail = append(c.tail, text...)
	if len(c.tail) > 2*c.half+maxPending {
		c.trim()
	}
}

// trim cuts the tail down to its size.
func (c *collector) trim() {
	if from := len(c.tail) - c.half; from > 0 {
		for from < len(c.tail) && !utf8.RuneStart(c.tail[from]) {
			from++
		}
		c.tail = append(c.tail[:0], c.tail[from:]...)
	}
}

// runeStart returns the last place up to n where a character begins.
func runeStart(b []byte, n int) int {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return n
}

// save appends to the file, which is made when it is needed first.
func (c *collector) save(p []byte) {
	c.saved = true
	if c.path == "" || c.err != nil || c.over {
		return
	}
	if c.file == nil {
		f, err := os.OpenFile(c.path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			c.keep(err)
			return
		}
		c.file = f
	}
	_, err := c.file.Write(p)
	c.keep(err)
}

func (c *collector) keep(err error) {
	if c.err == nil && err != nil {
		c.err = err
	}
}

// text returns what is shown of all, at most about room bytes, and how many bytes are left out.
func (c *collector) text(room int) (string, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	c.shown = c.total
	if c.binary {
		return fmt.Sprintf("[%d bytes that are no text%s]\n", c.seen, c.where()), c.seen
	}
	return c.bound(0, room)
}

// newText returns what came since the last call of it or of text.
func (c *collector) newText(room int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flush()
	from := c.shown
	c.shown = c.total
	if c.binary {
		return fmt.Sprintf("[%d bytes that are no text%s]\n", c.seen, c.where())
	}
	text, _ := c.bound(from, room)
	return text
}

// bound returns the text from a place on, its middle left out when it is too long.
func (c *collector) bound(from int64, room int) (string, int64) {
	size := c.total - from
	inTail := c.total - int64(len(c.tail)) // where the tail begins
	var begin, end []byte
	if from < int64(len(c.head)) {
		begin = c.head[from:]
	}
	end = c.tail[min(max(from-inTail, 0), int64(len(c.tail))):]
	if int64(len(begin)+len(end)) == size && size <= int64(room) {
		return string(begin) + string(end), 0
	}
	if n := room / 2; len(begin) > n {
		begin = begin[:runeStart(begin, n)]
	}
	if n := room - len(begin); len(end) > n {
		i := len(end) - n
		for i < len(end) && !utf8.RuneStart(end[i]) {
			i++
		}
		end = end[i:]
	}
	left := size - int64(len(begin)+len(end))
	note := fmt.Sprintf("[… %d bytes left out%s …]\n", left, c.where())
	if len(begin) > 0 && begin[len(begin)-1] != '\n' {
		note = "\n" + note
	}
	return string(begin) + note + string(end), left
}

// where says in which file the whole is.
func (c *collector) where() string {
	switch {
	case c.err != nil:
		return fmt.Sprintf("; it could not be saved: %v", c.err)
	case c.path == "" || !c.saved:
		return ""
	case c.over:
		return fmt.Sprintf("; the first %d MiB are in %s", maxKept>>20, c.path)
	}
	return "; all of it is in " + c.path
}

// fullPath returns the file with the whole output, when there is one.
func (c *collector) fullPath() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.saved || c.err != nil {
		return ""
	}
	return c.path
}
