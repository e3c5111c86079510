// Package llmtest is a chat model that plays scripts over real HTTP.
//
// It speaks the wire format of OpenAI's chat completions, streamed and at once, checks what it is sent, and
// can do what real endpoints do wrong: refuse, wait, break off, leave fields out. A script is a Go value or a
// JSON file; docs/models.md shows one. A request belongs to the first conversation whose marker stands in one
// of its user messages, and gets that conversation's next step; without a conversation the first rule that
// fits answers, by what is in the request alone, so that any number of equal tasks can run at once.
//
// It is for tests and measurements only. A server is safe for concurrent use.
package llmtest
