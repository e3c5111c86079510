// Package llm talks to chat models at OpenAI-compatible endpoints.
//
// It owns what is sent to a model and what is made of its answer: streaming, tool calls, retries, limits, usage
// and cost, what providers want differently, and recording and replaying of whole conversations. It knows
// nothing of tasks, tools or skills, and not where keys come from (package settings). docs/models.md and
// docs/format-replay.md describe it.
//
// Promises: models are safe for concurrent use; nothing of an answer that broke off is returned; every tool
// call has an id of its own and arguments that are one JSON object, or says what is wrong with them; equal
// messages are sent as equal bytes; a key goes to the one address that was given and stands in no error.
package llm
