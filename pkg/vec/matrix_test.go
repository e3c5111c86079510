package vec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/viterin/vek/vek32"

	"github.com/openspace-dev/openspace/pkg/vec"
)

const model = "test/one"

// batch returns n random rows with keys from first on.
func batch(t *testing.T, r *rand.Rand, first, n, dim int) *vec.Batch {
	t.Helper()
	b := vec.NewBatch(dim)
	for i := range n {
		if err := b.Add(uint64(first+i), random(r, dim)); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// file writes a new matrix file.
func file(t *testing.T, b *vec.Batch) string {
	t.Helper()
	var buf bytes.Buffer
	if err := vec.Write(&buf, model, b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.osv")
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, path string) *vec.Matrix {
	t.Helper()
	m, err := vec.Open(path, model)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// plain is the top-k by the plainest means: cosines in float64, sorted.
func plain(t *testing.T, m *vec.Matrix, q []float32, k int) []vec.Hit {
	t.Helper()
	norm := math.Sqrt(vec.DotExact(q, q))
	unit := make([]float32, len(q))
	for i, x := range q {
		unit[i] = float32(float64(x) * (1 / norm))
	}
	type scored struct {
		row   int
		score float64
	}
	var all []scored
	for i := range m.Len() {
		if m.Deleted(i) {
			continue
		}
		row, err := m.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, scored{i, vec.DotExact(unit, row)})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	var hits []vec.Hit
	for _, s := range all[:min(k, len(all))] {
		hits = append(hits, vec.Hit{Row: s.row, Score: max(-1, min(1, float32(s.score)))})
	}
	return hits
}

func TestTopIsExact(t *testing.T) {
	for _, tt := range []struct{ rows, dim, k int }{
		{0, 8, 10}, {1, 1, 10}, {3, 5, 2}, {7, 31, 3}, {100, 32, 10}, {101, 33, 10}, {1000, 100, 10}, {1000, 256, 1}, {50, 1536, 60}, {20, 3072, 5},
	} {
		t.Run(fmt.Sprintf("%dx%d top %d", tt.rows, tt.dim, tt.k), func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, uint64(tt.rows*tt.dim)))
			m := open(t, file(t, batch(t, r, 0, tt.rows, tt.dim)))
			both(t, func(t *testing.T) {
				r := rand.New(rand.NewPCG(8, 9))
				for range 10 {
					q := random(r, tt.dim)
					got, err := m.Top(q, tt.k)
					if err != nil {
						t.Fatal(err)
					}
					if want := plain(t, m, q, tt.k); !slices.Equal(got, want) {
						t.Fatalf("got %v, want %v", got, want)
					}
				}
			})
		})
	}
}

// Rows that a float32 kernel cannot tell apart: the order must still be that of float64, and of the rows
// where that is equal.
func TestTopOfNearlyEqualRows(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	base, b := random(r, 96), vec.NewBatch(96)
	for i := range 400 {
		v := slices.Clone(base)
		if i%4 != 0 { // every fourth row is the same
			v[i%96] *= 1 + 3e-7*float32(r.IntN(5))
		}
		if err := b.Add(uint64(i), v); err != nil {
			t.Fatal(err)
		}
	}
	m := open(t, file(t, b))
	want := plain(t, m, base, 50)
	both(t, func(t *testing.T) {
		got, err := m.Top(base, 50)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v %v, want %v", got, err, want)
		}
	})
}

// The rough scan is the same with the kernels and without, and misses less than one in a hundred.
func TestRoughRecall(t *testing.T) {
	for _, dim := range []int{128, 256, 1536} {
		n := 1 << 22 / dim
		if testing.Short() {
			n /= 8
		}
		r := rand.New(rand.NewPCG(12, uint64(dim)))
		m, err := vec.New(model, batch(t, r, 0, n, dim))
		if err != nil {
			t.Fatal(err)
		}
		on := vek32.Info().Acceleration
		found, all := 0, 0
		for range 20 {
			q := random(r, dim)
			want, err1 := m.Top(q, 10)
			got, err2 := m.TopRough(q, 10)
			vek32.SetAcceleration(false)
			off, err3 := m.TopRough(q, 10)
			vek32.SetAcceleration(on)
			if err := errors.Join(err1, err2, err3); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, off) {
				t.Fatalf("with SIMD %v, without %v", got, off)
			}
			for _, h := range want {
				all++
				if slices.Contains(got, h) {
					found++
				}
			}
		}
		if recall := float64(found) / float64(all); recall < 0.99 {
			t.Errorf("%d rows of %d numbers: recall %.3f, want 0.99", n, dim, recall)
		}
	}
}

