package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// Channel is a chat platform as seen from one account of ours. Its methods may be called by several
// goroutines at once, Send also while Run is not running. Each call ends when its context does.
type Channel interface {
	// Account names the platform and who we are on it. Two gateways must not serve the same account.
	Account() Account

	// Run receives messages until ctx ends, and gives each to h.Take. A message is acknowledged to the
	// platform only after Take returned nil; Take is quick and never waits for an answer. Run connects again
	// by itself when a connection is lost, and tells h.State each time it is up or down. It returns nil when
	// ctx ends, a Fatal error when trying again is no use, such as for a wrong key, and any other error to be
	// started again after a pause. After it has returned it calls nothing of h any more.
	Run(ctx context.Context, h Host) error

	// Send sends one message and returns its id on the platform. The error is one of Permanent when it can
	// never be sent, one of Later when the platform says when to try again, one of Fatal when the platform
	// refuses our key, and any other when it may be tried again soon. When out.ReplyTo is gone, the message is
	// sent as one that answers none.
	Send(ctx context.Context, out Out) (id string, err error)

	// Fetch writes an attachment's content to w, and stops when w fails. Its errors are those of Send.
	Fetch(ctx context.Context, m Message, a Attachment, w io.Writer) error

	// Working shows that a message is being worked on, or no longer is: a reaction or a typing sign.
	Working(ctx context.Context, m Message, on bool) error

	Limits() Limits
}

// Webhook is a Channel to which the platform makes requests. The gateway serves it at Path. It answers 503
// while Run is not running.
type Webhook interface {
	Channel
	http.Handler
	Path() string
}

// Editor is a Channel that can replace the text of what it has sent: progress is then one message that changes.
type Editor interface {
	Channel
	Edit(ctx context.Context, chat Chat, id, text string) error
}

// Quoter is a Channel that can look up what a message answers, when the platform does not send it along.
type Quoter interface {
	Channel
	Quote(ctx context.Context, m Message) (string, error)
}

// Identifier is a Channel that knows what the ids of people look like.
type Identifier interface {
	Channel
	// CheckID says why an id can be nobody's; nil: it may be somebody's.
	CheckID(id string) error
}

// Host is what a running Channel gets from the gateway.
type Host struct {
	// Take takes a message over: nil means that it is on disk, or is to be ignored, and may be acknowledged.
	// An error means that it is lost unless the platform delivers it again. Duplicates are no concern of the
	// channel.
	Take func(ctx context.Context, m Message) error

	// State tells whether the channel receives at this moment; note says why not, or something worth knowing.
	State func(up bool, note string)

	Log *slog.Logger
}

// Account is one identity on one platform.
type Account struct {
	Platform string // lower case letters, such as feishu
	ID       string // such as the app id; never a secret
}

// Kinds of chats.
const (
	Direct = "dm"
	Group  = "group"
)

// Chat is where a message was written. Name is for people and decides nothing.
type Chat struct {
	ID     string `json:"chat_id"`
	Type   string `json:"chat_type"` // Direct or Group
	Name   string `json:"chat_name,omitempty"`
	Thread string `json:"thread_id,omitempty"`
}

// Person is who wrote. Only ID and Aliases can be allowed to write: a name is what anybody likes to call
// themselves.
type Person struct {
	ID      string   `json:"user_id"`
	Aliases []string `json:"aliases,omitempty"` // other ids of the same person, verified by the platform
	Name    string   `json:"user_name,omitempty"`
}

// Message is one message that somebody wrote to us. What is no text and no file has a text that says the same, such as
// PlaceText; where there is none, Text is empty, and the gateway answers that it cannot be read. What nobody wrote, such
// as "Ann joined", is no message.
type Message struct {
	ID          string       `json:"message_id"` // unique within its chat
	Chat        Chat         `json:"chat"`
	From        Person       `json:"from"`
	Text        string       `json:"text,omitempty"` // as people see it: mentions by name, ours left out
	Time        time.Time    `json:"time"`
	ReplyTo     string       `json:"reply_to_message_id,omitempty"`
	ReplyToText string       `json:"reply_to_text,omitempty"`
	Mentioned   bool         `json:"mentions_bot,omitempty"` // we are mentioned by name; a mention of everybody is none
	Edited      bool         `json:"edited,omitempty"`       // the new text of a message that was delivered before
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Attachment is a file that came with a message. Key is what the channel fetches it by.
type Attachment struct {
	Kind string `json:"kind"` // image, audio, video or file
	Key  string `json:"key"`
	Name string `json:"name,omitempty"` // as the sender says: not to be trusted
	MIME string `json:"mime_type,omitempty"`
	Size int64  `json:"size_bytes,omitempty"` // 0: not known
	Path string `json:"path,omitempty"`       // where it is kept, once it is
}

// Out is one message that we send: a text or a file.
type Out struct {
	Chat    Chat
	ReplyTo string // the message that it answers; "": none
	Text    string // Markdown within Limits.Text. What would mention somebody on the platform is made harmless by the channel
	File    *File
	Key     string // the same whenever this message is sent again: at most 50 letters, digits and hyphens
}

// File is a file that we send.
type File struct {
	Name string `json:"name"`
	MIME string `json:"mime_type,omitempty"`
	Path string `json:"path"`
	Size int64  `json:"size_bytes"`
}

// Limits are what a platform can take.
type Limits struct {
	Text    int              // how long a text may be
	Measure func(string) int // how long a text is; nil: in bytes
	File    int64            // how large a file may be in bytes; 0: files cannot be sent

	Pause   time.Duration // between two messages to one chat
	Working time.Duration // after which the sign of Working has to be renewed; 0: it stays
	Keys    time.Duration // how long the platform knows an Out.Key again; 0: it does not
}

// measure returns the length of a text.
func (l Limits) measure(s string) int {
	if l.Measure == nil {
		return len(s)
	}
	return l.Measure(s)
}

// ErrFatal is matched by errors of Run after which the channel is not started again, and by those of Send and Fetch
// when the platform refuses our key: what they were to do waits for a better one, for a day.
var ErrFatal = errors.New("the channel cannot work")

// Fatal marks an error after which trying again is no use before somebody has mended the settings.
func Fatal(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrFatal, fmt.Errorf(format, args...))
}

// ErrPermanent is matched by errors of Send for what can never be sent.
var ErrPermanent = errors.New("it cannot be sent")

// Permanent marks an error of Send after which trying again is no use: the chat is gone, the text is refused.
func Permanent(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrPermanent, fmt.Errorf(format, args...))
}

// LaterError is an error of Send that says when to try again.
type LaterError struct {
	After time.Duration
	Err   error
}

// Later marks an error of Send for what is to be sent again after a while, as the platform asks.
func Later(after time.Duration, err error) error { return &LaterError{after, err} }

func (e *LaterError) Error() string { return fmt.Sprintf("%v (again in %v)", e.Err, e.After) }

// Unwrap returns the cause.
func (e *LaterError) Unwrap() error { return e.Err }
