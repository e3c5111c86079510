// Package feishu is the chat channel of Feishu and Lark: by a webhook, or by a long connection that needs no
// public address.
//
// It owns the platform's formats: events, encryption and signatures, the frames of the long connection,
// tokens, messages, files and reactions. Nothing that is not proven to come from the platform reaches the
// gateway. Messages are sent with an idempotency key.
package feishu
