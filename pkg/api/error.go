package api

// ErrorCode says what a registry refuses and why. The list is closed for our server; other servers may say anything.
type ErrorCode string

// The error codes and the status each goes with.
const (
	ErrBadRequest    ErrorCode = "bad_request"                    // 400: cannot be read
	ErrUnauthorized  ErrorCode = "unauthorized"                   // 401: no key, or one that is not known
	ErrForbidden     ErrorCode = "forbidden"                      // 403: the key may not do this
	ErrNotFound      ErrorCode = "not_found"                      // 404: not there, or not for this key
	ErrMethod        ErrorCode = "method_not_allowed"             // 405
	ErrTimeout       ErrorCode = "timeout"                        // 408: the request took too long to arrive
	ErrIDTaken       ErrorCode = "record_id_fingerprint_conflict" // 409: the id is taken by other content
	ErrContentExists ErrorCode = "fingerprint_record_id_conflict" // 409: the content is there under another id
	ErrChanged       ErrorCode = "precondition_failed"            // 412: If-Match names another state
	ErrTooLarge      ErrorCode = "too_large"                      // 413: over a limit on size or number
	ErrMediaType     ErrorCode = "unsupported_media_type"         // 415
	ErrRange         ErrorCode = "range_not_satisfiable"          // 416: Range asks for what the archive does not have
	ErrInvalid       ErrorCode = "invalid"                        // 422: read, and against a rule
	ErrUnsafe        ErrorCode = "unsafe"                         // 422: a safety rule refuses it
	ErrSignature     ErrorCode = "bad_signature"                  // 422: the signature does not fit
	ErrRateLimited   ErrorCode = "rate_limited"                   // 429, with Retry-After
	ErrInternal      ErrorCode = "internal"                       // 500
	ErrUnavailable   ErrorCode = "unavailable"                    // 503: stopping, or the disk is full; with Retry-After
)

// statuses is the one table from codes to HTTP statuses.
var statuses = map[ErrorCode]int{
	ErrBadRequest: 400, ErrUnauthorized: 401, ErrForbidden: 403, ErrNotFound: 404, ErrMethod: 405, ErrTimeout: 408,
	ErrIDTaken: 409, ErrContentExists: 409, ErrChanged: 412, ErrTooLarge: 413, ErrMediaType: 415, ErrRange: 416, ErrInvalid: 422,
	ErrUnsafe: 422, ErrSignature: 422, ErrRateLimited: 429, ErrInternal: 500, ErrUnavailable: 503,
}

// Codes lists every error code, in the order of docs/registry-api.md.
func Codes() []ErrorCode {
	return []ErrorCode{ErrBadRequest, ErrUnauthorized, ErrForbidden, ErrNotFound, ErrMethod, ErrTimeout, ErrIDTaken, ErrContentExists,
		ErrChanged, ErrTooLarge, ErrMediaType, ErrRange, ErrInvalid, ErrUnsafe, ErrSignature, ErrRateLimited, ErrInternal, ErrUnavailable}
}

// Status returns the HTTP status of a code, 500 for an unknown one.
func (c ErrorCode) Status() int {
	if s, ok := statuses[c]; ok {
		return s
	}
	return 500
}

// Error is the body of every answer that is not a success.
type Error struct {
	Code             ErrorCode `json:"error"`
	Message          string    `json:"message"`
	RequestID        string    `json:"request_id,omitempty"`
	ExistingRecordID string    `json:"existing_record_id,omitempty"` // of fingerprint_record_id_conflict
	Findings         []Finding `json:"findings,omitempty"`           // of unsafe
	Path             string    `json:"path,omitempty"`               // the file that it is about
}

func (e *Error) Error() string { return e.Message }

// Finding is what a safety rule found in an uploaded file.
type Finding struct {
	Rule     string `json:"rule"`
	Severity string `json:"severity"`
	Path     string `json:"path"`
	Line     int    `json:"line,omitempty"`
	Message  string `json:"message"`
}
