package web_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waCommon"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/gatewaytest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked/linkedtest"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/web"
)

var (
	ann   = types.JID{User: "491", Device: 3, Server: types.DefaultUserServer}
	annID = types.NewJID("491", types.DefaultUserServer)
	group = types.NewJID("120363", types.GroupServer)
)

func event(chat types.JID, m *waE2E.Message) *events.Message {
	e := &events.Message{RawMessage: m, Info: types.MessageInfo{ID: "AC1", PushName: "Ann", Timestamp: time.Unix(1796100000, 0), MessageSource: types.MessageSource{Chat: chat, Sender: ann, IsGroup: chat == group}}}
	return e.UnwrapRaw()
}

func text(s string) *waE2E.Message { return &waE2E.Message{Conversation: &s} }

func wrap(m *waE2E.Message) *waE2E.FutureProofMessage { return &waE2E.FutureProofMessage{Message: m} }

// file is what a real message with a file has.
func hashes() []byte { return bytes.Repeat([]byte{7}, 32) }

// What people write, in every form in which it comes.
func TestMessage(t *testing.T) {
	image := &waE2E.ImageMessage{Caption: proto.String("look"), Mimetype: proto.String("image/jpeg"), DirectPath: proto.String("/v/x"), MediaKey: hashes(), FileEncSHA256: hashes(), FileSHA256: hashes(), FileLength: proto.Uint64(99)}
	document := &waE2E.DocumentMessage{FileName: proto.String("a.pdf"), Caption: proto.String("read"), DirectPath: proto.String("/v/d"), MediaKey: hashes(), FileEncSHA256: hashes(), FileSHA256: hashes()}
	vcard := "BEGIN:VCARD\r\nFN:Bob\r\nitem1.TEL;waid=49170:+49 170\r\nEMAIL:b@x\r\nEND:VCARD"
	edited := &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), Key: &waCommon.MessageKey{ID: proto.String("AC0")}, EditedMessage: text("new")}
	for _, tt := range []struct {
		name, text, file, kind string
		m                      *waE2E.Message
	}{
		{"text", "hello", "", "", text("hello")},
		{"text with a link", "https://x", "", "", &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("https://x")}}},
		{"disappearing", "hello", "", "", &waE2E.Message{EphemeralMessage: wrap(text("hello"))}},
		{"wrapped again and again", "hello", "", "", &waE2E.Message{EphemeralMessage: wrap(&waE2E.Message{ViewOnceMessageV2: wrap(&waE2E.Message{GroupMentionedMessage: wrap(text("hello"))})})}},
		{"from another device", "hello", "", "", &waE2E.Message{DeviceSentMessage: &waE2E.DeviceSentMessage{Message: text("hello")}}},
		{"picture", "look", "image.jpg", "image", &waE2E.Message{ImageMessage: image}},
		{"seen once", "look", "image.jpg", "image", &waE2E.Message{ViewOnceMessageV2Extension: wrap(&waE2E.Message{ImageMessage: image})}},
		{"document", "read", "a.pdf", "file", &waE2E.Message{DocumentMessage: document}},
		{"document with a text", "read", "a.pdf", "file", &waE2E.Message{DocumentWithCaptionMessage: wrap(&waE2E.Message{DocumentMessage: document})}},
		{"document without a name", "", "file", "file", &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{DirectPath: proto.String("/x")}}},
		{"video", "", "video.mp4", "video", &waE2E.Message{VideoMessage: &waE2E.VideoMessage{}}},
		{"video note", "", "video.mp4", "video", &waE2E.Message{PtvMessage: &waE2E.VideoMessage{}}},
		{"voice", "", "voice.ogg", "audio", &waE2E.Message{AudioMessage: &waE2E.AudioMessage{PTT: proto.Bool(true)}}},
		{"audio", "", "audio.mp3", "audio", &waE2E.Message{AudioMessage: &waE2E.AudioMessage{}}},
		{"sticker", "[sticker: 👍]", "sticker.webp", "image", &waE2E.Message{StickerMessage: &waE2E.StickerMessage{Emojis: proto.String("👍")}}},
		{"animated sticker", "[sticker]", "sticker.webp", "image", &waE2E.Message{LottieStickerMessage: wrap(&waE2E.Message{StickerMessage: &waE2E.StickerMessage{}})}},
		{"place", "Location: 48.137154, 11.576124 (Marienplatz)", "", "", &waE2E.Message{LocationMessage: &waE2E.LocationMessage{DegreesLatitude: proto.Float64(48.137154), DegreesLongitude: proto.Float64(11.576124), Name: proto.String("Marienplatz")}}},
		{"moving place", "Location: 1.000000, 2.000000 (here)", "", "", &waE2E.Message{LiveLocationMessage: &waE2E.LiveLocationMessage{DegreesLatitude: proto.Float64(1), DegreesLongitude: proto.Float64(2), Caption: proto.String("here")}}},
		{"contact", "Contact: Bob, +49 170, b@x", "", "", &waE2E.Message{ContactMessage: &waE2E.ContactMessage{DisplayName: proto.String("Bob"), Vcard: &vcard}}},
		{"contacts", "Contact: Bob, +49 170, b@x\nContact: Eve", "", "", &waE2E.Message{ContactsArrayMessage: &waE2E.ContactsArrayMessage{Contacts: []*waE2E.ContactMessage{{DisplayName: proto.String("Bob"), Vcard: &vcard}, {DisplayName: proto.String("Eve")}}}}},
		{"poll", "Poll: Lunch?\n- Pizza\n- Salad", "", "", &waE2E.Message{PollCreationMessageV3: &waE2E.PollCreationMessage{Name: proto.String("Lunch?"), Options: []*waE2E.PollCreationMessage_Option{{OptionName: proto.String("Pizza")}, {OptionName: proto.String("Salad")}}}}},
		{"button", "Yes", "", "", &waE2E.Message{TemplateButtonReplyMessage: &waE2E.TemplateButtonReplyMessage{SelectedDisplayText: proto.String("Yes")}}},
		{"choice of a list", "Two", "", "", &waE2E.Message{ListResponseMessage: &waE2E.ListResponseMessage{Title: proto.String("Two")}}},
		{"invitation", "[invitation to the group: Friends]", "", "", &waE2E.Message{GroupInviteMessage: &waE2E.GroupInviteMessage{GroupName: proto.String("Friends")}}},
		{"event", "[event: Party]", "", "", &waE2E.Message{EventMessage: &waE2E.EventMessage{Name: proto.String("Party")}}},
		{"payment", "", "", "", &waE2E.Message{SendPaymentMessage: &waE2E.SendPaymentMessage{}}},
		{"edit", "new", "", "", &waE2E.Message{EditedMessage: wrap(&waE2E.Message{ProtocolMessage: edited})}},
		{"edit without a wrapper", "new", "", "", &waE2E.Message{ProtocolMessage: edited}},
		{"encrypted edit", "decrypted", "", "", &waE2E.Message{SecretEncryptedMessage: &waE2E.SecretEncryptedMessage{SecretEncType: waE2E.SecretEncryptedMessage_MESSAGE_EDIT.Enum(), TargetMessageKey: &waCommon.MessageKey{ID: proto.String("AC0")}}}},
	} {
		m, ok := web.Message(t.Context(), event(annID, tt.m))
		if !ok || m.Text != tt.text || tt.file == "" != (m.File == nil) || m.File != nil && (m.File.Name != tt.file || m.File.Kind != tt.kind) {
			t.Errorf("%s: got %v, %q, %+v, want %q, %q", tt.name, ok, m.Text, m.File, tt.text, tt.file)
		}
		id := "AC1"
		if strings.Contains(tt.name, "edit") {
			id = "AC0"
		}
		if m.ID != id || m.Edited != (id == "AC0") || m.Time.Unix() != 1796100000 || m.From != (linked.Party{ID: "491@s.whatsapp.net", Alt: "77491@lid", Name: "Ann"}) || m.Chat != m.From || m.Group {
			t.Errorf("%s: got %+v", tt.name, m)
		}
		if err := sound(t, m); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
	m, _ := web.Message(t.Context(), event(annID, &waE2E.Message{ImageMessage: image}))
	if !web.ReadKey(m.File.Key) || m.File.Size != 99 || m.File.MIME != "image/jpeg" {
		t.Errorf("got %+v, want a key that has all that is needed", m.File)
	}
}

