// Package agent is the loop in which a model works on a task with tools.
//
// It owns the prompt, the conversation and how it is kept inside the model's window, the order in which calls run, the
// budget, and the decision that a task is over. It does not choose skills, open models or make tools: it is given them.
//
// Guarantees:
//
//   - what was sent stays as it is: a request begins with the messages of the one before, so that providers can keep
//     their caches, until a compaction, which is rare and makes much room at once;
//   - no request has a result without its call or a call without its result;
//   - the task and the skills are in every request, word for word;
//   - a task is done because the model answered or said so with a tool, never because of a word in a tool's output;
//   - the budget is looked at before every call of the model, and a run that comes near its end is asked for its answer;
//   - however a run ends, the outcome has what was done and what it took.
//
// docs/agent.md describes the same for people.
package agent
