package api

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Signature says that the holder of a key vouches for a skill's name and content.
type Signature struct {
	Algorithm string `json:"algorithm"`  // always ed25519
	PublicKey string `json:"public_key"` // standard base64
	Signature string `json:"signature"`  // standard base64, over SignedText
}

const ed25519Name = "ed25519"

// ErrSignatureMismatch reports a signature that does not belong to what it came with.
var ErrSignatureMismatch = errors.New("signature does not fit the content")

// SignedText is what a signature is made over. The first line keeps it apart from anything else that the key
// may sign.
func SignedText(fingerprint, name string) []byte {
	return []byte("openspace-skill-signature-v1\n" + fingerprint + "\n" + name + "\n")
}

// Sign signs a skill.
func Sign(key ed25519.PrivateKey, fingerprint, name string) *Signature {
	public := key.Public().(ed25519.PublicKey)
	return &Signature{ed25519Name, base64.StdEncoding.EncodeToString(public),
		base64.StdEncoding.EncodeToString(ed25519.Sign(key, SignedText(fingerprint, name)))}
}

// Verify checks the signature against the fingerprint that the caller computed and the name of the skill.
func (s *Signature) Verify(fingerprint, name string) error {
	public, err := s.key()
	if err != nil {
		return err
	}
	sig, err := base64.StdEncoding.DecodeString(s.Signature)
	if err != nil || !ed25519.Verify(public, SignedText(fingerprint, name), sig) {
		return ErrSignatureMismatch
	}
	return nil
}

func (s *Signature) key() (ed25519.PublicKey, error) {
	if s.Algorithm != ed25519Name {
		return nil, fmt.Errorf("signature algorithm %q is not known", s.Algorithm)
	}
	public, err := base64.StdEncoding.DecodeString(s.PublicKey)
	if err != nil || len(public) != ed25519.PublicKeySize {
		return nil, errors.New("signature has no valid public key")
	}
	return public, nil
}

// KeyID names the key that signed, as it is shown to people and written into policies: SHA256: and the
// unpadded base64 of the key's SHA-256. It is "" for a signature without a valid key.
func (s *Signature) KeyID() string {
	if s == nil {
		return ""
	}
	public, err := s.key()
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(public)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Header returns the signature as a header value: three words.
func (s *Signature) Header() string { return s.Algorithm + " " + s.PublicKey + " " + s.Signature }

// ParseSignature reads a header value that Header made.
func ParseSignature(v string) (*Signature, error) {
	words := strings.Fields(v)
	if len(words) != 3 {
		return nil, errors.New("signature header has not three words")
	}
	s := &Signature{words[0], words[1], words[2]}
	if _, err := s.key(); err != nil {
		return nil, err
	}
	return s, nil
}
