package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openspace-dev/openspace/pkg/journal"
	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// What a line of the ledger says about a message.
const (
	received = "received" // it was taken over; its content
	edited   = "edited"   // its new content
	begun    = "begun"    // a task was started for it
	answered = "answered" // the parts of its answer
	sent     = "sent"     // one part is on the platform
	closed   = "closed"   // nothing more is to be done for it
)

// entry is one line of the ledger. docs/gateway.md has the format.
type entry struct {
	Kind     string   `json:"kind"`
	Key      string   `json:"key"`
	At       int64    `json:"at"` // Unix milliseconds
	Account  string   `json:"account,omitempty"`
	Session  string   `json:"session,omitempty"`
	Message  *Message `json:"message,omitempty"`
	Parts    []part   `json:"parts,omitempty"`
	Status   string   `json:"status,omitempty"` // of the task; of closed: why
	TaskID   string   `json:"task_id,omitempty"`
	Part     int      `json:"part,omitempty"`
	PartID   string   `json:"part_id,omitempty"` // the id that the platform gave it
	Undone   bool     `json:"undone,omitempty"`  // of sent: it cannot be sent
	Response string   `json:"response,omitempty"`
}

// part is one message of an answer.
type part struct {
	Text string `json:"text,omitempty"`
	File *File  `json:"file,omitempty"`
}

// item is a message on its way through the gateway.
type item struct {
	key     string
	account string
	session string
	message Message
	at      time.Time

	begun    int // how often a task was started for it
	taskID   string
	answered bool
	found    time.Time // when the answer was
	out      *outgoing // once it is being sent
	status   string
	response string // what the transcript will have
	parts    []part
	ids      []string // of the parts that are sent, in order; "" for one that cannot be sent
}

// keyOf names a message: the same however often it is delivered.
func keyOf(a Account, m Message) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{a.Platform, a.ID, m.Chat.ID, m.ID}, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// seenFor is how long a message is known after it was closed. Platforms deliver again for some hours at most.
const seenFor = 72 * time.Hour

// seen is what is known of a key.
type seen struct {
	stored chan struct{} // closed once it is on disk, or was not
	closed time.Time     // zero: it is open
}

// ledger remembers on disk what was received and what became of it.
type ledger struct {
	journal *journal.Journal
	now     func() time.Time
	queue   chan commit
	ended   chan struct{}

	damaged int         // lines that could not be read
	failing atomic.Bool // the last write failed

	mu   sync.Mutex
	keys map[string]*seen
	stop bool

	end journal.Position // of the writer
}

// commit is lines that wait to be on disk.
type commit struct {
	lines [][]byte
	done  chan error
}

// openLedger reads the ledger in a folder and returns what is still to be done, in the order in which it was
// received. The caller holds the lock of the folder.
func openLedger(dir string, now func() time.Time) (*ledger, []*item, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("open ledger: %w", err)
	}
	l := &ledger{journal: journal.New(dir), now: now, queue: make(chan commit), ended: make(chan struct{}), keys: map[string]*seen{}}
	open, err := l.replay()
	if err == nil {
		err = l.compact()
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.journal.Close())
	}
	go l.write()
	return l, open, nil
}

