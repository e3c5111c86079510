package tools_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// key is a secret that a mask knows by its shape.
var key = "ghp_" + strings.Repeat("a1", 18)

// space is a workspace with the tools in it.
type space struct {
	t   testing.TB
	dir string
	env *tools.Env
	set *tools.Set
}

// newSpace makes an empty workspace; change may change the environment first.
func newSpace(t testing.TB, change ...func(e *tools.Env)) *space {
	t.Helper()
	dir := t.TempDir()
	env := &tools.Env{Workspace: dir, Environ: []string{"HOME=" + t.TempDir()}}
	for _, f := range change {
		f(env)
	}
	set, err := env.NewSet()
	if err != nil {
		t.Fatal(err)
	}
	return &space{t, dir, env, set}
}

// put writes a file of the workspace.
func (s *space) put(name, content string) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *space) get(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *space) link(target, name string) {
	s.t.Helper()
	if err := os.Symlink(target, filepath.Join(s.dir, name)); err != nil {
		s.t.Fatal(err)
	}
}

// run calls a tool with arguments that are given as names and values.
func (s *space) run(tool string, args ...any) tools.Result {
	s.t.Helper()
	all := map[string]any{}
	for i := 0; i < len(args); i += 2 {
		all[args[i].(string)] = args[i+1]
	}
	raw, err := json.Marshal(all)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.set.Run(context.Background(), tools.Call{Name: tool, Args: raw})
}

func (s *space) want(r tools.Result, code, content string) {
	s.t.Helper()
	if r.Code != code || !strings.Contains(r.Content, content) {
		s.t.Errorf("got code %q, content %q; want code %q and %q", r.Code, r.Content, code, content)
	}
}

func TestReadFile(t *testing.T) {
	s := newSpace(t)
	s.put("three.txt", "one\ntwo\nthree\n")
	s.put("open.txt", "one\ntwo")
	s.put("empty.txt", "")
	s.put("crlf.txt", "one\r\ntwo\r\n")
	s.put("marked.txt", "\xEF\xBB\xBFone\n")
	s.put("utf16.txt", "\xFF\xFEo\x00n\x00e\x00\n\x00")
	s.put("latin.txt", "caf\xE9\n")
	s.put("long.txt", strings.Repeat("x", 3000)+"\nend\n")
	for _, tt := range []struct {
		name string
		args []any
		want string
	}{
		{"all", []any{"path", "three.txt"}, "one\ntwo\nthree\n"},
		{"an absolute path", []any{"path", filepath.Join(s.dir, "three.txt")}, "one\ntwo\nthree\n"},
		{"a path as models write it", []any{"file_path", "./x/../three.txt"}, "one\ntwo\nthree\n"},
		{"a part", []any{"path", "three.txt", "start", 2, "lines", 1}, "two\n[lines 2 to 2 of 3; go on with start 3]"},
		{"to the end", []any{"path", "three.txt", "start", 2}, "two\nthree\n[lines 2 to 3, the end]"},
		{"from the end", []any{"path", "three.txt", "start", -1}, "three\n[lines 3 to 3, the end]"},
		{"more from the end than there is", []any{"path", "three.txt", "start", -9}, "one\ntwo\nthree\n"},
		{"line numbers", []any{"path", "three.txt", "numbers", true, "start", 3}, "3\tthree\n[lines 3 to 3, the end]"},
		{"no line end", []any{"path", "open.txt"}, "one\ntwo\n"},
		{"line ends of Windows", []any{"path", "crlf.txt"}, "one\ntwo\n"},
		{"nothing", []any{"path", "empty.txt"}, "[empty.txt is empty]"},
		{"a byte-order mark", []any{"path", "marked.txt"}, "one\n[the file is UTF-8 with a byte-order mark]"},
		{"UTF-16", []any{"path", "utf16.txt"}, "one\n[the file is UTF-16, little-endian]"},
		{"Latin 1", []any{"path", "latin.txt"}, "café\n[the file is not UTF-8 (read as Windows-1252)]"},
		{"a long line", []any{"path", "long.txt"}, strings.Repeat("x", 2000) + "[… 1000 more characters]\nend\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := s.run("read_file", tt.args...); r.Content != tt.want || r.Failed() {
				t.Errorf("got %q (%s), want %q", r.Content, r.Error, tt.want)
			}
		})
	}
}

