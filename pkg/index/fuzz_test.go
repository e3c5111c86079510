package index

import (
	"errors"
	"testing"

	"github.com/openspace-dev/openspace/pkg/lexical"
	"github.com/openspace-dev/openspace/pkg/roots"
)

// small returns a segment of a few documents as a file.
func small(words ...string) []byte {
	b := newBuilder()
	for _, w := range words {
		b.add(Document{Doc: Doc{Rel: w, File: "SKILL.md", Name: w, Description: "about " + w, Key: w, Tags: []string{"t"}}, Body: []byte(words[0])})
	}
	b.sort()
	sections, err := merge([]source{b}, func(int, int) bool { return true })
	if err != nil {
		panic(err)
	}
	return encodeContainer(sections)
}

// Whatever the bytes of a segment are, reading and searching it ends without a panic and without memory by an
// unchecked length.
func FuzzSegment(f *testing.F) {
	good := small("alpha", "beta", "gamma", "alpha-beta")
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, whole := range []bool{true, false} {
			searchBytes(t, data, whole)
		}
	})
}

// searchBytes searches data as a segment; with whole false as a big one, which is not checked when it is opened.
func searchBytes(t *testing.T, data []byte, whole bool) {
	c, err := decodeContainer(data)
	if err != nil && whole {
		return
	}
	if c == nil {
		return
	}
	s, err := newSegment(c)
	if err != nil {
		return
	}
	x := &Index{root: roots.Root{}, segments: []*segment{s}, deleted: [][]uint64{make([]uint64, (s.n+63)/64)},
		manifest: &manifest{Segments: []segmentState{{"", s.n, s.n}}}}
	set := Set{x}
	scores, err := set.Score(lexical.ParseQuery("alpha beta gamma"))
	if err != nil {
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("got %v, want damage", err)
		}
		return
	}
	for _, m := range scores.Top(10) {
		if m.Score <= 0 || m.Score > 1 {
			t.Errorf("score %v", m.Score)
		}
		set.Doc(m.Ref)
	}
	set.Named("alpha")
	set.Prefixed("a", 10)
}

// The manifest and the directory file are read without a panic, and what was written comes back.
func FuzzManifest(f *testing.F) {
	m := manifest{Root: "/r", Generation: 3, Next: 9, Segments: []segmentState{{"seg-000001.osx", 70, 69}}, Dirs: "dirs-000002.osx", deleted: [][]uint64{{1, 0}}}
	data, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	dirs, err := encodeDirs(&roots.Tree{Dirs: []roots.Dir{{Rel: "."}, {Rel: "a/b"}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(dirs)
	f.Fuzz(func(t *testing.T, data []byte) {
		if c, err := decodeContainer(data); err == nil {
			m := manifest{Segments: []segmentState{{Docs: 1 << 40}}}
			m.decodeDeleted(c.sections[secDeleted])
		}
		decodeDirs(data)
	})
}

// Postings come back as they were added, and any bytes are read to an end.
func FuzzPostings(f *testing.F) {
	f.Add([]byte{1, 2, 3})
	f.Add([]byte{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := postingReader{data: data}
		for n := 0; ; n++ {
			if _, _, ok := r.read(); !ok {
				break
			}
			if n > len(data) {
				t.Fatal("no progress")
			}
		}
		var l postingList
		var memory arena
		doc := uint32(0)
		for _, b := range data {
			doc += uint32(b) + 1
			l.add(&memory, doc, lexical.Posting(b))
		}
		r = postingReader{data: l.data}
		doc = 0
		for _, b := range data {
			doc += uint32(b) + 1
			if d, p, ok := r.read(); !ok || d != doc || p != lexical.Posting(b) {
				t.Fatalf("got posting %d %d %v, want %d %d", d, p, ok, doc, b)
			}
		}
	})
}
