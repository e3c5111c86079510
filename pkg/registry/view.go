package registry

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/api"
)

// view is what a server remembers of the storage: little for each record, enough to decide who sees it, to
// find it, and to tell when two are the same. It is made from the storage's changes alone.
type view struct {
	mu      sync.RWMutex
	seq     uint64  // of the last change taken in
	entries []entry // by label
	labels  map[string]uint32
	order   []uint32             // labels of records that are there, by creation
	content map[[32]byte]uint32  // fingerprint → label of the latest record with it; more by entry.same
	fixes   map[string][]uint32  // parent id → labels of its fixes
	owners  names                // interned
	groups  names                // interned sets, joined by NUL
	keys    map[[32]byte]*caller // by hash of the key
	byKeyID map[string]*caller
	counts  map[string]uint64 // record id → number of its count document
	secret  []byte
}

// entry is one record.
type entry struct {
	id        string
	seq       uint64
	created   int64 // ns
	content   [32]byte
	sum       [8]byte // of what is indexed
	same      uint32  // label of an older record with the same content, plus 1
	owner     uint32
	groups    uint32
	vis       visibility
	deleted   bool
	withdrawn bool  // deprecated
	base      int64 // downloads that are stored
	more      int64 // and those that are not yet
}

type visibility uint8

const (
	private visibility = iota
	public
	group
)

func visibilityOf(v string) visibility {
	switch v {
	case api.Public:
		return public
	case api.Group:
		return group
	}
	return private
}

// names gives texts small numbers; 0 is the empty text.
type names struct {
	number map[string]uint32
	text   []string
}

func newNames() names { return names{map[string]uint32{"": 0}, []string{""}} }

func (n *names) of(text string) uint32 {
	i, ok := n.number[text]
	if !ok {
		i = uint32(len(n.text))
		n.number[text], n.text = i, append(n.text, text)
	}
	return i
}

func newView() *view {
	return &view{labels: map[string]uint32{}, content: map[[32]byte]uint32{}, fixes: map[string][]uint32{}, owners: newNames(), groups: newNames(),
		keys: map[[32]byte]*caller{}, byKeyID: map[string]*caller{}, counts: map[string]uint64{}}
}

// caller is somebody with a key.
type caller struct {
	Key
	owner uint32
}

// anonymous sees what is public.
var anonymous = &caller{owner: ^uint32(0)}

// apply takes in one change. For a record it returns its label and whether it must be indexed anew.
func (v *view) apply(d Doc) (label uint32, reindex bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.seq = max(v.seq, d.Seq)
	switch d.Kind {
	case KindRecord:
		r, err := decodeRecord(d)
		if err != nil {
			return 0, false, err
		}
		label, reindex = v.record(d, r)
	case KindKey:
		err = v.key(d)
	case KindCount:
		v.count(d)
	case KindSecret:
		var s secret
		if err = json.Unmarshal(d.Data, &s); err == nil && d.ID == stageSecret {
			v.secret, err = hex.DecodeString(s.Secret)
		}
	}
	return label, reindex, err
}

func (v *view) record(d Doc, r *record) (label uint32, reindex bool) {
	label, known := v.labels[d.ID]
	if !known {
		label = uint32(len(v.entries))
		id := strings.Clone(d.ID)
		v.labels[id] = label
		v.entries = append(v.entries, entry{id: id, deleted: true})
	}
	e := &v.entries[label]
	if e.seq >= d.Seq {
		return label, false
	}
	old := *e
	e.seq, e.owner = d.Seq, v.owners.of(strings.Clone(r.Owner))
	e.groups = v.groups.of(strings.Join(r.Groups, "\x00"))
	e.vis, e.withdrawn, e.deleted, e.sum = visibilityOf(r.Visibility), r.Deprecated != "", r.DeletedAt != "", sumOf(r)
	if !old.deleted && (e.deleted || e.content != rawHash(r.Fingerprint) || e.created != nanos(r.CreatedAt)) {
		v.forget(label)
	}
	if e.deleted {
		return label, !old.deleted
	}
	e.content, e.created = rawHash(r.Fingerprint), nanos(r.CreatedAt)
	if old.deleted || old.content != e.content || old.created != e.created {
		v.remember(label)
	}
	if r.Origin == api.Fixed && len(r.ParentSkillIDs) == 1 && !slices.Contains(v.fixes[r.ParentSkillIDs[0]], label) {
		parent := strings.Clone(r.ParentSkillIDs[0])
		v.fixes[parent] = append(v.fixes[parent], label)
	}
	return label, old.deleted || old.sum != e.sum
}