func TestReadFileProblems(t *testing.T) {
	s := newSpace(t, func(e *tools.Env) { e.Limits.Read = 100 })
	s.put("a/report.md", "x\n")
	s.put("large.txt", strings.Repeat("x", 101))
	s.link("nowhere", "dangling")
	s.want(s.run("read_file", "path", "a/reprot.md"), "not_found", `"a/reprot.md" does not exist: did you mean report.md?`)
	s.want(s.run("read_file", "path", "a/zzz"), "not_found", "in a there are report.md")
	s.want(s.run("read_file", "path", "b/zzz"), "not_found", "neither does its folder b")
	s.want(s.run("edit_file", "path", "a", "old_text", "x", "new_text", "y"), "invalid", "is a folder")
	s.want(s.run("read_file", "path", "a"), "", "report.md  2 bytes\n") // a listing is what was meant
	s.want(s.run("read_file", "path", "a/report.md/x"), "invalid", "not a directory")
	s.want(s.run("read_file", "path", "a/report.md", "start", 2), "invalid", "has 1 line; start 2 is behind its end")
	s.want(s.run("read_file", "path", "large.txt"), "too_long", "101 bytes")
	s.want(s.run("read_file", "path", "dangling"), "invalid", "leads nowhere")
	s.want(s.run("read_file", "path", ""), "invalid", "names nothing")
	s.want(s.run("read_file", "path", "a\x00b"), "invalid", "names nothing")
}

func TestReadFileBoundsItsOutput(t *testing.T) {
	s := newSpace(t, func(e *tools.Env) { e.Limits.Output = 100 })
	s.put("a.txt", strings.Repeat("0123456789\n", 20))
	r := s.run("read_file", "path", "a.txt")
	s.want(r, "", "[lines 1 to 9 of 20; go on with start 10]")
	s.put("b.txt", strings.Repeat("x", 500)+"\nnext\n")
	s.want(s.run("read_file", "path", "b.txt"), "", "[lines 1 to 1 of 2; go on with start 2]")
}

func TestReadFileOfNoText(t *testing.T) {
	s := newSpace(t)
	s.put("a.pdf", "%PDF-1.7\n\x00\x01")
	s.put("a.zip", "PK\x03\x04\x00\x00")
	s.put("a.bin", "\x7FELF\x00\x01")
	s.put("a.png", picture(t, 4, 3))
	s.want(s.run("read_file", "path", "a.pdf"), "", "a.pdf is application/pdf, 11 bytes, not text. In run_shell, pdftotext")
	s.want(s.run("read_file", "path", "a.zip"), "", "unzip -l")
	s.want(s.run("read_file", "path", "a.bin"), "", "begins with the bytes 7f 45 4c 46 00 01")
	s.want(s.run("read_file", "path", "a.png"), "", "4 × 3 pixels. You cannot see pictures")
}

func picture(t testing.TB, width, height int) string {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReadFileShowsPictures(t *testing.T) {
	s := newSpace(t, func(e *tools.Env) { e.Vision = true })
	s.put("small.png", picture(t, 4, 3))
	s.put("large.png", picture(t, 3000, 20))
	s.put("broken.png", picture(t, 4, 3)[:30])
	header := "IHDR\x00\xFF\xFF\xFF\x00\xFF\xFF\xFF" + picture(t, 4, 3)[24:29]
	s.put("huge.png", picture(t, 4, 3)[:12]+header+string(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(header))))+picture(t, 4, 3)[33:])
	if r := s.run("read_file", "path", "small.png"); len(r.Images) != 1 || r.Images[0].MIME != "image/png" || string(r.Images[0].Data) != picture(t, 4, 3) {
		t.Errorf("small: got %+v, want the picture itself", r)
	}
	r := s.run("read_file", "path", "large.png")
	if len(r.Images) != 1 || r.Images[0].MIME != "image/jpeg" {
		t.Fatalf("large: got %+v, want a smaller copy", r)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(r.Images[0].Data))
	if err != nil || config.Width != 1568 || config.Height != 10 {
		t.Errorf("large: got %+v, %v; want 1568 × 10", config, err)
	}
	for _, name := range []string{"broken.png", "huge.png"} {
		if r := s.run("read_file", "path", name); len(r.Images) > 0 || r.Failed() || !strings.Contains(r.Content, "It cannot be shown") {
			t.Errorf("%s: got %+v, want words only", name, r)
		}
	}
}

