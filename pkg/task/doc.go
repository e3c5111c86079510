// Package task does one task from its text to its result: it finds skills, lets a model choose among them, runs the agent in a workspace, records
// what happens and says what came of it.
//
// It owns the order of these steps, the choice of skills and how their texts are shown, the workspace and what changed in it, the budget that the
// phases share, and the records that a caller sees. It does not own the loop (package agent), the tools, the search or the registry: skills are
// found and imported by running openspace-search and openspace-download-skill.
//
// Promises: a task always ends in one result, also when it failed, was canceled or panicked; no file of the user's is removed by it; tasks that run
// side by side share the search process and nothing else; what cannot be had (a search, a registry, a recording) makes a warning and not a failure.
package task
