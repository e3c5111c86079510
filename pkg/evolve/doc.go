/*
Package evolve lets skills learn from runs: it analyses a run, and repairs, derives and captures skills.

It owns the questions to the model and how its answers are read, what a change has to pass before it counts, what starts a change by itself and
what holds it back, and the taking back of a version that does worse. It does not own the grammar of edits (package patch), the putting in place
(review), versions and counters (store), or the run itself.

Guarantees:

  - A skill folder is touched only by one commit of the store, after all checks; an error at any point before leaves it byte for byte.
  - A pinned skill is never changed, and two changes of one folder at once end with one of them locked or stale.
  - No change gives a skill rights on the machine of whoever loads it: permissions, hooks, commands that run on loading.
  - Text of skills, runs and tools reaches the model fenced and labelled; the only tool it gets reads files, of this skill or this recording.
  - What is remembered stands in the store, so that short-lived processes share it. Every try is journaled, with what it took.

An Engine may be used by several goroutines. docs/evolution.md describes all of it for people.
*/
package evolve