// remember puts a record into the order and among those with its content.
func (v *view) remember(label uint32) {
	e := &v.entries[label]
	i, _ := slices.BinarySearchFunc(v.order, label, v.compare)
	v.order = slices.Insert(v.order, i, label)
	if first, ok := v.content[e.content]; ok {
		e.same = first + 1
	}
	v.content[e.content] = label
}

// forget is the reverse; the entry must still have its old content and time.
func (v *view) forget(label uint32) {
	e := &v.entries[label]
	if i, ok := slices.BinarySearchFunc(v.order, label, v.compare); ok {
		v.order = slices.Delete(v.order, i, i+1)
	}
	if first := v.content[e.content]; first != label {
		for at := &v.entries[first]; at.same != 0; at = &v.entries[at.same-1] {
			if at.same == label+1 {
				at.same = e.same
				break
			}
		}
	} else if e.same != 0 {
		v.content[e.content] = e.same - 1
	} else {
		delete(v.content, e.content)
	}
	e.same = 0
}

// compare orders records by creation.
func (v *view) compare(a, b uint32) int {
	x, y := &v.entries[a], &v.entries[b]
	return cmp.Or(cmp.Compare(x.created, y.created), cmp.Compare(x.id, y.id))
}

func (v *view) key(d Doc) error {
	k, err := decodeKey(d)
	if err != nil {
		return err
	}
	if old := v.byKeyID[k.ID]; old != nil {
		delete(v.keys, rawHash(old.Hash))
	}
	c := &caller{Key: *k, owner: v.owners.of(k.Owner)}
	v.byKeyID[k.ID] = c
	if k.RevokedAt == "" {
		v.keys[rawHash(k.Hash)] = c
	}
	return nil
}

// count is what a document of KindCount holds.
type count struct {
	Downloads int64 `json:"downloads"`
}

// downloadsOf reads a document of KindCount; one that cannot be read counts nothing.
func downloadsOf(d Doc) int64 {
	var c count
	if err := json.Unmarshal(d.Data, &c); err != nil {
		return 0
	}
	return c.Downloads
}

func (v *view) count(d Doc) {
	label, ok := v.labels[d.ID]
	if ok {
		v.counts[v.entries[label].id] = d.Seq
		atomic.StoreInt64(&v.entries[label].base, downloadsOf(d))
	}
}

// sees tells whether a caller may see a record.
func (v *view) sees(c *caller, e *entry) bool {
	switch {
	case e.deleted:
		return false
	case e.vis == public || e.owner == c.owner || c.Scope == ScopeAdmin:
		return true
	case e.vis != group:
		return false
	}
	for _, g := range strings.Split(v.groups.text[e.groups], "\x00") {
		if slices.Contains(c.Groups, g) {
			return true
		}
	}
	return false
}

// find returns a record that a caller sees.
func (v *view) find(c *caller, id string) (uint32, bool) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	label, ok := v.labels[id]
	return label, ok && v.sees(c, &v.entries[label])
}

// twin returns the oldest record that has a content, is not the one with the given id, and that a caller sees.
func (v *view) twin(c *caller, content [32]byte, id string) string {
	v.mu.RLock()
	defer v.mu.RUnlock()
	label, ok := v.content[content]
	best := ""
	for ok {
		e := &v.entries[label]
		if e.id != id && v.sees(c, e) {
			best = e.id
		}
		label, ok = e.same-1, e.same != 0
	}
	return best
}

// downloads returns how often a record was downloaded.
func (v *view) downloads(id string) int64 {
	v.mu.RLock()
	defer v.mu.RUnlock()
	label, ok := v.labels[id]
	if !ok {
		return 0
	}
	e := &v.entries[label]
	return atomic.LoadInt64(&e.base) + atomic.LoadInt64(&e.more)
}

// listed is a record in a listing.
type listed struct {
	id      string
	created int64
}

// list returns at most n ids of records after a place in the order of creation that a caller sees and that a
// filter lets through.
func (v *view) list(c *caller, after listed, n int, keep func(*entry) bool) (out []listed) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	i, found := slices.BinarySearchFunc(v.order, after, func(label uint32, at listed) int {
		e := &v.entries[label]
		return cmp.Or(cmp.Compare(e.created, at.created), cmp.Compare(e.id, at.id))
	})
	if found {
		i++
	}
	for ; i < len(v.order) && len(out) < n; i++ {
		if e := &v.entries[v.order[i]]; v.sees(c, e) && keep(e) {
			out = append(out, listed{e.id, e.created})
		}
	}
	return out
}
