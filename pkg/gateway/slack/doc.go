// Package slack is the chat channel of Slack, by Socket Mode: no public address is needed.
//
// It owns the platform's formats: envelopes and their acknowledgement, events, marks, files and reactions. In
// channels each message begins a thread, and with it a conversation of its own; in direct chats answers are
// not threaded. The platform has no idempotency keys.
package slack
