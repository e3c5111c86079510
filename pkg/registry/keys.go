package registry

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goccy/go-json"

	"github.com/openspace-dev/openspace/pkg/jsonl"
)

// The scopes of keys. Each may do what the one before it may.
const (
	ScopeRead  = "read"  // see and download
	ScopeWrite = "write" // publish, and change what its owner published
	ScopeAdmin = "admin" // see and change everything
)

// Scopes lists the scopes, the least first.
func Scopes() []string { return []string{ScopeRead, ScopeWrite, ScopeAdmin} }

// Key is what a registry knows of a key: everything but the key itself.
type Key struct {
	ID        string   `json:"-"` // public: k_ and 8 hex digits
	Owner     string   `json:"owner"`
	Hash      string   `json:"hash"` // SHA-256 of the key in hex
	Scope     string   `json:"scope"`
	Groups    []string `json:"groups,omitempty"`
	CreatedAt string   `json:"created_at"`
	RevokedAt string   `json:"revoked_at,omitempty"`
	seq       uint64
}

// may tells whether a key has at least a scope.
func (k *Key) may(scope string) bool {
	return slices.Index(Scopes(), k.Scope) >= slices.Index(Scopes(), scope)
}

func decodeKey(d Doc) (*Key, error) {
	k := &Key{ID: d.ID, seq: d.Seq}
	if err := json.Unmarshal(d.Data, k); err != nil {
		return nil, fmt.Errorf("decode key %q: %w", d.ID, err)
	}
	return k, nil
}

func hashKey(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// ErrKey is matched by the errors of wrong arguments of AddKey and RevokeKey.
var ErrKey = errors.New("not a usable key")

// AddKey makes a key and returns it, the only time that it is known.
func AddKey(ctx context.Context, s Storage, owner, scope string, groups []string) (Key, string, error) {
	if !validName(owner) {
		return Key{}, "", fmt.Errorf("%w: owner %q: want 1 to 64 letters, digits, dots, hyphens, underscores or @, and not \"me\", which stands for whoever asks", ErrKey, owner)
	}
	if !slices.Contains(Scopes(), scope) {
		return Key{}, "", fmt.Errorf("%w: scope %q: want %s", ErrKey, scope, strings.Join(Scopes(), ", "))
	}
	for _, g := range groups {
		if !validName(g) {
			return Key{}, "", fmt.Errorf("%w: group %q: want 1 to 64 letters, digits, dots, hyphens, underscores or @", ErrKey, g)
		}
	}
	var random [36]byte
	rand.Read(random[:]) // never fails
	id := hex.EncodeToString(random[:4])
	secret := "osk_" + id + "_" + base64.RawURLEncoding.EncodeToString(random[4:])
	k := Key{ID: "k_" + id, Owner: owner, Hash: hashKey(secret), Scope: scope, Groups: sorted(groups), CreatedAt: formatTime(time.Now())}
	return k, secret, k.put(ctx, s)
}

// put stores a state of a key.
func (k *Key) put(ctx context.Context, s Storage) (err error) {
	data, err := jsonl.Marshal(k)
	if err == nil {
		k.seq, err = s.Put(ctx, Doc{Kind: KindKey, ID: k.ID, Data: data}, k.seq)
	}
	if err != nil {
		return fmt.Errorf("store key: %w", err)
	}
	return nil
}

// validName tells whether a text can name an owner or a group.
func validName(s string) bool {
	return s != "" && len(s) <= 64 && s != "me" && strings.IndexFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._@-", r)
	}) < 0
}

func sorted(s []string) []string {
	s = slices.Clone(s)
	slices.Sort(s)
	return slices.Compact(s)
}

// Keys returns all keys, revoked ones too, in the order they were made.
func Keys(ctx context.Context, s Storage) ([]Key, error) {
	latest := map[string]*Key{}
	var order []string
	err := s.Changes(ctx, 0, func(d Doc) error {
		if d.Kind != KindKey {
			return nil
		}
		k, err := decodeKey(d)
		if err != nil {
			return err
		}
		if latest[d.ID] == nil {
			order = append(order, k.ID)
		}
		latest[k.ID] = k
		return nil
	})
	var out []Key
	for _, id := range order {
		out = append(out, *latest[id])
	}
	slices.SortStableFunc(out, func(a, b Key) int { return strings.Compare(a.CreatedAt, b.CreatedAt) })
	return out, err
}

// RevokeKey ends the use of the key with an id, or of all keys of an owner, and returns those that it ended.
// There must be one: ErrNotFound.
func RevokeKey(ctx context.Context, s Storage, idOrOwner string) ([]Key, error) {
	keys, err := Keys(ctx, s)
	if err != nil {
		return nil, err
	}
	var ended []Key
	for _, k := range keys {
		if k.RevokedAt != "" || k.ID != idOrOwner && k.Owner != idOrOwner {
			continue
		}
		k.RevokedAt = formatTime(time.Now())
		if err := k.put(ctx, s); err != nil {
			return ended, err
		}
		ended = append(ended, k)
	}
	if len(ended) == 0 {
		return nil, fmt.Errorf("key %q: %w", idOrOwner, ErrNotFound)
	}
	return ended, nil
}

const stageSecret = "stage"

// secret is what a document of KindSecret holds.
type secret struct {
	Secret string `json:"secret"`
}

// makeSecret stores the secret of staged uploads, unless there is one.
func makeSecret(ctx context.Context, s Storage) error {
	var random [32]byte
	rand.Read(random[:]) // never fails
	data, err := jsonl.Marshal(secret{hex.EncodeToString(random[:])})
	if err != nil {
		return err
	}
	_, err = s.Put(ctx, Doc{Kind: KindSecret, ID: stageSecret, Data: data}, 0)
	if errors.Is(err, ErrConflict) {
		return nil
	}
	return err
}
