package gateway

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Doubts tells of entries of allowed_users that can let nobody in, because no id on the platform looks so.
func (j Joined) Doubts() (out []string) {
	known, _ := j.Channel.(Identifier)
	for _, id := range j.Access.AllowedUsers {
		var err error
		switch {
		case strings.ContainsFunc(id, unicode.IsSpace):
			err = errors.New("an id has no spaces")
		case known != nil:
			err = known.CheckID(id)
		}
		if err != nil {
			out = append(out, fmt.Sprintf("%s.allowed_users: %q lets nobody in: %v", j.Channel.Account().Platform, id, err))
		}
	}
	return out
}

// lets reports whether somebody may write at all. Names decide nothing: anybody can call themselves anything.
func (a Access) lets(p Person, paired []string) bool {
	if a.AllowAllUsers {
		return true
	}
	for _, id := range append([]string{p.ID}, p.Aliases...) {
		if id != "" && (slices.Contains(a.AllowedUsers, id) || slices.Contains(paired, id)) {
			return true
		}
	}
	return false
}

// accepts reports whether a message is meant for us. toUs asks whether it answers a message of ours; it is
// asked only when that matters.
func (a Access) accepts(m Message, toUs func() bool) bool {
	if m.Chat.Type != Group {
		return a.AllowDM
	}
	policy := a.GroupPolicy
	if own, ok := a.Groups[m.Chat.ID]; ok {
		policy = own
	}
	switch {
	case !a.AllowGroups, policy == "disabled":
		return false
	case policy == "all", m.Mentioned:
		return true
	case policy == "mention_only":
		return false
	}
	return m.ReplyTo != "" && toUs()
}
