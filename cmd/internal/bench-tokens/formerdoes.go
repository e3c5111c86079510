package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// formerTools are the tools that the Python system offers by itself, with where they come from before their descriptions, as it sends them. What
// they have to say is said here in few words.
const formerTools = `[{"type":"function","function":{"name":"shell_agent","description":"[Shell] Give it a goal in words: it writes and runs code until the goal is reached, and repairs errors. Use it when a step needs reasoning.","parameters":{"type":"object","properties":{"task":{"type":"string"},"timeout":{"type":"integer","default":300}},"required":["task"]}}},` +
	`{"type":"function","function":{"name":"read_file","description":"[Shell] Read the whole text of one file, such as a resource of a skill or a configuration.","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}},` +
	`{"type":"function","function":{"name":"write_file","description":"[Shell] Write text to a file. Missing folders are made, a file that is there is overwritten.","parameters":{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}}},` +
	`{"type":"function","function":{"name":"list_dir","description":"[Shell] List a folder with names, sizes and dates.","parameters":{"type":"object","properties":{"path":{"type":"string","default":"."}},"required":[]}}},` +
	`{"type":"function","function":{"name":"run_shell","description":"[Shell] Run exactly this shell command and get its raw output. Nothing is tried again; use shell_agent when reasoning is needed.","parameters":{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer","default":30}},"required":["command"]}}},` +
	`{"type":"function","function":{"name":"retrieve_skill","description":"[System] Find a skill for what you are stuck with, by a short description.","parameters":{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}}}]`

// formerDoes runs a call as the tools of the Python system do, in a workspace of its own, and returns what its model reads: the whole output, without
// an exit status, and of a command that failed nothing but that it did.
func formerDoes(dir string, c llmtest.Call) string {
	var args struct{ Command, Path, Content string }
	if json.Unmarshal(c.Arguments, &args) != nil {
		return "[ERROR] unknown error"
	}
	switch c.Name {
	case "run_shell":
		return formerShell(dir, args.Command)
	case "read_file":
		return formerShell(dir, `cat -- "`+args.Path+`"`)
	case "write_file":
		if put(filepath.Join(dir, args.Path), args.Content) != nil {
			return "[ERROR] unknown error"
		}
		return fmt.Sprintf("Wrote %d characters to %s", len(args.Content), args.Path)
	}
	return "[ERROR] Tool not found: " + c.Name
}

func formerShell(dir, command string) string {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if cmd.Run() != nil {
		return "[ERROR] unknown error"
	}
	text := stdout.String()
	if text == "" {
		text = "Code executed successfully (no output)"
	}
	if stderr.Len() > 0 {
		text += "\n[STDERR]\n" + stderr.String()
	}
	return text
}
