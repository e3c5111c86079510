package tools

// FileName is for tests.
var FileName = fileName