func TestReadFileMasks(t *testing.T) {
	s := newSpace(t)
	s.put("a.env", "A=1\nTOKEN="+key+"\nB=2\n")
	s.put("key.pem", "before\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----\nafter\nend\n")
	s.want(s.run("read_file", "path", "a.env"), "", "[secret]\nB=2\n")
	s.want(s.run("read_file", "path", "key.pem", "numbers", true, "start", 6), "", "6\tafter\n7\tend\n")
	for _, args := range [][]any{{"path", "key.pem"}, {"path", "key.pem", "start", 3}, {"path", "key.pem", "start", 4, "lines", 1}} {
		if r := s.run("read_file", args...); strings.Contains(r.Content, "BBBB") || strings.Contains(r.Content, "AAAA") {
			t.Errorf("%v: got %q, want no part of the key", args, r.Content)
		}
	}
}

func TestWriteFile(t *testing.T) {
	s := newSpace(t)
	r := s.run("write_file", "path", "a/b/c.txt", "content", "one\ntwo\n")
	s.want(r, "", "created a/b/c.txt, 2 lines, 8 bytes")
	if got := s.get("a/b/c.txt"); got != "one\ntwo\n" {
		t.Errorf("got %q", got)
	}
	if want := []string{filepath.Join(resolve(t, s.dir), "a/b/c.txt")}; !slices.Equal(r.Files, want) {
		t.Errorf("files: got %q, want %q", r.Files, want)
	}
	if err := os.Chmod(filepath.Join(s.dir, "a/b/c.txt"), 0o750); err != nil {
		t.Fatal(err)
	}
	s.want(s.run("write_file", "path", "a/b/c.txt", "content", "one"), "", "changed a/b/c.txt, 1 line (it had 2), 3 bytes")
	if info, _ := os.Stat(filepath.Join(s.dir, "a/b/c.txt")); info.Mode().Perm() != 0o750 {
		t.Errorf("mode: got %v, want it kept", info.Mode())
	}
	s.want(s.run("write_file", "path", "a/b/c.txt", "content", "one"), "", "has this content already")
	s.want(s.run("write_file", "path", "a/b", "content", "x"), "invalid", "is a folder")
	s.want(s.run("write_file", "path", "a/b/c.txt/d", "content", "x"), "invalid", "not a directory")
	s.put("locked.txt", "x")
	if err := os.Chmod(filepath.Join(s.dir, "locked.txt"), 0o444); err != nil {
		t.Fatal(err)
	}
	s.want(s.run("write_file", "path", "locked.txt", "content", "y"), tools.Denied, "read-only")
	if entries, _ := os.ReadDir(filepath.Join(s.dir, "a/b")); len(entries) != 1 {
		t.Errorf("got %d entries, want no temporary file", len(entries))
	}
}

