/*
Package pkg is the map of the suite's packages. Nothing is here but the map.

Arrows go down only: a package may import those of lower levels that its row names, and a test
(layers_test.go) says so.

	level 0  jsonl       lines in and out: cap, line numbers, flush rule
	         atomicfile  crash-safe replacement of files, advisory locks
	         lifeline    how a process knows that the one which started it is gone
	         ignore      ignore files: what a .gitignore leaves out
	         skill       the SKILL.md format: reading, editing, validation, which files belong to a skill  ← ignore
	                     (skilltest: the real skills of the test data)
	         lexical     words, stems and the arithmetic of BM25F
	         vec         unit vectors in a mapped file, the nearest of them
	         patch       edits as text: whole files, blocks, hunks; read and applied in memory
	level 1  api         what a registry and its clients agree on       ← skill
	         journal     checksummed lines in segment files             ← atomicfile
	         wire        record types, error codes, exit statuses      ← skill
	         settings    where each setting comes from, its files, masking
	         safety      what is dangerous in a skill's text            ← skill, atomicfile
	         similar     how much of one skill's text is in another    ← skill
	         store       journals, versions, counters                   ← skill, atomicfile, jsonl
	         roots       skill roots: which folders are skills          ← skill
	         embed       vectors for texts: built-in model, cache        ← lexical, vec, atomicfile
	                     (openai: an endpoint, apart because it links the network)
	                     (embedtest: what every embedder must fulfil)
	         index       the search index on disk                       ← lexical, atomicfile, roots, skill, vec
	         cloud       the HTTP client of a skill registry            ← api, skill, wire
	         llm         chat models at OpenAI-compatible endpoints, recording and replay  ← jsonl
	         recording   what happened in a task, as files              ← jsonl, atomicfile
	                     (llmtest: a scripted model over HTTP)
	         policy      what a model may do: commands, files, addresses
	         sandbox     commands that can change only what they were given
	         browser     an installed Chromium, and the proxy that is its only way out
	         scratch     folders for temporary files, found again after a kill
	         toolsearch  which of many tools a task may need              ← lexical, embed
	level 2  review      prepared changes of skills: pins, proposals, putting in place  ← store, skill, wire, atomicfile
	         search      candidates to one ranked list  ← lexical, skill, store, roots, index, embed, safety, wire
	         registry    the server of a skill community ← api, journal, skill, index, lexical, safety, atomicfile, jsonl
	         pipe        other commands of the suite as children: lines in, records out  ← jsonl, lifeline, wire
	         transfer    skill folder, archive, registry ← skill, store, safety, cloud, api, wire, atomicfile
	         tools       what an agent can do: shell, files, web, skills  ← browser, policy, sandbox, scratch, wire, atomicfile, ignore
	         mcpclient   tools of the user's MCP servers                 ← tools, wire, atomicfile
	         agent       the loop in which a model works with tools      ← llm, tools, recording, wire
	         hosts       host agents set up for the suite ← settings, atomicfile
	         evolve      what runs teach: analysis, changes of skills, what starts them  ← llm, review, patch, similar, store, skill, safety, wire, atomicfile, recording, sandbox, scratch
	         task        one task from text to result: skills, workspace, phases  ← agent, embed, llm, mcpclient, pipe, policy, recording,
	                                                                     safety, sandbox, skill, store, tools, toolsearch, wire
	level 3  mcpserver   the suite's tools over the Model Context Protocol  ← pipe, wire, settings, jsonl
	         gateway     chat: message in, task, answer out  ← atomicfile, journal, jsonl, pipe, settings, wire
	                     (feishu, slack, telegram, whatsapp: one platform each)
	                     (whatsapp/linked, whatsapp/web: the account of a phone, and the way to its servers)
	                     (rest: what channels over HTTP share)
	                     (gatewaytest: what every channel must do)
	         cli         the process boundary of all commands           ← jsonl, lifeline, wire, settings

Commands stand in cmd/<name> and may import cli and everything below it.
*/
package pkg
