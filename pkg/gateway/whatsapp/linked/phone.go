package linked

import (
	"context"
	"io"
	"log/slog"
	"time"
)

// Phone is the account of a phone, as one of its linked devices sees it. Ids of accounts are as the platform writes
// them: a number with @s.whatsapp.net, a hidden id with @lid, a group with @g.us. Its methods may be called by several
// goroutines at once.
type Phone interface {
	// Self is whose account it is, without asking anybody. ok is false when no phone is linked.
	Self() (self Self, ok bool, err error)

	// Run receives until ctx ends, and connects again by itself. It returns as Run of a gateway.Channel does, and
	// calls nothing of h after that.
	Run(ctx context.Context, h Handler) error

	// Send sends one message. Its errors are those of Send of a gateway.Channel.
	Send(ctx context.Context, out Outgoing) error

	// Fetch writes what a file has to w, and stops when w fails.
	Fetch(ctx context.Context, key string, size int64, w io.Writer) error

	// Typing shows in a chat for a while that we type, or do not any more.
	Typing(ctx context.Context, chat string, on bool) error
}

// Pairer links phones.
type Pairer interface {
	// Pair links a phone, and gives what has to be scanned or typed on it to show. number is that of the phone,
	// for a code to type; "": a picture to scan. It ends when the phone is linked, or with an error.
	Pair(ctx context.Context, number string, show func(Code)) (Self, error)

	// Unlink forgets the phone. told is false when the servers do not know of it: the phone still lists the
	// device.
	Unlink(ctx context.Context) (told bool, err error)
}

// Handler gets what happens.
type Handler struct {
	Take  func(ctx context.Context, m Message) error // nil: it may be acknowledged
	State func(up bool, note string)
	Log   *slog.Logger
}

// Code is what links a phone.
type Code struct {
	Scan  string // what a picture to scan has in it
	Type  string // what is to be typed on the phone
	Valid time.Duration
}

// Self is the account that we are a device of.
type Self struct {
	ID  string `json:"id"`            // with the number
	LID string `json:"lid,omitempty"` // hidden, the same account
}

// Number is the account's number.
func (s Self) Number() string { return user(s.ID) }

// Is reports whether an id is ours.
func (s Self) Is(id string) bool { return id != "" && (id == s.ID || id == s.LID) }

// Party is somebody, under one or two ids: one with the number, one hidden.
type Party struct {
	ID, Alt string
	Name    string // as they call themselves
}

// Message is what somebody wrote. Edits have the id of the original and the new text.
type Message struct {
	ID       string
	Chat     Party // the group, or with whom we talk
	Group    bool
	From     Party
	FromMe   bool // by another device of the account, or by us
	Time     time.Time
	Text     string
	Mentions []Party // each stands in the text as an @ and the first part of its ID
	Answers  *Quote
	Edited   bool
	File     *File
	Expires  uint32 // seconds after which messages of this chat disappear
}

// Quote is a message that another one answers.
type Quote struct {
	ID   string
	From string // who wrote it
	Text string
}

// File is a file that came with a message. Key has all that is needed to fetch it.
type File struct {
	Kind, Key, Name, MIME string
	Size                  int64
}

// Outgoing is a message that we send. The same ID is used when it is sent again.
type Outgoing struct {
	ID, Chat, Text string
	Answers        *Quote
	Name, MIME     string // of the file
	Path           string // of the file; "": none
	Expires        uint32
}
