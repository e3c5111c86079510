package api_test

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"net/textproto"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
)

func TestFingerprint(t *testing.T) {
	base := []api.File{{Path: "SKILL.md", Data: []byte("a\nb\n")}, {Path: "x/y.bin", Data: []byte("\x00\r\n")}}
	got := api.Fingerprint(base)
	if len(got) != 64 {
		t.Fatalf("got %q, want 64 hex digits", got)
	}
	same := map[string][]api.File{
		"other order":     {base[1], base[0]},
		"crlf in text":    {{Path: "SKILL.md", Data: []byte("a\r\nb\r\n")}, base[1]},
		"execute bit":     {base[0], {Path: "x/y.bin", Exec: true, Data: base[1].Data}},
		"id sidecar":      {base[0], base[1], {Path: "x/.skill_id", Data: []byte("i")}},
		"meta sidecar":    {base[0], base[1], {Path: ".upload_meta.json", Data: []byte("{}")}},
		"order untouched": base,
	}
	for name, files := range same {
		if g := api.Fingerprint(files); g != got {
			t.Errorf("%s: got another fingerprint", name)
		}
	}
	other := map[string][]api.File{
		"crlf in binary": {base[0], {Path: "x/y.bin", Data: []byte("\x00\n")}},
		"one byte":       {{Path: "SKILL.md", Data: []byte("a\nc\n")}, base[1]},
		"path":           {base[0], {Path: "x/z.bin", Data: base[1].Data}},
		"file less":      {base[0]},
		"moved boundary": {{Path: "SKILL.md", Data: []byte("a\nb\nx")}, {Path: "x/y.bin", Data: []byte("\x00\r")}},
	}
	for name, files := range other {
		if g := api.Fingerprint(files); g == got {
			t.Errorf("%s: got the same fingerprint", name)
		}
	}
}

// The bytes that are hashed are fixed for ever: this is sha256("SKILL.md\x005\x00a\nb\nc" + "z\x000\x00").
func TestFingerprintValue(t *testing.T) {
	got := api.Fingerprint([]api.File{{Path: "z"}, {Path: "SKILL.md", Data: []byte("a\r\nb\nc")}})
	if want := "8e2daa7be402f6f9a1f11ad940e659488a8245c3412ef671c950400e7213ca20"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCleanPath(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"SKILL.md", "SKILL.md"},
		{"sub/x.txt", "sub/x.txt"},
		{`w\x.txt`, "w/x.txt"},
		{"./a/./b.txt", "a/b.txt"},
		{"a//b", "a/b"},
		{"..weird/x.txt", "..weird/x.txt"},
		{"a b/文件.md", "a b/文件.md"},
		{"", ""}, {".", ""}, {"a/", ""}, {"/etc/passwd", ""}, {`\x`, ""}, {"C:/x", ""}, {"c:x", ""},
		{"..", ""}, {"a/../b", ""}, {"ok/../../../evil.txt", ""}, {`a\..\b`, ""},
		{"a\x00b", ""}, {"a\nb", ""}, {"a\u202eb", ""}, {"a\xffb", ""},
		{"con", ""}, {"a/NUL.txt", ""}, {"com1", ""}, {"com10", "com10"}, {"console", "console"},
		{"a.", ""}, {"a ", ""}, {"a*b", ""}, {`a"b`, ""},
		{strings.Repeat("a", 256), ""}, {strings.Repeat("a/", 600) + "b", ""}, {strings.Repeat("a/", 40) + "b", ""},
	} {
		got, err := api.CleanPath(tt.in)
		var pathErr *api.PathError
		if got != tt.want || (err != nil) != (tt.want == "") || err != nil && !errors.As(err, &pathErr) {
			t.Errorf("CleanPath(%q): got %q, %v, want %q", tt.in, got, err, tt.want)
		}
	}
}

func TestPathSet(t *testing.T) {
	for _, tt := range []struct{ name, first, then string }{
		{"twice", "a", "a"},
		{"letter case", "readme.md", "README.md"},
		{"case of a folder", "lib/a", "Lib/b"},
		{"accents", "caf\u00e9", "cafe\u0301"},
		{"file under a file", "a", "a/b"},
		{"file over a folder", "a/b", "a"},
	} {
		var s api.PathSet
		if err := s.Add(tt.first); err != nil {
			t.Fatal(err)
		}
		if s.Add(tt.then) == nil {
			t.Errorf("%s: %q was taken beside %q", tt.name, tt.then, tt.first)
		}
	}
	var s api.PathSet
	for _, p := range []string{"a/b", "a/c", "d", "a/e/f"} {
		if err := s.Add(p); err != nil {
			t.Error(err)
		}
	}
}

