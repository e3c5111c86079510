package web

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// read returns the text and the file of a message. What is neither is described, so that it can be talked about, or has
// no text, which is told to who wrote it. false: nothing that people write.
func read(m *waE2E.Message) (text string, file *linked.File, known bool) {
	if text, file, known := readFile(m); known {
		return text, file, true
	}
	if text, known := readText(m); known {
		return text, nil, true
	}
	text, known = describe(m)
	return text, nil, known
}

// readText reads what is text, and the answers by buttons and lists.
func readText(m *waE2E.Message) (string, bool) {
	for _, part := range []struct {
		there bool
		text  string
	}{
		{m.GetConversation() != "", m.GetConversation()},
		{m.GetExtendedTextMessage() != nil, m.GetExtendedTextMessage().GetText()},
		{m.GetButtonsResponseMessage() != nil, cmp.Or(m.GetButtonsResponseMessage().GetSelectedDisplayText(), m.GetButtonsResponseMessage().GetSelectedButtonID())},
		{m.GetTemplateButtonReplyMessage() != nil, cmp.Or(m.GetTemplateButtonReplyMessage().GetSelectedDisplayText(), m.GetTemplateButtonReplyMessage().GetSelectedID())},
		{m.GetListResponseMessage() != nil, cmp.Or(m.GetListResponseMessage().GetTitle(), m.GetListResponseMessage().GetSingleSelectReply().GetSelectedRowID())},
		{m.GetInteractiveResponseMessage() != nil, m.GetInteractiveResponseMessage().GetBody().GetText()},
		{m.GetCommentMessage() != nil, m.GetCommentMessage().GetMessage().GetConversation() + m.GetCommentMessage().GetMessage().GetExtendedTextMessage().GetText()},
	} {
		if part.there {
			return part.text, true
		}
	}
	return "", false
}

// describe tells what a message is that has neither text nor file.
func describe(m *waE2E.Message) (string, bool) {
	switch {
	case m.GetLocationMessage() != nil:
		l := m.GetLocationMessage()
		return gateway.PlaceText(l.GetDegreesLatitude(), l.GetDegreesLongitude(), l.GetName(), l.GetAddress(), l.GetComment()), true
	case m.GetLiveLocationMessage() != nil:
		l := m.GetLiveLocationMessage()
		return gateway.PlaceText(l.GetDegreesLatitude(), l.GetDegreesLongitude(), l.GetCaption()), true
	case m.GetContactMessage() != nil:
		return contacts(m.GetContactMessage()), true
	case m.GetContactsArrayMessage() != nil:
		return contacts(m.GetContactsArrayMessage().GetContacts()...), true
	case m.GetGroupInviteMessage() != nil:
		return note("invitation to the group", m.GetGroupInviteMessage().GetGroupName(), m.GetGroupInviteMessage().GetCaption()), true
	case m.GetEventMessage() != nil:
		return note("event", m.GetEventMessage().GetName(), m.GetEventMessage().GetDescription()), true
	case m.GetProductMessage() != nil:
		return note("product", m.GetProductMessage().GetProduct().GetTitle(), m.GetProductMessage().GetBody()), true
	case m.GetOrderMessage() != nil:
		return note("order", m.GetOrderMessage().GetOrderTitle(), m.GetOrderMessage().GetMessage()), true
	case m.GetStickerPackMessage() != nil:
		return note("pack of stickers", m.GetStickerPackMessage().GetName()), true
	case m.GetSendPaymentMessage() != nil, m.GetRequestPaymentMessage() != nil:
		return "", true
	}
	for _, p := range []*waE2E.PollCreationMessage{m.GetPollCreationMessage(), m.GetPollCreationMessageV2(), m.GetPollCreationMessageV3(), m.GetPollCreationMessageV5(), m.GetPollCreationMessageV6()} {
		if p != nil {
			return poll(p), true
		}
	}
	return "", false
}

