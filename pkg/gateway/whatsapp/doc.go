// Package whatsapp is the chat channel of WhatsApp by the Business Cloud API: a webhook in, requests out.
//
// It owns the platform's formats: the proof of the webhook and its signatures, messages, media, the way from
// Markdown to WhatsApp's marks. Chats are between two; the platform has no idempotency keys.
package whatsapp
