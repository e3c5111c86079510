package linked

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Ids of messages that we send begin as those of WhatsApp Web do. Ten bytes of the hash of Out.Key follow, and four
// by which we know our own again: after a restart, and also what another gateway of the same account sent.
const (
	idPrefix  = "3EB0"
	idKey     = 10
	idProof   = 4
	idPurpose = "openspace-gateway "
)

// messageID is the id under which a message with this key is sent.
func messageID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return idPrefix + hexOf(sum[:idKey]) + proof(sum[:idKey])
}

func hexOf(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) }

func proof(key []byte) string {
	sum := sha256.Sum256(append([]byte(idPurpose), key...))
	return hexOf(sum[:idProof])
}

// ours reports whether a message has an id that messageID made.
func ours(id string) bool {
	rest, ok := strings.CutPrefix(id, idPrefix)
	if !ok || len(rest) != 2*(idKey+idProof) {
		return false
	}
	key, err := hex.DecodeString(rest[:2*idKey])
	return err == nil && rest[2*idKey:] == proof(key)
}

// user is the first part of an id.
func user(id string) string {
	name, _, _ := strings.Cut(id, "@")
	return name
}

const (
	numberServer = "@s.whatsapp.net"
	hiddenServer = "@lid"
)

// split tells which of two ids of one account has the number, and which is hidden.
func (p Party) split() (number, hidden string) {
	for _, id := range []string{p.ID, p.Alt} {
		switch {
		case strings.HasSuffix(id, numberServer):
			number = id
		case strings.HasSuffix(id, hiddenServer):
			hidden = id
		}
	}
	return number, hidden
}

// account is the one id that stands for a person or a chat: that with the number where it is known.
func (p Party) account() string {
	if number, _ := p.split(); number != "" {
		return number
	}
	return p.ID
}

// place is the id of a message within its chat. In a group several people could use the same one, and who answers a
// message has to name its author.
func place(group bool, id, author string) string {
	if !group || author == "" {
		return id
	}
	return id + "/" + author
}
