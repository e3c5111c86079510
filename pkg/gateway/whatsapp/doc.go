// Package whatsapp is the chat channel of WhatsApp by the Business Cloud API: a webhook in, requests out. The section of
// the config file is for both transports; the other one, the account of a phone, is package linked.
//
// It owns the platform's formats: the proof of the webhook and its signatures, messages, media, the way from
// Markdown to WhatsApp's marks. Chats are between two; the platform has no idempotency keys.
package whatsapp
