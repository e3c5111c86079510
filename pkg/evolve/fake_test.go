package evolve_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openspace-dev/openspace/pkg/evolve"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/store"
)

// script is a model that answers with the next line, and remembers what it was asked.
type script struct {
	mu      sync.Mutex
	answers []any // string, llm.Message or error
	asked   []llm.Request
	hook    func(n int) // called before the n-th answer, from 1
}

func (*script) Name() string  { return "scripted" }
func (*script) Window() int64 { return 0 }

func (s *script) Chat(_ context.Context, r llm.Request) (llm.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Messages = append([]llm.Message{}, r.Messages...)
	s.asked = append(s.asked, r)
	if s.hook != nil {
		s.hook(len(s.asked))
	}
	if len(s.answers) == 0 {
		return llm.Reply{}, errors.New("the script is over")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	reply := llm.Reply{Finish: llm.Stopped, Usage: llm.Usage{Calls: 1, Input: 100, Output: 10}, Attempts: 1}
	switch v := next.(type) {
	case error:
		return llm.Reply{}, v
	case llm.Message:
		reply.Message = v
	case string:
		reply.Message = llm.Message{Role: llm.Assistant, Content: v}
	}
	return reply, nil
}

// last returns the last message that the model was sent.
func (s *script) last() string {
	r := s.asked[len(s.asked)-1]
	return r.Messages[len(r.Messages)-1].Content
}

func answers(texts ...any) *script { return &script{answers: texts} }

// fastDir is a folder in memory where the machine has one: syncing to a disk is not what is tested here.
func fastDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "evolve-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func openStore(t testing.TB) *store.Store {
	t.Helper()
	st, err := store.Open(fastDir(t), store.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func engine(t testing.TB, o evolve.Options) *evolve.Engine {
	t.Helper()
	e, err := evolve.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// skillText is a skill that passes all checks.
func skillText(name, body string) string {
	return "---\nname: " + name + "\ndescription: Does " + name + " when asked.\n---\n\n# " + name + "\n\n" + body
}

// addSkill makes and registers a skill.
func addSkill(t testing.TB, st *store.Store, root, name string, files map[string]string) store.Record {
	t.Helper()
	dir := filepath.Join(root, name)
	for file, text := range files {
		writeFile(t, filepath.Join(dir, file), text)
	}
	if _, ok := files["SKILL.md"]; !ok {
		writeFile(t, filepath.Join(dir, "SKILL.md"), skillText(name, "Step one.\nStep two.\n"))
	}
	reg, err := st.Register(t.Context(), dir, true)
	if err != nil {
		t.Fatal(err)
	}
	return reg.Record
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	mode := os.FileMode(0o644)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o755
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// checkStore demands a store without faults.
func checkStore(t testing.TB, st *store.Store) {
	t.Helper()
	problems, err := st.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("store: %s", p)
	}
}
