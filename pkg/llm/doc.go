// Package llm talks to chat models at OpenAI-compatible endpoints.
//
// It owns what is sent to a model and what is made of its answer: streaming, tool calls, retries, limits,
// usage and cost, what providers want differently, and recording and replaying of whole conversations. It
// knows nothing of tasks, tools or skills.
package llm
