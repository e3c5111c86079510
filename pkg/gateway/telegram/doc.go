// Package telegram is the chat channel of Telegram bots, by long polling: no public address is needed.
//
// It owns the formats of the Bot API, and the way from Markdown to the HTML that Telegram shows. A message is
// acknowledged by asking for the ones after it. The platform has no idempotency keys.
package telegram
