package web

import (
	"context"

	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"

	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// translator makes messages of ours of the library's events. What it looks up in the keys of the device may be absent.
type translator struct {
	name  func(ctx context.Context, id types.JID) string                                // what somebody is called; "": not known
	other func(ctx context.Context, id types.JID) types.JID                             // the other id of an account; empty: not known
	plain func(ctx context.Context, e *events.Message) (edited *waE2E.Message, ok bool) // of an edit that is encrypted once more
}

// message makes a message of an event; false: nobody wrote to us by it. Reactions, votes, receipts, keys, messages that
// were withdrawn, status updates and channels are such.
func (t translator) message(ctx context.Context, e *events.Message) (linked.Message, bool) {
	if e == nil || e.Message == nil || !chat(e.Info) {
		return linked.Message{}, false
	}
	m := t.envelope(ctx, e.Info)
	content := e.Message
	switch edited, id := edit(content); {
	case edited != nil:
		content, m.ID, m.Edited = edited, id, true
	case content.GetSecretEncryptedMessage().GetSecretEncType() == waE2E.SecretEncryptedMessage_MESSAGE_EDIT:
		plain, ok := t.plain(ctx, e)
		if !ok {
			return linked.Message{}, false
		}
		m.ID, m.Edited = content.GetSecretEncryptedMessage().GetTargetMessageKey().GetID(), true
		if content, _ = edit(plain); content == nil {
			content = plain
		}
	}
	content = unwrap(content)
	text, file, known := read(content)
	if !known || m.ID == "" {
		return linked.Message{}, false
	}
	m.Text, m.File = text, file
	t.context(ctx, &m, contextOf(content))
	return m, true
}

// chat reports whether this is a chat with people: no status update, no channel, no bot, not the platform itself.
func chat(i types.MessageInfo) bool {
	switch {
	case i.ID == "" || i.Sender.User == "" || i.Sender.IsBot() || i.Chat.IsBot() || i.Sender.User == types.PSAJID.User || i.Category == "peer":
		return false
	case i.Chat.Server == types.BroadcastServer:
		return i.Chat.User != types.StatusBroadcastJID.User && !i.IsFromMe
	}
	return i.Chat.Server == types.GroupServer || person(i.Chat)
}

func person(id types.JID) bool {
	return id.User != "" && (id.Server == types.DefaultUserServer || id.Server == types.HiddenUserServer)
}

// envelope is who wrote where and when. What came by a broadcast list is a direct message.
func (t translator) envelope(ctx context.Context, i types.MessageInfo) linked.Message {
	m := linked.Message{ID: i.ID, Time: i.Timestamp, FromMe: i.IsFromMe, Group: i.Chat.Server == types.GroupServer}
	m.From = t.party(ctx, i.Sender, i.SenderAlt)
	m.From.Name = i.PushName
	switch {
	case m.Group:
		m.Chat = linked.Party{ID: i.Chat.ToNonAD().String()}
	case i.IsFromMe:
		m.Chat = t.party(ctx, i.Chat, i.RecipientAlt)
	default:
		m.Chat = m.From
	}
	return m
}

// party is somebody under both ids, as far as they are known.
func (t translator) party(ctx context.Context, id, alt types.JID) linked.Party {
	if alt.IsEmpty() || alt.Server == id.Server {
		alt = t.other(ctx, id.ToNonAD())
	}
	p := linked.Party{ID: id.ToNonAD().String()}
	if !alt.IsEmpty() {
		p.Alt = alt.ToNonAD().String()
	}
	return p
}

// edit returns the new content of a message, and its id.
func edit(m *waE2E.Message) (*waE2E.Message, string) {
	p := m.GetProtocolMessage()
	if p.GetType() != waE2E.ProtocolMessage_MESSAGE_EDIT || p.GetEditedMessage() == nil {
		return nil, ""
	}
	return p.GetEditedMessage(), p.GetKey().GetID()
}

// deepest bounds how many wrappers are taken off.
const deepest = 8

// unwrap takes the wrappers off: of messages that disappear, that are seen once, of documents with a text, and such.
func unwrap(m *waE2E.Message) *waE2E.Message {
	for range deepest {
		var in *waE2E.Message
		for _, w := range []*waE2E.FutureProofMessage{
			m.GetEphemeralMessage(), m.GetViewOnceMessage(), m.GetViewOnceMessageV2(), m.GetViewOnceMessageV2Extension(), m.GetDocumentWithCaptionMessage(),
			m.GetEditedMessage(), m.GetLottieStickerMessage(), m.GetGroupMentionedMessage(), m.GetAssociatedChildMessage(), m.GetSpoilerMessage(), m.GetBotForwardedMessage(), m.GetPollCreationMessageV4(),
		} {
			if w.GetMessage() != nil {
				in = w.GetMessage()
			}
		}
		if in == nil {
			return m
		}
		m = in
	}
	return m
}

// context adds whom a message mentions and what it answers.
func (t translator) context(ctx context.Context, m *linked.Message, c *waE2E.ContextInfo) {
	m.Expires = c.GetExpiration()
	for _, s := range c.GetMentionedJID() {
		if id, err := types.ParseJID(s); err == nil && person(id) {
			p := t.party(ctx, id, types.EmptyJID)
			p.Name = t.name(ctx, id.ToNonAD())
			m.Mentions = append(m.Mentions, p)
		}
	}
	if c.GetStanzaID() == "" {
		return
	}
	text, _, _ := read(unwrap(c.GetQuotedMessage()))
	m.Answers = &linked.Quote{ID: c.GetStanzaID(), Text: text}
	if id, err := types.ParseJID(c.GetParticipant()); err == nil && person(id) {
		m.Answers.From = id.ToNonAD().String()
	}
}

// contexter is a part of a message that can mention and answer.
type contexter interface{ GetContextInfo() *waE2E.ContextInfo }

// contextOf returns the context of whatever the message is.
func contextOf(m *waE2E.Message) *waE2E.ContextInfo {
	for _, part := range []contexter{
		m.GetExtendedTextMessage(), m.GetImageMessage(), m.GetVideoMessage(), m.GetPtvMessage(), m.GetAudioMessage(), m.GetDocumentMessage(), m.GetStickerMessage(), m.GetLocationMessage(), m.GetLiveLocationMessage(),
		m.GetContactMessage(), m.GetContactsArrayMessage(), m.GetPollCreationMessage(), m.GetPollCreationMessageV2(), m.GetPollCreationMessageV3(), m.GetPollCreationMessageV5(), m.GetListResponseMessage(), m.GetButtonsResponseMessage(), m.GetTemplateButtonReplyMessage(),
		m.GetInteractiveResponseMessage(), m.GetGroupInviteMessage(), m.GetEventMessage(),
	} {
		if c := part.GetContextInfo(); c != nil {
			return c
		}
	}
	return nil
}

// unseen makes a message without a text of one that can be seen once, and on the phone only: what is in it never reaches
// linked devices.
func (t translator) unseen(ctx context.Context, e *events.UndecryptableMessage) (linked.Message, bool) {
	if e.UnavailableType != events.UnavailableTypeViewOnce || !chat(e.Info) {
		return linked.Message{}, false
	}
	return t.envelope(ctx, e.Info), true
}
