package openai

// Decode reads an answer.
var Decode = decode
