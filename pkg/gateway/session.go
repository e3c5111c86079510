package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// session is a chat, or a thread in one, on disk. Groups have one session for all members.
type session struct {
	key       string
	dir       string // of session.json and transcript.jsonl
	workspace string
}

// sessionFile is session.json.
type sessionFile struct {
	Key       string `json:"session_key"`
	Platform  string `json:"platform"`
	Account   string `json:"account"`
	Chat      Chat   `json:"chat"`
	Workspace string `json:"workspace_dir"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// line is one line of transcript.jsonl. A later line with the same entry_id is the same one, written again
// after a crash.
type line struct {
	EntryID     string       `json:"entry_id"`
	Role        string       `json:"role"` // user, assistant, or mark: what is before it is no history any more
	Content     string       `json:"content"`
	MessageID   string       `json:"platform_message_id,omitempty"`  // of the user's message
	MessageIDs  []string     `json:"platform_message_ids,omitempty"` // of all parts of an answer
	ReplyTo     string       `json:"reply_to_message_id,omitempty"`
	UserID      string       `json:"user_id,omitempty"`
	UserName    string       `json:"user_name,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	TaskID      string       `json:"task_id,omitempty"`
	Status      string       `json:"status,omitempty"`
	Unsent      bool         `json:"unsent,omitempty"` // nobody has seen it
	Timestamp   string       `json:"timestamp"`
}

var unsafeName = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// safeName is what can stand in a file name: never empty, never hidden, at most 48 bytes.
func safeName(s string) string {
	s = strings.Trim(unsafeName.ReplaceAllString(strings.TrimSpace(s), "-"), "-._")
	if len(s) > 48 {
		s = strings.Trim(s[:48], "-._")
	}
	if s == "" {
		return "unknown"
	}
	return s
}

// sessionKey names a session: readable, and by its last part unique.
func sessionKey(a Account, c Chat) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{a.Platform, a.ID, c.ID, c.Thread}, "\x00")))
	key := a.Platform + "__" + safeName(c.ID)
	if c.Thread != "" {
		key += "__" + safeName(c.Thread)
	}
	return key + "-" + hex.EncodeToString(sum[:4])
}

// openSession makes the folders of a session, and writes session.json when it is new or the chat is called
// otherwise now.
func (g *Gateway) openSession(key string, a Account, c Chat) (*session, error) {
	s := &session{key: key, dir: filepath.Join(g.config.DataDir, "sessions", key)}
	s.workspace = filepath.Join(s.dir, "workspace")
	if root := g.config.Agent.WorkspaceRoot; root != "" {
		s.workspace = filepath.Join(root, key)
	}
	for _, dir := range []string{s.dir, s.workspace} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("open session %q: %w", key, err)
		}
	}
	now := stamp(g.now())
	file := sessionFile{Key: key, Platform: a.Platform, Account: a.ID, Chat: c, Workspace: s.workspace, CreatedAt: now, UpdatedAt: now}
	path := filepath.Join(s.dir, "session.json")
	var old sessionFile
	if data, err := os.ReadFile(path); err == nil && jsonl.Unmarshal(data, &old) == nil && old.CreatedAt != "" {
		file.CreatedAt = old.CreatedAt
		if old.Chat == c && old.Workspace == s.workspace {
			return s, nil
		}
	}
	data, err := jsonl.Marshal(file)
	if err == nil {
		err = atomicfile.Write(path, append(data, '\n'), 0o600, atomicfile.Tidy())
	}
	if err != nil {
		return nil, fmt.Errorf("open session %q: %w", key, err)
	}
	return s, nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// append adds lines to the transcript. A line that a crash tore is ended first.
func (s *session) append(l line) (err error) {
	f, err := os.OpenFile(filepath.Join(s.dir, "transcript.jsonl"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err := jsonl.Marshal(l)
	if err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	last := make([]byte, 1)
	if size, err := f.Seek(0, io.SeekEnd); err == nil && size > 0 {
		if _, err := f.ReadAt(last, size-1); err == nil && last[0] != '\n' {
			data = append([]byte{'\n'}, data...)
		}
	}
	if _, err := f.Write(append(data, '\n')); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	return nil
}

// tailSize is how much of a transcript is looked at: what is said now does not depend on what was said long
// ago.
const tailSize = 1 << 20

// lines returns the last lines of the transcript, oldest first, each entry once.
func (s *session) lines() ([]line, error) {
	f, err := os.Open(filepath.Join(s.dir, "transcript.jsonl"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	from := max(size-tailSize, 0)
	data := make([]byte, size-from)
	if _, err := f.ReadAt(data, from); err != nil && err != io.EOF {
		return nil, fmt.Errorf("read transcript: %w", err)
	}
	if from > 0 {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
	}
	var out []line
	at := map[string]int{}
	for raw := range bytes.Lines(data) {
		var l line
		if jsonl.Unmarshal(raw, &l) != nil || l.Role == "" {
			continue
		}
		if i, ok := at[l.EntryID]; ok {
			out[i] = l
			continue
		}
		at[l.EntryID] = len(out)
		out = append(out, l)
	}
	return out, nil
}

// history returns the conversation before an entry: at most so many messages of users and what was answered,
// oldest first. In a group it says who said what.
func history(lines []line, before string, turns int, group bool) (out []wire.Message) {
	for i, l := range lines {
		if l.EntryID == before {
			lines = lines[:i]
			break
		}
	}
	from, n := len(lines), 0
	for from > 0 && n < turns && lines[from-1].Role != "mark" {
		from--
		if lines[from].Role == "user" {
			n++
		}
	}
	for _, l := range lines[from:] {
		switch {
		case l.Unsent || strings.TrimSpace(l.Content) == "":
		case l.Role == "user" && group && l.UserName != "":
			out = append(out, wire.Message{Role: l.Role, Content: oneLine(l.UserName, 60) + ": " + l.Content})
		case l.Role == "user" || l.Role == "assistant":
			out = append(out, wire.Message{Role: l.Role, Content: l.Content})
		}
	}
	return out
}

// said returns the line of a message on the platform, ours or a user's.
func said(lines []line, id string) (line, bool) {
	for i := len(lines) - 1; i >= 0 && id != ""; i-- {
		l := lines[i]
		if l.MessageID == id {
			return l, true
		}
		for _, part := range l.MessageIDs {
			if part == id {
				return l, true
			}
		}
	}
	return line{}, false
}

// oneLine is a text of somebody else on one line, cut.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return s
}
