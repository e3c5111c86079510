package gateway

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/jsonl"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// pairing is pairing.json: the code that is in force, and who has used one.
type pairing struct {
	CodeHash string              `json:"code_sha256,omitempty"`
	Expires  string              `json:"expires_at,omitempty"`
	Tries    int                 `json:"tries,omitempty"` // wrong ones since the code was made
	People   map[string][]string `json:"people"`          // ids, by platform/account
}

const (
	pairTime  = 10 * time.Minute
	pairTries = 10
	pairAlpha = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789" // 32, none that look alike
)

func pairFile(dataDir string) string { return filepath.Join(dataDir, "pairing.json") }

func readPairing(dataDir string) (p pairing, err error) {
	p.People = map[string][]string{}
	data, err := os.ReadFile(pairFile(dataDir))
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("read pairing: %w", err)
	}
	if err := jsonl.Unmarshal(data, &p); err != nil {
		return p, wire.Errorf(wire.Corrupt, "%s is damaged: %w", pairFile(dataDir), err).WithHint("mend or remove it; then who was let in by a code has to be let in again")
	}
	if p.People == nil {
		p.People = map[string][]string{}
	}
	return p, nil
}

// CheckPairing reports whether who was let in by a code can be read.
func CheckPairing(dataDir string) error {
	_, err := readPairing(dataDir)
	return err
}

// changePairing changes the file under its lock.
func changePairing(dataDir string, change func(*pairing) error) (err error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return fmt.Errorf("change pairing: %w", err)
	}
	lock, err := lockSoon(filepath.Join(dataDir, "pairing.lock"))
	if err != nil {
		return fmt.Errorf("change pairing: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	p, err := readPairing(dataDir)
	if err != nil {
		return err
	}
	if err := change(&p); err != nil {
		return err
	}
	data, err := jsonl.Marshal(p)
	if err == nil {
		err = atomicfile.Write(pairFile(dataDir), append(data, '\n'), 0o600, atomicfile.Tidy())
	}
	if err != nil {
		return fmt.Errorf("change pairing: %w", err)
	}
	return nil
}

// NewPairingCode makes a code that one person can use to be let in, by sending /pair CODE in a direct chat.
// An earlier code ends.
func NewPairingCode(dataDir string, now time.Time) (code string, expires time.Time, err error) {
	raw := make([]byte, 8)
	rand.Read(raw)
	for i, b := range raw {
		raw[i] = pairAlpha[int(b)%len(pairAlpha)]
	}
	code, expires = string(raw), now.Add(pairTime).UTC().Truncate(time.Second)
	err = changePairing(dataDir, func(p *pairing) error {
		p.CodeHash, p.Expires, p.Tries = hashCode(code), expires.Format(time.RFC3339), 0
		return nil
	})
	return code, expires, err
}

func hashCode(code string) string {
	sum := sha256.Sum256([]byte("openspace-pair " + code))
	return hex.EncodeToString(sum[:])
}

// pairs handles a /pair message. It answers only when the code is right: who has none learns nothing.
func (g *Gateway) pairs(j *joined, m Message) bool {
	word, code, _ := strings.Cut(strings.TrimSpace(m.Text), " ")
	if word != "/pair" || m.Chat.Type != Direct || m.From.ID == "" || m.Edited {
		return false
	}
	p, err := readPairing(g.config.DataDir)
	if err != nil {
		g.log.Error("pair", "error", err)
	}
	if err != nil || p.CodeHash == "" {
		return true
	}
	right := false
	err = changePairing(g.config.DataDir, func(p *pairing) error {
		right = p.use(strings.ToUpper(strings.TrimSpace(code)), j.account.String(), m.From.ID, g.now())
		return nil
	})
	if err != nil {
		g.log.Error("pair", "error", err)
		return true
	}
	if !right {
		g.log.Warn("wrong or late pairing code", "channel", j.account.String(), "user", m.From.ID)
		return true
	}
	g.log.Info("paired", "channel", j.account.String(), "user", m.From.ID)
	j.mu.Lock()
	j.pairedAt = time.Time{}
	j.mu.Unlock()
	g.workers.Go(func() {
		g.call(g.ctx, func(ctx context.Context) error {
			_, err := j.Channel.Send(ctx, Out{Chat: m.Chat, ReplyTo: m.ID, Text: "You are let in. `/help` tells what you can do.", Key: keyOf(j.account, m) + "-0"})
			return err
		})
	})
	return true
}

// use tries a code, which is void after it was right, and after too many wrong ones.
func (p *pairing) use(code, account, user string, now time.Time) bool {
	expires, err := time.Parse(time.RFC3339, p.Expires)
	if p.CodeHash == "" || err != nil || now.After(expires) {
		return false
	}
	if subtle.ConstantTimeCompare([]byte(hashCode(code)), []byte(p.CodeHash)) != 1 {
		if p.Tries++; p.Tries >= pairTries {
			p.CodeHash = ""
		}
		return false
	}
	p.CodeHash, p.Expires, p.Tries = "", "", 0
	if !slices.Contains(p.People[account], user) {
		p.People[account] = append(p.People[account], user)
	}
	return true
}

// pairedFresh is how long the list of people is taken as it was: who removes somebody from the file waits so
// long.
const pairedFresh = 10 * time.Second

// pairedWith returns who was let in by a code.
func (g *Gateway) pairedWith(j *joined) []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if now := g.now(); now.Sub(j.pairedAt) > pairedFresh {
		p, err := readPairing(g.config.DataDir)
		if err != nil {
			g.log.Error("nobody is let in by pairing", "error", err)
		}
		j.paired, j.pairedAt = p.People[j.account.String()], now
	}
	return j.paired
}