func TestRoughAndScores(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	m := open(t, file(t, batch(t, r, 0, 200, 100)))
	q := random(r, 100)
	rough := make([]float32, m.Len())
	if err := m.Rough(q, rough); err != nil {
		t.Fatal(err)
	}
	rows := []int32{-1}
	for i := range m.Len() {
		rows = append(rows, int32(i))
	}
	exact, err := m.Scores(q, rows)
	if err != nil {
		t.Fatal(err)
	}
	if exact[0] != 0 {
		t.Errorf("a row of -1: got %v, want 0", exact[0])
	}
	for i, x := range rough {
		if math.Abs(float64(x-exact[i+1])) > 0.02 {
			t.Errorf("row %d: rough %v, exact %v", i, x, exact[i+1])
		}
	}
}

// LB-02: bad vectors do not get in, nothing panics, no NaN comes out, and the order of the others does not change.
func TestLB02EdgeVectors(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, tt := range []struct {
		name string
		v    []float32
		err  error
	}{
		{"zero", make([]float32, 16), vec.ErrValue},
		{"narrow", make([]float32, 8), vec.ErrWidth},
		{"empty", nil, vec.ErrWidth},
		{"NaN", append(make([]float32, 15), nan), vec.ErrValue},
		{"infinite", append(make([]float32, 15), inf), vec.ErrValue},
		{"opposite infinities", append(make([]float32, 14), inf, -inf), vec.ErrValue},
	} {
		b := vec.NewBatch(16)
		if err := b.Add(1, tt.v); !errors.Is(err, tt.err) {
			t.Errorf("add %s: got %v, want %v", tt.name, err, tt.err)
		}
		if b.Len() != 0 {
			t.Errorf("add %s: it was stored", tt.name)
		}
	}
	both(t, func(t *testing.T) {
		b := vec.NewBatch(16)
		for key, size := range []float32{1, 1e30, 1e-30, -1e30} {
			v := make([]float32, 16)
			v[0], v[key+1] = 2*size, size
			if err := b.Add(uint64(key), v); err != nil {
				t.Fatal(err)
			}
		}
		m := open(t, file(t, b))
		for _, q := range [][]float32{append([]float32{1e30}, make([]float32, 15)...), append([]float32{1e-30}, make([]float32, 15)...)} {
			hits, err := m.Top(q, 10)
			if err != nil || len(hits) != 4 || hits[3].Row != 3 {
				t.Fatalf("got %v %v, want four hits, row 3 last", hits, err)
			}
			for i, h := range hits[:3] {
				if h.Row != i || math.Abs(float64(h.Score)-2/math.Sqrt(5)) > 1e-6 {
					t.Errorf("hit %d: got %v", i, h)
				}
			}
		}
		for _, q := range [][]float32{nil, make([]float32, 16), make([]float32, 8), append(make([]float32, 15), nan)} {
			if hits, err := m.Top(q, 10); err == nil {
				t.Errorf("query %v: got %v, want an error", q, hits)
			}
		}
	})
}

func TestAppendDeleteCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	path := file(t, batch(t, r, 0, 10, 40))
	second := batch(t, r, 10, 5, 40)
	second.Delete(3)
	if err := second.Add(4, random(r, 40)); err != nil {
		t.Fatal(err)
	}
	second.Delete(4)
	second.Delete(999)
	if err := vec.Append(path, model, second); err != nil {
		t.Fatal(err)
	}
	m := open(t, path)
	if m.Len() != 16 || m.Live() != 14 {
		t.Errorf("got %d rows, %d live, want 16 and 14", m.Len(), m.Live())
	}
	if got, want := m.Find([]uint64{0, 3, 4, 14, 999}), []int32{0, -1, 15, 14, -1}; !slices.Equal(got, want) {
		t.Errorf("find: got %v, want %v", got, want)
	}
	row3, err := m.Row(3)
	if err != nil {
		t.Fatal(err)
	}
	hits, err := m.Top(row3, 16)
	if err != nil || len(hits) != 14 || slices.ContainsFunc(hits, func(h vec.Hit) bool { return h.Row == 3 || h.Row == 4 }) {
		t.Errorf("a deleted row was found: %v %v", hits, err)
	}
	var buf bytes.Buffer
	if err := m.Compact(&buf); err != nil {
		t.Fatal(err)
	}
	small := filepath.Join(t.TempDir(), "small")
	if err := os.WriteFile(small, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, small)
	compact, err := c.Top(row3, 16)
	if err != nil || c.Len() != 14 || c.Live() != 14 || c.Wasteful() {
		t.Fatalf("compacted: %d rows, %d live, %v", c.Len(), c.Live(), err)
	}
	for i, h := range compact {
		if c.Key(h.Row) != m.Key(hits[i].Row) || h.Score != hits[i].Score {
			t.Errorf("hit %d: got key %d %v, want %d %v", i, c.Key(h.Row), h.Score, m.Key(hits[i].Row), hits[i].Score)
		}
	}
}

