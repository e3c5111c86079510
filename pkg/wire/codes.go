package wire

// Code says what kind of error happened. The list is closed: a reader takes a code it does not know as
// Internal.
type Code string

// The error codes.
const (
	Usage        Code = "usage"        // a flag, an argument or a setting is wrong
	NotFound     Code = "not_found"    // what was named does not exist
	Exists       Code = "exists"       // what was to be made is there already
	Invalid      Code = "invalid"      // the input cannot be used as it is
	Unsafe       Code = "unsafe"       // a safety rule refuses it
	Auth         Code = "auth"         // not signed in, or not allowed
	RateLimited  Code = "rate_limited" // the other side says: later
	Network      Code = "network"      // the other side was not reached or broke off
	Locked       Code = "locked"       // another process holds the lock
	Corrupt      Code = "corrupt"      // a store or an index is missing or damaged
	WrongVersion Code = "version"      // a format is too old or too new
	TooLong      Code = "too_long"     // a line or a value is over its limit
	Canceled     Code = "canceled"     // interrupted
	Internal     Code = "internal"     // anything else; a fault of the program
)

// The exit statuses of every command of the suite.
const (
	StatusOK          = 0   // done; for a search at least one hit
	StatusNone        = 1   // ran well and the answer is "none", or what was named does not exist
	StatusUsage       = 2   // a flag, an argument or a setting is wrong
	StatusPartly      = 3   // done for some inputs, errors for others
	StatusRefused     = 4   // not signed in, or refused by the other side
	StatusFailed      = 5   // anything else
	StatusCorrupt     = 10  // a store or an index is missing or damaged
	StatusLocked      = 11  // a store or an index is locked by another process
	StatusVersion     = 12  // a format is too old or too new
	StatusInterrupted = 130 // ended by an interrupt
	StatusPipe        = 141 // the reader of the output went away
	StatusTerminated  = 143 // ended by a termination signal
)

// exits is the one table from codes to exit statuses.
var exits = map[Code]int{
	Usage: StatusUsage, NotFound: StatusNone, Exists: StatusFailed, Invalid: StatusFailed,
	Unsafe: StatusFailed, Auth: StatusRefused, RateLimited: StatusRefused, Network: StatusFailed,
	Locked: StatusLocked, Corrupt: StatusCorrupt, WrongVersion: StatusVersion, TooLong: StatusFailed,
	Canceled: StatusInterrupted, Internal: StatusFailed,
}

// Codes lists every code, in the order of docs/jsonl.md.
func Codes() []Code {
	return []Code{Usage, NotFound, Exists, Invalid, Unsafe, Auth, RateLimited, Network, Locked, Corrupt,
		WrongVersion, TooLong, Canceled, Internal}
}

// Exit returns the exit status of a run that ends with this code.
func (c Code) Exit() int {
	if status, ok := exits[c]; ok {
		return status
	}
	return StatusFailed
}

// UnmarshalText reads a code; one that is not in the list becomes Internal.
func (c *Code) UnmarshalText(text []byte) error {
	*c = Code(text)
	if _, ok := exits[*c]; !ok {
		*c = Internal
	}
	return nil
}

// Status is a row of the table of exit statuses.
type Status struct {
	Exit    int
	Meaning string
}

// Statuses returns the suite's table of exit statuses, which stands in each command's help and manual page.
func Statuses() []Status {
	return []Status{
		{StatusOK, "done; for a search at least one hit"},
		{StatusNone, "ran well, the answer is none: no hit, nothing to change, not found"},
		{StatusUsage, "usage: a flag, an argument or a setting is wrong"},
		{StatusPartly, "partly done: some inputs got error records"},
		{StatusRefused, "not signed in, or refused by the other side"},
		{StatusFailed, "failed: anything else"},
		{StatusCorrupt, "a store or an index is missing or damaged"},
		{StatusLocked, "a store or an index is locked by another process"},
		{StatusVersion, "a format is too old or too new"},
		{StatusInterrupted, "ended by an interrupt"},
		{StatusPipe, "the reader of the output went away"},
		{StatusTerminated, "ended by a termination signal"},
	}
}