// sound passes a message on through the channel and looks at what comes out.
func sound(t testing.TB, m linked.Message) error {
	p := &linkedtest.Phone{}
	c, err := linked.New(p, linked.Bot)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	up, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Run(ctx, gateway.Host{State: func(bool, string) { close(up) }, Take: func(_ context.Context, m gateway.Message) error { err = gatewaytest.Sound(m); return nil }})
	}()
	<-up
	p.Deliver(m)
	cancel()
	return errors.Join(<-ended, err)
}

// What nobody wrote to us is no message.
func TestNoMessage(t *testing.T) {
	revoke := &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_REVOKE.Enum(), Key: &waCommon.MessageKey{ID: proto.String("AC0")}}
	for name, m := range map[string]*waE2E.Message{
		"nothing":              {},
		"reaction":             {ReactionMessage: &waE2E.ReactionMessage{Text: proto.String("👍")}},
		"withdrawn":            {ProtocolMessage: revoke},
		"history":              {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_HISTORY_SYNC_NOTIFICATION.Enum(), HistorySyncNotification: &waE2E.HistorySyncNotification{}}},
		"keys":                 {SenderKeyDistributionMessage: &waE2E.SenderKeyDistributionMessage{}},
		"vote":                 {PollUpdateMessage: &waE2E.PollUpdateMessage{}},
		"head of an album":     {AlbumMessage: &waE2E.AlbumMessage{}},
		"pinned":               {PinInChatMessage: &waE2E.PinInChatMessage{}},
		"edit of nothing":      {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum()}},
		"edit without an id":   {ProtocolMessage: &waE2E.ProtocolMessage{Type: waE2E.ProtocolMessage_MESSAGE_EDIT.Enum(), EditedMessage: text("x")}},
		"wrapper of a wrapper": {EphemeralMessage: wrap(&waE2E.Message{EphemeralMessage: wrap(&waE2E.Message{})})},
	} {
		if got, ok := web.Message(t.Context(), event(annID, m)); ok {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	for name, chat := range map[string]types.JID{"status": types.StatusBroadcastJID, "channel": types.NewJID("12", types.NewsletterServer), "bot": types.MetaAIJID, "nowhere": {}} {
		if got, ok := web.Message(t.Context(), event(chat, text("x"))); ok {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	if got, ok := web.Message(t.Context(), &events.Message{}); ok {
		t.Errorf("an empty event: got %+v", got)
	}
}

func TestChats(t *testing.T) {
	m, ok := web.Message(t.Context(), event(group, &waE2E.Message{ExtendedTextMessage: &waE2E.ExtendedTextMessage{Text: proto.String("@77491 x"), ContextInfo: &waE2E.ContextInfo{
		MentionedJID: []string{"77491@lid", "broken@@", "status@broadcast"}, StanzaID: proto.String("AC9"), Participant: proto.String("5:3@s.whatsapp.net"), QuotedMessage: text("asked"), Expiration: proto.Uint32(60),
	}}}))
	if !ok || !m.Group || m.Chat.ID != "120363@g.us" || m.From.ID != "491@s.whatsapp.net" || m.Expires != 60 {
		t.Errorf("got %+v", m)
	}
	if len(m.Mentions) != 1 || m.Mentions[0] != (linked.Party{ID: "77491@lid", Alt: "491@s.whatsapp.net", Name: "Robin"}) {
		t.Errorf("got mentions %+v", m.Mentions)
	}
	if m.Answers == nil || *m.Answers != (linked.Quote{ID: "AC9", From: "5@s.whatsapp.net", Text: "asked"}) {
		t.Errorf("got answer to %+v", m.Answers)
	}
	list, ok := web.Message(t.Context(), event(types.NewJID("9", types.BroadcastServer), text("x")))
	if !ok || list.Group || list.Chat.ID != "491@s.whatsapp.net" {
		t.Errorf("by a broadcast list: got %+v, want a direct message", list)
	}
	own := event(annID, text("x"))
	own.Info.IsFromMe, own.Info.Sender = true, types.NewJID("4", types.DefaultUserServer)
	if m, ok := web.Message(t.Context(), own); !ok || !m.FromMe || m.Chat.ID != "491@s.whatsapp.net" || m.From.ID != "4@s.whatsapp.net" {
		t.Errorf("of another device of ours: got %+v", m)
	}
}

func TestUnseen(t *testing.T) {
	e := &events.UndecryptableMessage{Info: event(annID, text("x")).Info, IsUnavailable: true, UnavailableType: events.UnavailableTypeViewOnce}
	if m, ok := web.Unseen(t.Context(), e); !ok || m.ID != "AC1" || m.Text != "" || m.Chat.ID == "" {
		t.Errorf("got %v, %+v, want a message without a text", ok, m)
	}
	e.UnavailableType = ""
	if m, ok := web.Unseen(t.Context(), e); ok {
		t.Errorf("got %+v of one that the sender is asked for again", m)
	}
}

// Errors of the library mean: never, later, or soon again.
func TestJudge(t *testing.T) {
	var later *gateway.LaterError
	refused := func(code int) error { return fmt.Errorf("%w %d", whatsmeow.ErrServerReturnedError, code) }
	for _, tt := range []struct {
		err       error
		permanent bool
		later     bool
		fatal     bool
	}{
		{refused(403), true, false, false},
		{refused(429), false, true, false},
		{refused(500), false, false, false},
		{whatsmeow.ErrIQRateOverLimit, false, true, false},
		{whatsmeow.ErrNotInGroup, true, false, false},
		{whatsmeow.ErrNotLoggedIn, false, false, true},
		{whatsmeow.ErrNotConnected, false, false, false},
		{whatsmeow.ErrMessageTimedOut, false, false, false},
		{io.ErrUnexpectedEOF, false, false, false},
		{gateway.Permanent("x"), true, false, false},
	} {
		if got := web.Judge(tt.err); errors.Is(got, gateway.ErrPermanent) != tt.permanent || errors.As(got, &later) != tt.later || errors.Is(got, gateway.ErrFatal) != tt.fatal {
			t.Errorf("%v: got %v", tt.err, got)
		}
	}
	if web.Judge(nil) != nil {
		t.Error("got an error of none")
	}
}

// Whatever bytes a message has, what comes of it has a chat, an author and an id.
func FuzzMessage(f *testing.F) {
	for _, m := range []*waE2E.Message{text("x"), {EphemeralMessage: wrap(text("x"))}, {ImageMessage: &waE2E.ImageMessage{}}, {ContactMessage: &waE2E.ContactMessage{Vcard: proto.String("TEL:1\n")}}} {
		data, _ := proto.Marshal(m)
		f.Add(data, "491:3@s.whatsapp.net", "120363@g.us", "AC1")
	}
	f.Fuzz(func(t *testing.T, data []byte, sender, chat, id string) {
		var m waE2E.Message
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		from, _ := types.ParseJID(sender)
		in, _ := types.ParseJID(chat)
		e := &events.Message{RawMessage: &m, Info: types.MessageInfo{ID: id, MessageSource: types.MessageSource{Sender: from, Chat: in}}}
		if got, ok := web.Message(context.Background(), e.UnwrapRaw()); ok {
			if err := sound(t, got); err != nil {
				t.Errorf("%+v: %v", got, err)
			}
		}
	})
}
