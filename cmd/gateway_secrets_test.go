package cmd_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/gateway/feishu/feishutest"
)

// secretsOfChat are planted: in variables, in the config file of the gateway, in that of the suite.
var secretsOfChat = map[string]string{
	"app secret in a variable": feishutest.AppSecret,
	"token in a variable":      feishutest.Token,
	"key in the config file":   "encrypt-key-4711-of-the-test",
	"token of another channel": "9911:telegram-token-4711-of-the-test",
	"key of the model":         "model-key-4711-of-the-test",
	"some other token":         "some-other-token-4711-of-the-test",
}

// CG-10 and more: whoever gets a task, its model or the platform to say the secrets of the gateway finds none
// of them in the chat, and none is in any file that the gateway and its tasks leave, nor in what they write to stderr.
func TestGatewayKeepsSecrets(t *testing.T) {
	for _, sandbox := range []string{"best-effort", "off"} {
		t.Run("sandbox "+sandbox, func(t *testing.T) { keepsSecrets(t, sandbox) })
	}
}

func keepsSecrets(t *testing.T, sandbox string) {
	all := ""
	for _, s := range secretsOfChat {
		all += s + " "
	}
	quoted, _ := json.Marshal("I know: " + all)
	g := newGatewayProcess(t, `{"conversations": [
		{"match": "tell me all", "steps": [
			{"expect": {"lacks": ["of-the-test"]}, "reply": {"tool_calls": [
				{"name": "run_shell", "arguments": {"command": "env; echo seen"}},
				{"name": "run_shell", "arguments": {"command": "e=environ; tr '\\0' ' ' <\"/proc/$PPID/$e\"; f=gateway; cat $(printf %s ../../../../../$f.json)"}},
				{"name": "run_shell", "arguments": {"command": "cat ../../../../../gateway.json ../../../../../.config/openspace/config.json"}},
				{"name": "write_file", "arguments": {"path": "own.txt", "content": "nothing"}}]}},
			{"expect": {"contains": ["seen"], "lacks": ["of-the-test"]}, "reply": {"text": `+string(quoted)+`}}]},
		{"match": "refuse me", "steps": [{"fault": {"status": 422, "body": `+bodyOf(all)+`}}]},
		{"match": "", "repeat": true, "steps": [{"reply": {"text": "{}"}}]}]}`)
	var said bytes.Buffer
	g.stderr = &said
	g.env = []string{
		"OPENSPACE_LLM_API_KEY=", "SOME_API_TOKEN=" + secretsOfChat["some other token"], "OPENSPACE_HOME=" + filepath.Join(g.dir, "home"),
		"OPENSPACE_COMMUNICATION_CONFIG=" + filepath.Join(g.dir, "gateway.json"),
	}
	g.level = "debug"
	plant(t, filepath.Join(g.dir, "gateway.json"), `{"agent": {"execute_args": ["--learn=off", "--sandbox=`+sandbox+`"]}, "feishu": {"encrypt_key": "`+secretsOfChat["key in the config file"]+`"}, "telegram": {"bot_token": "`+secretsOfChat["token of another channel"]+`"}}`)
	plant(t, filepath.Join(g.dir, ".config", "openspace", "config.json"), `{"llm_api_key": "`+secretsOfChat["key of the model"]+`"}`)
	g.feishu.EncryptKey = secretsOfChat["key in the config file"]
	g.start()
	g.say("c1", "tell me all: "+all)
	g.say("c2", "refuse me")
	waitFor(t, "two answers", func() bool { return len(g.feishu.Shown()) >= 2 })
	g.process.Process.Signal(os.Interrupt)
	g.process.Wait() // its status is that of an interrupt

	known := 0
	for _, s := range g.feishu.Shown() {
		leaks(t, "the chat", s.Text+string(s.Data))
		known += strings.Count(s.Text, "I know: "+strings.Repeat("[secret] ", len(secretsOfChat)-1)+"[secret]")
	}
	if known != 1 {
		t.Errorf("got %+v, want one answer with stars for everything", g.feishu.Shown())
	}
	leaks(t, "stderr", said.String())
	files := 0
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if rel, _ := filepath.Rel(g.dir, path); rel == "gateway.json" || strings.HasPrefix(rel, ".config") {
			return nil // where they were planted
		}
		data, err := os.ReadFile(path)
		files++
		leaks(t, path, string(data))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"journal/000001.jsonl", "transcript.jsonl", "conversations.jsonl"} {
		if !found(g.dir, want) {
			t.Errorf("there is no %s: the test looks at the wrong place", want)
		}
	}
	if files < 8 || said.Len() == 0 {
		t.Errorf("got %d files and %d bytes on stderr: the test looks at the wrong place", files, said.Len())
	}
}

// bodyOf is an error of a model's endpoint, as a JSON string.
func bodyOf(message string) string {
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": "invalid: " + message, "type": "invalid_request_error"}})
	quoted, _ := json.Marshal(string(body))
	return string(quoted)
}

func plant(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// leaks tells which secrets stand in a text.
func leaks(t *testing.T, where, text string) {
	t.Helper()
	for name, s := range secretsOfChat {
		if i := strings.Index(text, s); i >= 0 {
			t.Errorf("%s has the %s: …%s…", where, name, text[max(i-150, 0):min(i+len(s)+40, len(text))])
		}
	}
}

// found reports whether there is a file whose path ends so.
func found(root, end string) (yes bool) {
	filepath.WalkDir(root, func(path string, _ fs.DirEntry, _ error) error {
		yes = yes || strings.HasSuffix(filepath.ToSlash(path), end)
		return nil
	})
	return yes
}