// EM-01 and EM-02, the file's part: vectors of one model are never mixed with those of another.
func TestOtherModel(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 18))
	path := file(t, batch(t, r, 0, 10, 8))
	var other *vec.ModelError
	if _, err := vec.Open(path, "test/two"); !errors.As(err, &other) || other.Have != model || other.Want != "test/two" {
		t.Errorf("open: got %v", err)
	}
	if err := vec.Append(path, "test/two", batch(t, r, 10, 1, 8)); !errors.As(err, &other) {
		t.Errorf("append of another model: got %v", err)
	}
	if err := vec.Append(path, model, batch(t, r, 10, 1, 16)); !errors.Is(err, vec.ErrWidth) {
		t.Errorf("append of another width: got %v", err)
	}
	if m := open(t, path); m.Len() != 10 || m.Model() != model || m.Dim() != 8 {
		t.Errorf("the file has changed: %d rows of %q, width %d", m.Len(), m.Model(), m.Dim())
	}
}

// A crash after any number of bytes of an append leaves the old matrix, and the next append works.
func TestTornAppend(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	path := file(t, batch(t, r, 0, 3, 8))
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block := vec.EncodeBlock(batch(t, r, 3, 2, 8))
	torn := filepath.Join(t.TempDir(), "torn")
	for n := 0; n < len(block); n += 7 {
		for _, body := range []bool{false, true} { // cut short, or the body written and the header not yet
			tail := slices.Clone(block[:n])
			if body {
				clear(tail[:min(64, n)])
			}
			if err := os.WriteFile(torn, append(slices.Clone(before), tail...), 0o600); err != nil {
				t.Fatal(err)
			}
			if m := open(t, torn); m.Len() != 3 {
				t.Fatalf("cut at %d: got %d rows, want 3", n, m.Len())
			}
		}
	}
	if err := vec.Append(torn, model, batch(t, r, 7, 2, 8)); err != nil {
		t.Fatal(err)
	}
	if m := open(t, torn); m.Len() != 5 || m.Key(3) != 7 {
		t.Errorf("after a torn append: got %d rows", m.Len())
	}
}

func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	path := file(t, batch(t, r, 0, 4, 32))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	q := random(r, 32)
	for off := range good {
		if off >= 8 && off < 16 { // versions are below
			continue
		}
		bad := slices.Clone(good)
		bad[off] ^= 0xFF
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := vec.Open(path, model)
		if err != nil {
			continue
		}
		hits, err := m.Top(q, 10)
		for _, h := range hits {
			if math.IsNaN(float64(h.Score)) {
				t.Fatalf("byte %d: a NaN came out", off)
			}
		}
		if _, err2 := m.TopRough(q, 10); off >= len(good)-4*4*32 && (!errors.Is(err, vec.ErrDamaged) || !errors.Is(err2, vec.ErrDamaged)) {
			t.Fatalf("byte %d of a row: got %v and %v, want %v", off, err, err2, vec.ErrDamaged)
		}
		m.Close()
	}
	newer := slices.Clone(good)
	newer[12] = 9
	if err := os.WriteFile(path, newer, 0o600); err != nil {
		t.Fatal(err)
	}
	var version *vec.VersionError
	if _, err := vec.Open(path, model); !errors.As(err, &version) || version.File != 9 {
		t.Errorf("newer format: got %v", err)
	}
}

// A file that is cut short while it is open must not end the process.
func TestCutWhileOpen(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	path := file(t, batch(t, r, 0, 9000, 128)) // 5 MB: several stretches
	m := open(t, path)
	if err := os.Truncate(path, 4096); err != nil {
		t.Skip(err) // a system that does not allow it is safe
	}
	both(t, func(t *testing.T) {
		for name, f := range map[string]func() error{
			"top":   func() error { _, err := m.Top(random(r, 128), 5); return err },
			"rough": func() error { _, err := m.TopRough(random(r, 128), 5); return err },
			"row":   func() error { _, err := m.Row(8999); return err },
		} {
			if err := f(); !errors.Is(err, vec.ErrDamaged) {
				t.Errorf("%s: got %v, want %v", name, err, vec.ErrDamaged)
			}
		}
	})
}

func FuzzOpen(f *testing.F) {
	r := rand.New(rand.NewPCG(25, 26))
	b := vec.NewBatch(4)
	for i := range 3 {
		if err := b.Add(uint64(i), random(r, 4)); err != nil {
			f.Fatal(err)
		}
	}
	var buf bytes.Buffer
	if err := vec.Write(&buf, model, b); err != nil {
		f.Fatal(err)
	}
	f.Add(buf.Bytes())
	f.Add(buf.Bytes()[:400])
	f.Add([]byte("OSVECTR\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := vec.Open(path, "")
		if err != nil {
			return
		}
		defer m.Close()
		q := make([]float32, m.Dim())
		q[0] = 1
		for _, top := range []func([]float32, int) ([]vec.Hit, error){m.Top, m.TopRough} {
			hits, _ := top(q, 3)
			for _, h := range hits {
				if !(h.Score >= -1 && h.Score <= 1) {
					t.Fatalf("score %v", h.Score)
				}
			}
		}
		m.Find([]uint64{0, 1})
	})
}
