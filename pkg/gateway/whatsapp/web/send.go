package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"go.mau.fi/whatsmeow/types"
	"google.golang.org/protobuf/proto"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
)

// Send sends one message.
func (p *Phone) Send(ctx context.Context, out linked.Outgoing) error {
	to, err := types.ParseJID(out.Chat)
	if err != nil || to.User == "" {
		return gateway.Permanent("whatsapp: there is no chat %q", out.Chat)
	}
	c, err := p.connected()
	if err != nil {
		return err
	}
	m := &waE2E.Message{}
	if out.Path == "" {
		m.ExtendedTextMessage = &waE2E.ExtendedTextMessage{Text: &out.Text, ContextInfo: contextFor(out)}
	} else if err := p.attach(ctx, c, m, out); err != nil {
		return judge(err)
	}
	_, err = c.SendMessage(ctx, to, m, whatsmeow.SendRequestExtra{ID: out.ID})
	return judge(err)
}

// contextFor says what a message answers, and when it disappears.
func contextFor(out linked.Outgoing) *waE2E.ContextInfo {
	if out.Answers == nil && out.Expires == 0 {
		return nil
	}
	c := &waE2E.ContextInfo{}
	if out.Expires > 0 {
		c.Expiration = &out.Expires
	}
	if q := out.Answers; q != nil {
		c.StanzaID, c.Participant, c.QuotedMessage = &q.ID, &q.From, &waE2E.Message{Conversation: &q.Text}
	}
	return c
}

// maxImage is how large a picture may be that is shown as one; larger ones are sent as documents.
const maxImage = 16 << 20