func resolve(t testing.TB, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

// What a model was shown in place of a secret must not be written over the secret.
func TestMaskedTextIsNotWritten(t *testing.T) {
	s := newSpace(t)
	before := "A=1\nTOKEN=" + key + "\n"
	s.put("a.env", before)
	s.put("notes.md", "the mask is [secret]\n")
	s.want(s.run("write_file", "path", "a.env", "content", "A=2\nTOKEN=[secret]\n"), "invalid", "stands for a secret")
	s.want(s.run("write_file", "path", "new.env", "content", "TOKEN=[secret]\n"), "invalid", "stands for a secret")
	s.want(s.run("edit_file", "path", "a.env", "old_text", "A=1", "new_text", "A=[secret]"), "invalid", "stands for a secret")
	s.want(s.run("edit_file", "path", "a.env", "old_text", "A=1\nTOKEN=[secret]", "new_text", "A=2"), "invalid", "leave that part out")
	if got := s.get("a.env"); got != before {
		t.Errorf("got %q, want it unchanged", got)
	}
	s.want(s.run("edit_file", "path", "a.env", "old_text", "A=1", "new_text", "A=2"), "", "changed a.env")
	if got := s.get("a.env"); got != "A=2\nTOKEN="+key+"\n" {
		t.Errorf("got %q, want the secret kept", got)
	}
	s.want(s.run("write_file", "path", "notes.md", "content", "a mask is [secret]\n"), "", "changed notes.md")
}

// Links and paths that lead out of the folders are refused, whatever they look like.
func TestFileAccess(t *testing.T) {
	home, skills, extra, outside := t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	s := newSpace(t, func(e *tools.Env) {
		e.Environ, e.ReadDirs, e.WriteDirs = []string{"HOME=" + home}, []string{skills}, []string{extra}
	})
	for _, dir := range []string{home, skills, extra, outside} {
		if err := os.WriteFile(filepath.Join(dir, "x.txt"), []byte("content of x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.link(filepath.Join(home, "x.txt"), "to-home")
	s.link(home, "home-dir")
	s.link(filepath.Join(skills, "x.txt"), "to-skill")
	s.link("/proc/self/environ", "to-environ")
	s.put("real/x.txt", "content of x\n")
	s.link("real", "inside")
	s.link(filepath.Join(s.dir, "real"), "inside-absolute")
	for _, tt := range []struct {
		path        string
		read, write bool
	}{
		{"real/x.txt", true, true},
		{"inside/x.txt", true, true},
		{"inside-absolute/x.txt", true, true},
		{filepath.Join(skills, "x.txt"), true, false},
		{"to-skill", true, false},
		{filepath.Join(extra, "x.txt"), true, true},
		{"~/x.txt", false, false},
		{filepath.Join(home, "x.txt"), false, false},
		{"to-home", false, false},
		{"home-dir/x.txt", false, false},
		{"../" + filepath.Base(outside) + "/x.txt", false, false},
		{"/proc/self/environ", false, false},
		{"/proc/self/cwd/x.txt", false, false},
		{"to-environ", false, false},
		{"/dev/null", false, false},
		{"/etc/shadow", false, false},
	} {
		r := s.run("read_file", "path", tt.path)
		if tt.read != (r.Content == "content of x\n") || !tt.read && r.Code != tools.Denied {
			t.Errorf("read %s: got code %q, %q; want allowed %v", tt.path, r.Code, r.Content, tt.read)
		}
		r = s.run("write_file", "path", tt.path, "content", "content of x\n")
		if tt.write == r.Failed() || !tt.write && r.Code != tools.Denied {
			t.Errorf("write %s: got code %q, %q; want allowed %v", tt.path, r.Code, r.Content, tt.write)
		}
	}
	s.want(s.run("list_dir", "path", "home-dir"), tools.Denied, "")
	s.want(s.run("search_files", "path", "home-dir", "glob", "*"), tools.Denied, "")
	s.want(s.run("read_file", "path", "/etc/hostname/../../etc/passwd"), "", "root:")
}

func TestWriteThroughLinkKeepsTheLink(t *testing.T) {
	s := newSpace(t)
	s.put("real.txt", "old\n")
	s.link("real.txt", "link.txt")
	s.want(s.run("write_file", "path", "link.txt", "content", "new\n"), "", "changed real.txt")
	if info, err := os.Lstat(filepath.Join(s.dir, "link.txt")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("link: got %v, %v; want it to be a link still", info, err)
	}
	if got := s.get("real.txt"); got != "new\n" {
		t.Errorf("got %q", got)
	}
}

func TestListDir(t *testing.T) {
	s := newSpace(t)
	s.want(s.run("list_dir"), "", ". is empty")
	s.put("b.txt", "12345")
	s.put("a/c/d.txt", strings.Repeat("x", 1500))
	s.put(".git/HEAD", "x")
	s.put("node_modules/x/y.js", "x")
	s.put(".hidden", "")
	s.link("b.txt", "z")
	flat := ".git/ (not entered)\n.hidden  0 bytes\na/\nb.txt  5 bytes\nnode_modules/ (not entered)\nz -> b.txt\n"
	if r := s.run("list_dir"); r.Content != flat {
		t.Errorf("got %q, want %q", r.Content, flat)
	}
	s.want(s.run("list_dir", "depth", 3), "", "a/\na/c/\na/c/d.txt  1.5 kB\nb.txt  5 bytes\n")
	s.want(s.run("list_dir", "path", "b.txt"), "", "b.txt is a file, 5 bytes")
	s.want(s.run("list_dir", "path", "q"), "not_found", "does not exist")
	s.want(s.run("list_dir", "depth", 11), "invalid", "depth: expected at most 10")
}

func TestListDirIsBounded(t *testing.T) {
	s := newSpace(t)
	for i := range 700 {
		s.put(fmt.Sprintf("many/%04d", i), "")
	}
	s.put("zoo/x", "")
	s.want(s.run("list_dir", "path", "many"), "", "0499  0 bytes\n[… 200 more]\n")
	s.want(s.run("list_dir", "depth", 2), "", "many/0199  0 bytes\nmany/[… 500 more]\nzoo/\nzoo/x")
}

// What commands put into /tmp is found there by the file tools, and nothing of the machine's own.
func TestFilesSeeTheTempOfCommands(t *testing.T) {
	s := newSpace(t, func(e *tools.Env) { e.Environ = append(e.Environ, "PATH="+os.Getenv("PATH")) })
	defer s.env.Close()
	real, err := os.CreateTemp("/tmp", "openspace-test-")
	if err != nil {
		t.Skip(err)
	}
	defer os.Remove(real.Name())
	s.want(s.run("read_file", "path", real.Name()), "not_found", "does not exist")
	s.want(s.run("write_file", "path", "/tmp/a/b.txt", "content", "one\n"), "", "created /tmp/a/b.txt, 1 line")
	s.want(s.run("read_file", "path", "/var/tmp/a/b.txt"), "", "one\n")
	s.want(s.run("list_dir", "path", "/tmp"), "", "a/\n")
	s.want(s.run("search_files", "path", "/tmp", "pattern", "one"), "", "/tmp/a/b.txt\n1: one\n")
	s.want(s.run("read_file", "path", "/tmp/../etc/shadow"), tools.Denied, "")
	if _, err := os.Stat("/tmp/a/b.txt"); err == nil {
		t.Error("the file is in /tmp itself")
	}
}

// A link that is put in the way after the check leads nowhere.
func TestLinksPutInMeanwhile(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "x.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, replaced, target string
	}{
		{"the folder, absolute", "a", outside},
		{"the folder above", "a/..", ""},
		{"the file", "a/x.txt", secret},
	} {
		for _, write := range []bool{false, true} {
			t.Run(fmt.Sprint(tt.name, " write ", write), func(t *testing.T) {
				s := newSpace(t)
				s.put("a/x.txt", "harmless")
				data, err := s.env.Between("a/x.txt", write, func() {
					if tt.target == "" {
						tt.replaced, tt.target = "a", "../"+filepath.Base(outside)
					}
					if err := os.RemoveAll(filepath.Join(s.dir, tt.replaced)); err != nil {
						t.Fatal(err)
					}
					s.link(tt.target, tt.replaced)
				})
				if string(data) == "secret" || err == nil && !write {
					t.Errorf("got %q, %v; want an error", data, err)
				}
				if got, _ := os.ReadFile(secret); string(got) != "secret" {
					t.Errorf("what is outside: got %q, want it unchanged", got)
				}
			})
		}
	}
}