// note is "[what: one, two]" of those that are not empty.
func note(what string, of ...string) string {
	var said []string
	for _, s := range of {
		if s = strings.TrimSpace(s); s != "" {
			said = append(said, s)
		}
	}
	if len(said) == 0 {
		return "[" + what + "]"
	}
	return "[" + what + ": " + strings.Join(said, ", ") + "]"
}

func poll(p *waE2E.PollCreationMessage) string {
	var options []string
	for _, o := range p.GetOptions() {
		options = append(options, o.GetOptionName())
	}
	return gateway.PollText(p.GetName(), options)
}

// contacts lists the cards, with their numbers and addresses.
func contacts(of ...*waE2E.ContactMessage) string {
	var lines []string
	for _, c := range of {
		var about []string
		for line := range strings.Lines(c.GetVcard()) {
			name, value, ok := strings.Cut(strings.TrimSpace(line), ":")
			name, _, _ = strings.Cut(name, ";")
			name = name[strings.LastIndexByte(name, '.')+1:] // item1.TEL
			if ok && (strings.EqualFold(name, "TEL") || strings.EqualFold(name, "EMAIL") || strings.EqualFold(name, "ORG")) {
				about = append(about, value)
			}
		}
		if text := gateway.ContactText(c.GetDisplayName(), about...); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines, "\n")
}

// media is what all files have in common.
type media interface {
	whatsmeow.DownloadableMessage
	GetMimetype() string
	GetFileLength() uint64
}

// readFile reads the file of a message, and the text with it.
func readFile(m *waE2E.Message) (text string, file *linked.File, known bool) {
	switch {
	case m.GetImageMessage() != nil:
		return m.GetImageMessage().GetCaption(), fileOf("image", "image.jpg", whatsmeow.MediaImage, m.GetImageMessage()), true
	case m.GetVideoMessage() != nil:
		return m.GetVideoMessage().GetCaption(), fileOf("video", "video.mp4", whatsmeow.MediaVideo, m.GetVideoMessage()), true
	case m.GetPtvMessage() != nil:
		return m.GetPtvMessage().GetCaption(), fileOf("video", "video.mp4", whatsmeow.MediaVideo, m.GetPtvMessage()), true
	case m.GetAudioMessage() != nil:
		name := "audio.mp3"
		if m.GetAudioMessage().GetPTT() {
			name = "voice.ogg"
		}
		return "", fileOf("audio", name, whatsmeow.MediaAudio, m.GetAudioMessage()), true
	case m.GetDocumentMessage() != nil:
		d := m.GetDocumentMessage()
		return d.GetCaption(), fileOf("file", cmp.Or(d.GetFileName(), d.GetTitle(), "file"), whatsmeow.MediaDocument, d), true
	case m.GetStickerMessage() != nil:
		return note("sticker", m.GetStickerMessage().GetEmojis()), fileOf("image", "sticker.webp", whatsmeow.MediaImage, m.GetStickerMessage()), true
	}
	return "", nil, false
}

// fileKey is what is needed to fetch a file.
type fileKey struct {
	Type whatsmeow.MediaType `json:"t"`
	Path string              `json:"p"`
	Key  []byte              `json:"k"`
	Enc  []byte              `json:"e"` // hash of what is fetched
	Sum  []byte              `json:"s"` // hash of what that becomes
}

func fileOf(kind, name string, as whatsmeow.MediaType, m media) *linked.File {
	key, _ := json.Marshal(fileKey{as, m.GetDirectPath(), m.GetMediaKey(), m.GetFileEncSHA256(), m.GetFileSHA256()})
	return &linked.File{Kind: kind, Key: base64.RawURLEncoding.EncodeToString(key), Name: name, MIME: m.GetMimetype(), Size: int64(min(m.GetFileLength(), 1<<62))}
}

// openKey reads a key that fileOf made.
func openKey(s string) (k fileKey, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(s)
	return k, err == nil && json.Unmarshal(data, &k) == nil && strings.HasPrefix(k.Path, "/") && len(k.Enc) == 32 && len(k.Sum) == 32 && len(k.Key) == 32
}