// attach uploads the file of a message and puts it in.
func (p *Phone) attach(ctx context.Context, c *whatsmeow.Client, m *waE2E.Message, out linked.Outgoing) error {
	f, err := os.Open(out.Path)
	if err != nil {
		return gateway.Permanent("whatsapp: the file cannot be read: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return gateway.Permanent("whatsapp: the file %q cannot be read", out.Name)
	}
	temp, done, err := p.temp()
	if err != nil {
		return err
	}
	defer done()
	mime, _, _ := strings.Cut(cmp.Or(out.MIME, "application/octet-stream"), ";")
	image := (mime == "image/png" || mime == "image/jpeg") && info.Size() <= maxImage
	as := whatsmeow.MediaDocument
	if image {
		as = whatsmeow.MediaImage
	}
	up, err := c.UploadReader(ctx, f, temp, as)
	if err != nil {
		return err
	}
	now := proto.Int64(time.Now().Unix())
	if image {
		m.ImageMessage = &waE2E.ImageMessage{
			URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
			Mimetype: &mime, ContextInfo: contextFor(out),
		}
		return nil
	}
	m.DocumentMessage = &waE2E.DocumentMessage{
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, MediaKeyTimestamp: now, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength,
		Mimetype: &mime, FileName: &out.Name, Title: &out.Name, ContextInfo: contextFor(out),
	}
	return nil
}

// temp makes a file beside the keys, for what is on its way in or out.
func (p *Phone) temp() (_ *os.File, done func(), err error) {
	f, err := os.CreateTemp(p.dir, tempPattern)
	if err != nil {
		return nil, nil, fmt.Errorf("whatsapp: %w", err)
	}
	return f, func() { f.Close(); os.Remove(f.Name()) }, nil
}

// tooManyPause is how long to wait when the servers say that it was too much.
const tooManyPause = 30 * time.Second

// judge says what an error means for a second try.
func judge(err error) error {
	switch {
	case err == nil, errors.Is(err, gateway.ErrPermanent):
		return err
	case errors.Is(err, whatsmeow.ErrNotLoggedIn):
		return gateway.Fatal("no phone is linked: run %q, then start again", linked.HowToLink)
	case errors.Is(err, whatsmeow.ErrIQRateOverLimit), code(err) == 429:
		return gateway.Later(tooManyPause, fmt.Errorf("whatsapp: %w", err))
	case errors.Is(err, whatsmeow.ErrNotInGroup), errors.Is(err, whatsmeow.ErrGroupNotFound), errors.Is(err, whatsmeow.ErrUnknownServer), errors.Is(err, whatsmeow.ErrBroadcastListUnsupported), code(err) >= 400 && code(err) < 500:
		return gateway.Permanent("whatsapp: %w", err)
	}
	return fmt.Errorf("whatsapp: %w", err)
}

// code is what the servers refuse a message with; the library has it in the text only.
func code(err error) int {
	if !errors.Is(err, whatsmeow.ErrServerReturnedError) {
		return 0
	}
	text := err.Error()
	n, _ := strconv.Atoi(text[strings.LastIndexByte(text, ' ')+1:])
	return n
}

// Typing shows that we type. People see that only of accounts that are online.
func (p *Phone) Typing(ctx context.Context, chat string, on bool) error {
	to, err := types.ParseJID(chat)
	if err != nil {
		return gateway.Permanent("whatsapp: there is no chat %q", chat)
	}
	c, err := p.connected()
	if err != nil {
		return err
	}
	presence, state := types.PresenceUnavailable, types.ChatPresencePaused
	if on {
		presence, state = types.PresenceAvailable, types.ChatPresenceComposing
	}
	if err := c.SendPresence(ctx, presence); err != nil && !errors.Is(err, whatsmeow.ErrNoPushName) {
		return judge(err)
	}
	return judge(c.SendChatPresence(ctx, to, state, types.ChatPresenceMediaText))
}

// noSize is how much is fetched of a file whose size nobody tells.
const noSize = 64 << 20

// Fetch writes what a file has to w. It may have what its sender said, and no more.
func (p *Phone) Fetch(ctx context.Context, key string, size int64, w io.Writer) error {
	k, ok := openKey(key)
	if !ok {
		return gateway.Permanent("whatsapp: the file cannot be fetched: its key is damaged")
	}
	c, err := p.connected()
	if err != nil {
		return err
	}
	temp, done, err := p.temp()
	if err != nil {
		return err
	}
	defer done()
	const around = 1 << 10 // what encryption adds
	file := &bounded{File: temp, limit: cmp.Or(max(size, 0), noSize) + around}
	if err := c.DownloadMediaWithPathToFile(ctx, k.Path, k.Enc, k.Sum, k.Key, k.Type, "", false, file); err != nil {
		return fetchError(err)
	}
	if _, err := temp.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("whatsapp: %w", err)
	}
	_, err = io.Copy(w, temp)
	return err
}

var errLarger = errors.New("it is larger than its sender says")

func fetchError(err error) error {
	for _, never := range []error{
		whatsmeow.ErrMediaDownloadFailedWith403, whatsmeow.ErrMediaDownloadFailedWith404, whatsmeow.ErrMediaDownloadFailedWith410, errLarger,
		whatsmeow.ErrInvalidMediaHMAC, whatsmeow.ErrInvalidMediaEncSHA256, whatsmeow.ErrInvalidMediaSHA256, whatsmeow.ErrTooShortFile, whatsmeow.ErrUnknownMediaType,
	} {
		if errors.Is(err, never) {
			return gateway.Permanent("whatsapp: the file cannot be fetched: %w", err)
		}
	}
	return fmt.Errorf("whatsapp: fetch a file: %w", err)
}

// bounded is a file that takes only so much, each time that it is written from its begin.
type bounded struct {
	*os.File
	limit, written int64
}

// Write is of what is fetched.
func (b *bounded) Write(data []byte) (int, error) {
	if b.written += int64(len(data)); b.written > b.limit {
		return 0, errLarger
	}
	return b.File.Write(data)
}

// Seek begins anew when it goes to the begin.
func (b *bounded) Seek(offset int64, whence int) (int64, error) {
	at, err := b.File.Seek(offset, whence)
	if at == 0 {
		b.written = 0
	}
	return at, err
}

// ReadFrom is not that of the file, which would not count.
func (b *bounded) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, r)
}