func TestParsePart(t *testing.T) {
	for _, tt := range []struct{ disposition, want string }{
		{`form-data; name="files"; filename="sub/x.txt"`, "sub/x.txt"},
		{`form-data; name="files"; filename="w\x.txt"`, `w\x.txt`},
		{`form-data; name="files"; filename="a"b.txt"`, `a"b.txt`},
		{`form-data; name="files"; filename="a\"b.txt"`, `a"b.txt`},
		{`form-data; name="files"; filename="文件.md"`, "文件.md"},
		{`form-data; name="files"; filename="x"; filename*=UTF-8''%E6%96%87.md`, "文.md"},
		{`form-data; name="files"; filename*=utf-8''a%20b`, "a b"},
		{`FORM-DATA;name=files;filename=x`, "x"},
		{`form-data; name="files"; filename="a;b"`, "a;b"},
		{`form-data; name="other"; filename="x"`, ""},
		{`form-data; name="files"`, ""},
		{`attachment; name="files"; filename="x"`, ""},
		{`form-data; name="files"; filename="x`, ""},
		{`form-data; name="files"; filename="x"; filename="y"`, ""},
		{`form-data; name="files"; filename*=nonsense`, ""},
		{`form-data; name`, ""},
		{``, ""},
	} {
		name, _, err := api.ParsePart(textproto.MIMEHeader{"Content-Disposition": {tt.disposition}})
		if name != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: got %q, %v, want %q", tt.disposition, name, err, tt.want)
		}
	}
}

func TestPartHeader(t *testing.T) {
	for _, name := range []string{"SKILL.md", "a b/文件.md", "it's 100%/x.sh", "a;b"} {
		h, err := api.PartHeader(name, true)
		if err != nil {
			t.Fatal(err)
		}
		if got, exec, err := api.ParsePart(h); got != name || !exec || err != nil {
			t.Errorf("got %q, %v, %v, want %q", got, exec, err, name)
		}
	}
	for _, name := range []string{"a\"; x=\"", "a\r\nX-Evil: 1", `a\b`, "../a", ""} {
		if _, err := api.PartHeader(name, false); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}

func FuzzParsePart(f *testing.F) {
	for _, s := range []string{`form-data; name="files"; filename="sub/x.txt"`, `form-data; name="files"; filename="a"b\"c"`,
		`form-data; name=files; filename*=UTF-8''%E6%96%87`, `form-data; name="files"; filename="`, `form-data;;=;`, "form-data; name=\"files\"; filename=\"a\r\nb\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, disposition string) {
		name, _, err := api.ParsePart(textproto.MIMEHeader{"Content-Disposition": {disposition}})
		if err != nil {
			return
		}
		clean, err := api.CleanPath(name)
		if err != nil {
			return
		}
		if again, err := api.CleanPath(clean); again != clean || err != nil {
			t.Fatalf("%q became %q, then %q, %v", name, clean, again, err)
		}
		if strings.HasPrefix(clean, "/") || strings.Contains("/"+clean+"/", "/../") {
			t.Fatalf("%q leads out", clean)
		}
		h, err := api.PartHeader(clean, false)
		if err != nil {
			t.Fatal(err)
		}
		if back, _, err := api.ParsePart(h); back != clean || err != nil {
			t.Fatalf("%q came back as %q, %v", clean, back, err)
		}
	})
}

func TestSignature(t *testing.T) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	s := api.Sign(key, "f1", "name")
	if err := s.Verify("f1", "name"); err != nil {
		t.Fatal(err)
	}
	back, err := api.ParseSignature(s.Header())
	if err != nil || *back != *s {
		t.Errorf("got %v, %v, want the same back", back, err)
	}
	if id := s.KeyID(); !strings.HasPrefix(id, "SHA256:") || len(id) != 50 {
		t.Errorf("got key id %q", id)
	}
	for name, err := range map[string]error{
		"other content": s.Verify("f2", "name"),
		"other name":    s.Verify("f1", "name2"),
		"other key":     (&api.Signature{Algorithm: s.Algorithm, PublicKey: api.Sign(ed25519.NewKeyFromSeed(make([]byte, 32)), "f1", "name").PublicKey, Signature: s.Signature}).Verify("f1", "name"),
		"no key":        (&api.Signature{Algorithm: "ed25519"}).Verify("f1", "name"),
		"algorithm":     (&api.Signature{Algorithm: "rsa", PublicKey: s.PublicKey, Signature: s.Signature}).Verify("f1", "name"),
	} {
		if err == nil {
			t.Errorf("%s: was taken", name)
		}
	}
	var none *api.Signature
	if none.KeyID() != "" {
		t.Errorf("no signature has a key id")
	}
}

func TestCodes(t *testing.T) {
	seen := map[api.ErrorCode]bool{}
	for _, c := range api.Codes() {
		if seen[c] || c.Status() < 400 || c.Status() > 599 {
			t.Errorf("code %s: twice, or status %d", c, c.Status())
		}
		seen[c] = true
	}
	if s := api.ErrorCode("never seen").Status(); s != 500 {
		t.Errorf("got status %d for an unknown code, want 500", s)
	}
}

func TestCheckParents(t *testing.T) {
	for _, tt := range []struct {
		origin    string
		n         int
		ok, known bool
	}{
		{"imported", 0, true, true}, {"imported", 1, false, true}, {"captured", 0, true, true}, {"captured", 2, false, true},
		{"derived", 0, false, true}, {"derived", 3, true, true}, {"fixed", 0, false, true}, {"fixed", 1, true, true}, {"fixed", 2, false, true},
		{"weird", 5, true, false},
	} {
		problem, known := api.CheckParents(tt.origin, tt.n)
		if (problem == "") != tt.ok || known != tt.known {
			t.Errorf("%s with %d: got %q, %v", tt.origin, tt.n, problem, known)
		}
	}
}
