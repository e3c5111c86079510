// Package tools is what an agent can do: run commands, read and write files, look at the web, find skills.
//
// It owns the tools, how they are named and checked, and what a model reads of their results. What a command may do
// is decided in package policy and enforced in package sandbox.
package tools
