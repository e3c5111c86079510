package transfer_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/transfer"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const skillText = "---\nname: weather\ndescription: Tells the weather.\n---\n# Weather\n"

// zipped makes an archive of names and contents.
func zipped(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: zip.Deflate})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// raw makes an archive of one skill file and one entry whose header says whatever it likes.
func raw(t testing.TB, h zip.FileHeader, body []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create("SKILL.md")
	if err == nil {
		_, err = w.Write([]byte(skillText))
	}
	if err != nil {
		t.Fatal(err)
	}
	if w, err = z.CreateRaw(&h); err == nil {
		_, err = w.Write(body)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack opens and unpacks an archive below dir/in and returns what lies there.
func unpack(t testing.TB, data []byte, l transfer.Limits) (string, map[string]string, *transfer.Archive, error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "in")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	a, err := transfer.OpenArchive(bytes.NewReader(data), int64(len(data)), l)
	if err != nil {
		return dir, nil, nil, err
	}
	if _, err = a.Unpack(dir); err != nil {
		return dir, nil, a, err
	}
	return dir, tree(t, dir), a, nil
}

// tree reads all files below a folder.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	got := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		got[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// names lists the keys of a tree.
func names(files map[string]string) []string {
	var out []string
	for name := range files {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// ZP-05 and ZP-04: at the root, wrapped, and as the Finder packs it.
func TestUnpackLayouts(t *testing.T) {
	tests := []struct {
		name    string
		files   []string
		want    []string
		wrapper string
	}{
		{"ZP-05 at the root", []string{"SKILL.md", skillText, "scripts/x.sh", "x"}, []string{"SKILL.md", "scripts/x.sh"}, ""},
		{"ZP-05 wrapped", []string{"any-name/SKILL.md", skillText, "any-name/a.txt", "x"}, []string{"SKILL.md", "a.txt"}, "any-name"},
		{"ZP-04 from the Finder", []string{"w/SKILL.md", skillText, "__MACOSX/w/._SKILL.md", "junk", "w/.DS_Store", "junk"}, []string{"SKILL.md"}, "w"},
		{"lower case", []string{"skill.md", skillText}, []string{"skill.md"}, ""},
		{"folder entries", []string{"w/", "", "w/SKILL.md", skillText, "w/sub/", ""}, []string{"SKILL.md"}, "w"},
		{"a skill below a skill", []string{"SKILL.md", skillText, "sub/SKILL.md", skillText}, []string{"SKILL.md", "sub/SKILL.md"}, ""},
		{"dots and backslashes", []string{"./SKILL.md", skillText, `sub\a.txt`, "x", "..weird/x.txt", "y"}, []string{"..weird/x.txt", "SKILL.md", "sub/a.txt"}, ""},
		{"sidecars of somebody else", []string{"SKILL.md", skillText, ".skill_id", "x", "sub/.skill_id", "x", ".upload_meta.json", "{}", ".git/config", "x"}, []string{"SKILL.md"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, got, a, err := unpack(t, zipped(t, tt.files...), transfer.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(names(got), tt.want) || !slices.Equal(a.Paths(), tt.want) {
				t.Errorf("got %q and paths %q, want %q", names(got), a.Paths(), tt.want)
			}
			if a.Wrapper != tt.wrapper {
				t.Errorf("got wrapper %q, want %q", a.Wrapper, tt.wrapper)
			}
		})
	}
}

// ZP-01 and B8: one bad entry refuses the whole archive, by its name, and nothing is written.
func TestUnpackRefusals(t *testing.T) {
	link := zip.FileHeader{Name: "link"}
	link.SetMode(0o777 | fs.ModeSymlink)
	pipe := zip.FileHeader{Name: "pipe"}
	pipe.SetMode(0o644 | fs.ModeNamedPipe)
	with := func(name string) []byte { return zipped(t, "SKILL.md", skillText, name, "x") }
	tests := []struct {
		name string
		data []byte
		code wire.Code
		want string
	}{
		{"ZP-01 climbs out", zipped(t, "ok/SKILL.md", skillText, "ok/../../../evil.txt", "x"), wire.Unsafe, "ok/../../../evil.txt"},
		{"climbs out with backslashes", with(`ok\..\..\evil.txt`), wire.Unsafe, "leads out"},
		{"absolute", with("/etc/passwd"), wire.Unsafe, "absolute"},
		{"drive letter", with(`C:\x`), wire.Unsafe, "C:"},
		{"control character", with("a\x1bb"), wire.Unsafe, "printed"},
		{"not utf-8", with("a\xff"), wire.Unsafe, "UTF-8"},
		{"device", with("sub/AUX.txt"), wire.Unsafe, "device"},
		{"case", with("skill.MD"), wire.Unsafe, "letter case"},
		{"accents", zipped(t, "SKILL.md", skillText, "é", "1", "e\u0301", "2"), wire.Unsafe, "accents"},
		{"twice", zipped(t, "SKILL.md", skillText, "a", "1", "./a", "2"), wire.Unsafe, "twice"},
		{"file and folder", zipped(t, "SKILL.md", skillText, "a", "1", "a/b", "2"), wire.Unsafe, "a file and a folder"},
		{"link", raw(t, link, []byte("/etc/passwd")), wire.Unsafe, "not a plain file"},
		{"pipe", raw(t, pipe, nil), wire.Unsafe, "not a plain file"},
		{"encrypted", raw(t, zip.FileHeader{Name: "a", Flags: 1}, nil), wire.Invalid, "encrypted"},
		{"method", raw(t, zip.FileHeader{Name: "a", Method: 12}, nil), wire.Invalid, "method 12"},
		{"no skill", zipped(t, "README.md", "x"), wire.Invalid, "no SKILL.md"},
		{"two folders", zipped(t, "a/SKILL.md", skillText, "b/x", "x"), wire.Invalid, "no SKILL.md"},
		{"deeper than one folder", zipped(t, "a/b/SKILL.md", skillText), wire.Invalid, "no SKILL.md"},
		{"empty", zipped(t), wire.Invalid, "no SKILL.md"},
		{"no archive", []byte("<html>"), wire.Invalid, "read archive"},
		{"nothing", nil, wire.Invalid, "read archive"},
		{"cut", zipped(t, "SKILL.md", skillText)[:80], wire.Invalid, "read archive"},
		{"bad checksum", raw(t, zip.FileHeader{Name: "a", CRC32: 1, CompressedSize64: 1, UncompressedSize64: 1}, []byte("x")), wire.Invalid, "checksum"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, _, _, err := unpack(t, tt.data, transfer.DefaultLimits())
			if err == nil {
				t.Fatal("got no error")
			}
			if code := wire.CodeOf(err); code != tt.code || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %s: %v, want %s: …%s…", code, err, tt.code, tt.want)
			}
			if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
				t.Errorf("written outside: %v", entries)
			}
		})
	}
}

// ZP-09: what is too much is refused before it is inflated, and a lie about the size ends at the size that
// was promised.
func TestZP09Bombs(t *testing.T) {
	zeros := deflated(t, 10<<20)
	var many []string
	for i := range 6000 {
		many = append(many, fmt.Sprintf("f%d", i), "")
	}
	honest := zip.FileHeader{Name: "zeros", Method: zip.Deflate, CRC32: crc32.ChecksumIEEE(make([]byte, 10<<20)), CompressedSize64: uint64(len(zeros)), UncompressedSize64: 10 << 20}
	declared, lying := honest, honest
	declared.UncompressedSize64 = 10 << 30
	lying.UncompressedSize64 = 10
	tests := []struct {
		name string
		data []byte
		code wire.Code
	}{
		{"declares 10 GiB", raw(t, declared, zeros), wire.TooLong},
		{"inflates to more than it declares", raw(t, lying, zeros), wire.Invalid},
		{"ratio", raw(t, honest, zeros), wire.TooLong},
		{"6,000 entries", zipped(t, append([]string{"SKILL.md", skillText}, many...)...), wire.TooLong},
		{"200,000 entries", crowd(t, 200_000), wire.TooLong},
		{"the archive itself", append(zipped(t, "SKILL.md", skillText), make([]byte, 64<<20)...), wire.TooLong},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, _, err := unpack(t, tt.data, transfer.DefaultLimits())
			if code := wire.CodeOf(err); code != tt.code {
				t.Errorf("got %s: %v, want %s", code, err, tt.code)
			}
		})
	}
}