// replay reads all lines. What a line says of a message that was not received, or is closed, means nothing.
func (l *ledger) replay() ([]*item, error) {
	items, order := map[string]*item{}, []string{}
	err := l.journal.CatchUp(&l.end, func(_ journal.Place, line []byte, good bool) error {
		var e entry
		if !good || jsonl.Unmarshal(line, &e) != nil || e.Key == "" {
			l.damaged++
			return nil
		}
		it := items[e.Key]
		switch {
		case e.Kind == received && it == nil && e.Message != nil && l.keys[e.Key] == nil:
			items[e.Key] = &item{key: e.Key, account: e.Account, session: e.Session, message: *e.Message, at: time.UnixMilli(e.At)}
			order = append(order, e.Key)
			l.keys[e.Key] = &seen{}
		case e.Kind == closed:
			delete(items, e.Key)
			l.keys[e.Key] = &seen{closed: time.UnixMilli(e.At)}
		case it != nil:
			it.apply(e)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	var open []*item
	for _, key := range order {
		if it := items[key]; it != nil {
			open = append(open, it)
		}
	}
	return open, nil
}

// apply is what a line says of a message that is open.
func (it *item) apply(e entry) {
	switch e.Kind {
	case edited:
		if e.Message != nil {
			it.message = *e.Message
		}
	case begun:
		it.begun++
	case answered:
		it.answered, it.found, it.parts, it.ids = true, time.UnixMilli(e.At), e.Parts, nil
		it.status, it.taskID, it.response = e.Status, e.TaskID, e.Response
	case sent:
		if e.Part == len(it.ids) && e.Part < len(it.parts) {
			it.ids = append(it.ids, e.PartID)
		}
	}
}

// compact drops the lines of messages that were closed: all but the last one, which tells that the message is
// known, and that after a while.
func (l *ledger) compact() error {
	segs, err := l.journal.Segments()
	if err != nil || len(segs) == 0 {
		return err
	}
	for _, seg := range segs[:len(segs)-1] {
		if _, err := l.journal.Compact(seg, func(_ journal.Place, line []byte) bool { return l.needed(line) }); err != nil {
			return fmt.Errorf("compact ledger: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, s := range l.keys {
		if l.old(s) {
			delete(l.keys, key)
		}
	}
	return nil
}

func (l *ledger) old(s *seen) bool { return !s.closed.IsZero() && l.now().Sub(s.closed) > seenFor }

func (l *ledger) needed(line []byte) bool {
	var e entry
	if jsonl.Unmarshal(line, &e) != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.keys[e.Key]
	return s != nil && !l.old(s) && (s.closed.IsZero() || e.Kind == closed)
}

// claim takes a message for the caller, who then calls record or drop. When it is known, or somebody else is
// at it, claim waits until it is on disk and returns false; when that one could not store it, the caller has
// it.
func (l *ledger) claim(key string) bool {
	for {
		l.mu.Lock()
		s := l.keys[key]
		if s == nil || l.old(s) {
			l.keys[key] = &seen{stored: make(chan struct{})}
			l.mu.Unlock()
			return true
		}
		l.mu.Unlock()
		if s.stored == nil {
			return false
		}
		<-s.stored
		l.mu.Lock()
		same := l.keys[key] == s
		l.mu.Unlock()
		if same {
			return false
		}
	}
}

// settle ends a claim.
func (l *ledger) settle(key string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.keys[key]
	if err != nil {
		delete(l.keys, key)
	}
	close(s.stored)
}

// record writes lines and returns when they are on disk.
func (l *ledger) record(entries ...entry) error {
	if len(entries) == 0 {
		return nil
	}
	c := commit{done: make(chan error, 1)}
	for _, e := range entries {
		e.At = l.now().UnixMilli()
		line, err := jsonl.Marshal(e)
		if err != nil {
			return fmt.Errorf("write ledger: %w", err)
		}
		c.lines = append(c.lines, line)
	}
	select {
	case l.queue <- c:
	case <-l.ended:
		return errors.New("write ledger: it is closed")
	}
	if err := <-c.done; err != nil {
		return fmt.Errorf("write ledger: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if s := l.keys[e.Key]; e.Kind == closed && s != nil {
			s.closed = l.now()
		}
	}
	return nil
}

// maxBatch bounds the bytes that are synced together.
const maxBatch = 1 << 20

// write puts what waits on disk, everything that waits with one sync.
func (l *ledger) write() {
	defer close(l.ended)
	for more := true; more; {
		var batch []commit
		size := 0
		take := func(c commit) {
			if more = c.done != nil; more {
				batch, size = append(batch, c), size+total(c.lines)
			}
		}
		take(<-l.queue)
		for waiting := true; more && waiting && size < maxBatch; {
			select {
			case c := <-l.queue:
				take(c)
			default:
				waiting = false
			}
		}
		l.flush(batch)
	}
}

func (l *ledger) flush(batch []commit) {
	var lines [][]byte
	for _, c := range batch {
		lines = append(lines, c.lines...)
	}
	if len(lines) == 0 {
		return
	}
	seg := l.end.Seg
	_, err := l.journal.Append(&l.end, lines)
	l.failing.Store(err != nil)
	if err != nil && len(batch) > 1 {
		for _, c := range batch { // one that is too long must not take the others along
			_, err := l.journal.Append(&l.end, c.lines)
			l.failing.Store(err != nil)
			c.done <- err
		}
		return
	}
	for _, c := range batch {
		c.done <- err
	}
	if seg != 0 && l.end.Seg != seg {
		l.compact() // what cannot be made smaller now can be at the next start
	}
}

func total(lines [][]byte) (n int) {
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// close ends the writer after what waits.
func (l *ledger) close() error {
	l.mu.Lock()
	again := l.stop
	l.stop = true
	l.mu.Unlock()
	if again {
		return nil
	}
	select {
	case l.queue <- commit{}:
	case <-l.ended:
	}
	<-l.ended
	return l.journal.Close()
}
