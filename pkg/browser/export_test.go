package browser

// NextMessage is for tests.
var NextMessage = nextMessage