// deflated returns n zero bytes, deflated.
func deflated(t *testing.T, n int) []byte {
	t.Helper()
	data := zipped(t, "zeros", string(make([]byte, n)))
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	off, err := r.File[0].DataOffset()
	if err != nil {
		t.Fatal(err)
	}
	return data[off : off+int64(r.File[0].CompressedSize64)]
}

// crowd makes an archive whose directory has n entries and whose end says that it has one.
func crowd(t *testing.T, n int) []byte {
	t.Helper()
	data := zipped(t, "SKILL.md", skillText)
	end := len(data) - 22
	start := int(binary.LittleEndian.Uint32(data[end+16:]))
	header := data[start:end]
	out := slices.Clone(data[:start])
	for range n {
		out = append(out, header...)
	}
	tail := slices.Clone(data[end:])
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(header)))
	return append(out, tail...)
}

// ZP-06 and ZP-08: every byte and the execute bit survive.
func TestPackedFilesArriveWhole(t *testing.T) {
	files := []api.File{
		{Path: "SKILL.md", Data: []byte(skillText)},
		{Path: "scripts/run", Exec: true, Data: []byte("#!/bin/sh\n")},
		{Path: "data.txt", Data: []byte("a\r\nb")},
		{Path: "main.tf"}, {Path: "LICENSE", Data: []byte("MIT")},
		{Path: "logo.png", Data: []byte("\x89PNG\x00\xff")}, {Path: "parts.tar.gz", Data: bytes.Repeat([]byte{0, 1, 2}, 9000)},
	}
	var b bytes.Buffer
	if err := api.WriteArchive(&b, files); err != nil {
		t.Fatal(err)
	}
	dir, got, _, err := unpack(t, b.Bytes(), transfer.DefaultLimits())
	if err != nil || len(got) != len(files) {
		t.Fatalf("got %q, %v", names(got), err)
	}
	for _, f := range files {
		info, err := os.Stat(filepath.Join(dir, f.Path))
		if err != nil || got[f.Path] != string(f.Data) || info.Mode()&0o100 != 0 != f.Exec {
			t.Errorf("%s: got %q, %v, %v", f.Path, got[f.Path], info, err)
		}
	}
	a, err := transfer.OpenArchive(bytes.NewReader(b.Bytes()), int64(b.Len()), transfer.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := a.Unpack(t.TempDir())
	if want := api.Fingerprint(files); err != nil || sum != want {
		t.Errorf("got fingerprint %s, %v, want %s", sum, err, want)
	}
}

// FuzzArchive holds that no archive panics, takes more than the limits or writes outside the folder.
func FuzzArchive(f *testing.F) {
	limits := transfer.Limits{Archive: 1 << 20, Entries: 20, File: 1 << 16, Total: 1 << 18, Ratio: 200}
	for _, files := range [][]string{
		{"SKILL.md", skillText, "a/b", "x"}, {"w/SKILL.md", skillText}, {"../x", "x"}, {`a\..\b`, "x"}, {"/x", "x", "SKILL.md", ""}, {},
	} {
		f.Add(zipped(f, files...))
	}
	f.Add(raw(f, zip.FileHeader{Name: "a", Method: zip.Deflate, CompressedSize64: 3, UncompressedSize64: 1 << 40}, []byte("abc")))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir, got, a, err := unpack(t, data, limits)
		if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
			t.Fatalf("written outside: %v", entries)
		}
		if err != nil {
			if code := wire.CodeOf(err); code == wire.Internal {
				t.Errorf("error without a code: %v", err)
			}
			return
		}
		total := 0
		for _, content := range got {
			total += len(content)
		}
		if total > int(limits.Total) || len(got) > limits.Entries || len(got) != len(a.Paths()) {
			t.Errorf("got %d files of %d bytes, paths %q", len(got), total, a.Paths())
		}
		if _, err := a.SkillFile(); err != nil {
			t.Errorf("no skill file in %q: %v", a.Paths(), err)
		}
	})
}
