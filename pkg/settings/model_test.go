package settings_test

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// account is an account in one line: provider, name, address and key.
func account(a settings.ModelAccount) string {
	return strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s", a.Provider, a.Name, a.Base.Value, a.Key.Value)), " ")
}

const (
	nanobotFile = "~/.nanobot/config.json"
	openrouter  = "https://openrouter.ai/api/v1"
)

// nanobotText is a configuration with these providers and defaults.
func nanobotText(providers, defaults string) string {
	return `{"providers":{` + providers + `},"agents":{"defaults":{` + defaults + `}}}`
}

// The three tiers, and what none of them may mix up.
func TestModelTiers(t *testing.T) {
	or := "OPENROUTER_API_KEY=or"
	for _, tt := range []struct{ name, model, environ, dotenv, nanobot, want string }{
		{"own, for the default", "", "OPENSPACE_LLM_API_KEY=k", "", "", "openrouter anthropic/claude-sonnet-4.5 " + openrouter + " k"},
		{"own, by the model", "anthropic/claude-x", "OPENSPACE_LLM_API_KEY=k", "", "", "anthropic claude-x https://api.anthropic.com/v1 k"},
		{"own key and address", "my-model", "OPENSPACE_LLM_API_KEY=k OPENSPACE_LLM_API_BASE=https://h/v1/", "", "", "my-model https://h/v1 k"},
		{"own address, no key", "openai/my-model", "OPENSPACE_LLM_API_BASE=http://10.0.0.2:8000/v1", "", "", "my-model http://10.0.0.2:8000/v1"},
		{"a name that begins so", "openai/openai/gpt-oss", "OPENSPACE_LLM_API_BASE=http://h/v1", "", "", "openai/gpt-oss http://h/v1"},
		{"a name with a slash", "Qwen/Qwen3", "OPENSPACE_LLM_API_BASE=http://h/v1", "", "", "Qwen/Qwen3 http://h/v1"},
		{"own address of a provider, its key", "openrouter/x/y", "OPENSPACE_LLM_API_BASE=" + openrouter + " " + or, "", "", "openrouter x/y " + openrouter + " or"},
		{"own address, a key of another", "gpt-5", "OPENSPACE_LLM_API_BASE=https://h/v1 OPENAI_API_KEY=o", "", "", "gpt-5 https://h/v1"},
		{"native", "", or, "", "", "openrouter anthropic/claude-sonnet-4.5 " + openrouter + " or"},
		{"native, other name", "openrouter/x", "OR_API_KEY=or", "", "", "openrouter x " + openrouter + " or"},
		{"native, by prefix", "anthropic/claude-x", or + " ANTHROPIC_API_KEY=a", "", "", "anthropic claude-x https://api.anthropic.com/v1 a"},
		{"native, by word", "claude-x", or + " ANTHROPIC_API_KEY=a", "", "", "anthropic claude-x https://api.anthropic.com/v1 a"},
		{"native, of .env", "gemini/g", "", "GOOGLE_API_KEY=g", "", "gemini g https://generativelanguage.googleapis.com/v1beta/openai g"},
		{"native, own address", "openai/gpt-5", "OPENAI_API_KEY=o OPENAI_BASE_URL=https://proxy/v1", "", "", "openai gpt-5 https://proxy/v1 o"},
		{"native wins over a host", "deepseek/d", "DEEPSEEK_API_KEY=env", "", nanobotText(`"deepseek":{"apiKey":"nb"}`, ""), "deepseek d https://api.deepseek.com/v1 env"},
		{"only another provider's key", "", "ANTHROPIC_API_KEY=a", "", "", "anthropic claude-sonnet-4-5 https://api.anthropic.com/v1 a"},
		{"host", "", "", "", nanobotText(`"deepseek":{"apiKey":"nb"}`, `"model":"deepseek/chat"`), "deepseek chat https://api.deepseek.com/v1 nb"},
		{"host before a key of another", "", "ANTHROPIC_API_KEY=a", "", nanobotText(`"deepseek":{"apiKey":"nb"}`, `"model":"deepseek/chat"`), "deepseek chat https://api.deepseek.com/v1 nb"},
		{"host, forced gateway", "", "", "", nanobotText(`"openrouter":{"apiKey":"nb"}`, `"model":"anthropic/claude-x","provider":"openrouter"`), "openrouter anthropic/claude-x " + openrouter + " nb"},
		{"host, matched gateway", "anthropic/claude-x", "", "", nanobotText(`"openrouter":{"apiKey":"nb"}`, ""), "openrouter anthropic/claude-x " + openrouter + " nb"},
		{"host, unknown provider", "mine/m", "", "", nanobotText(`"mine":{"apiKey":"nb","apiBase":"https://mine/v1"}`, ""), "mine m https://mine/v1 nb"},
		{"host, no model", "", "", "", nanobotText(`"openai":{"apiKey":"nb"}`, `"provider":"openai"`), "openai gpt-5 https://api.openai.com/v1 nb"},
		{"B34: ollama is no gateway's", "ollama/llama3", or, "", nanobotText(`"openrouter":{"apiKey":"nb"}`, `"provider":"openrouter"`), "ollama llama3 http://127.0.0.1:11434"},
		{"ollama elsewhere", "ollama/llama3", "OLLAMA_API_BASE=http://gpu:11434/ OPENSPACE_LLM_API_KEY=k", "", "", "ollama llama3 http://gpu:11434"},
		{"ollama with a key", "ollama/llama3", "OLLAMA_API_KEY=ok", "", "", "ollama llama3 http://127.0.0.1:11434 ok"},
		{"ollama, own address", "ollama/llama3", "OPENSPACE_LLM_API_BASE=https://o/v1 OPENSPACE_LLM_API_KEY=k", "", "", "ollama llama3 https://o/v1 k"},
		{"B34: spark is not ark", "spark-7b", "VOLCENGINE_API_KEY=v OPENSPACE_LLM_API_BASE=http://127.0.0.1:1", "", "", "spark-7b http://127.0.0.1:1"},
		{"minimax", "minimax/MiniMax-M2", "MINIMAX_API_KEY=m", "", "", "minimax MiniMax-M2 https://api.minimaxi.com/v1 m"},
		{"model of the environment", "", "OPENSPACE_MODEL=groq/llama GROQ_API_KEY=q", "", "", "groq llama https://api.groq.com/openai/v1 q"},
		{"configuration", "m", `OPENSPACE_LLM_CONFIG={"api_base":"https://h/v1","api_key":"c","temperature":0}`, "", "", "m https://h/v1 c"},
		{".env has both", "m", "", "OPENSPACE_LLM_API_BASE=https://h/v1\nOPENSPACE_LLM_API_KEY=k", "", "m https://h/v1 k"},
		{".env has an address of this machine", "m", "OPENSPACE_LLM_API_KEY=k", "OPENSPACE_LLM_API_BASE=http://127.0.0.1:9/v1", "", "m http://127.0.0.1:9/v1 k"},
		{".env has the provider's own address", "openrouter/x", or, "OPENSPACE_LLM_API_BASE=" + openrouter, "", "openrouter x " + openrouter + " or"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.dotenv(t, tt.dotenv)
			if tt.nanobot != "" {
				p.put(t, nanobotFile, tt.nanobot)
			}
			a, err := p.settings(strings.Fields(tt.environ)...).Model(tt.model)
			if err != nil || account(a) != tt.want {
				t.Errorf("got %q, %v, want %q", account(a), err, tt.want)
			}
		})
	}
}

// What is wrong is said with what to set, and no secret is said.
func TestModelErrors(t *testing.T) {
	for _, tt := range []struct{ name, model, environ, dotenv, nanobot, words string }{
		{"nothing", "", "", "", "", `no key for model "openrouter/anthropic/claude-sonnet-4.5": set OPENROUTER_API_KEY or OR_API_KEY, or OPENSPACE_LLM_API_KEY`},
		{"no key of this provider", "anthropic/x", "OPENROUTER_API_KEY=hush", "", "", "ANTHROPIC_API_KEY, or OPENSPACE_LLM_API_KEY; or --model openrouter/anthropic/x, which OPENROUTER_API_KEY is for"},
		{"unknown model", "my-model", "", "", "", "set OPENSPACE_LLM_API_BASE"},
		{"unknown model, own key", "my-model", "OPENSPACE_LLM_API_KEY=hush", "", "", "set OPENSPACE_LLM_API_BASE"},
		{"address without a model", "", "OPENSPACE_LLM_API_BASE=http://h/v1", "", "", "no model is named"},
		{"a folder directs a key", "m", "OPENSPACE_LLM_API_KEY=hush", "OPENSPACE_LLM_API_BASE=https://evil/v1", "", "the model endpoint of .env would get the key of OPENSPACE_LLM_API_KEY"},
		{"a folder directs a provider's key", "openai/gpt-5", "OPENAI_API_KEY=hush", "OPENAI_BASE_URL=https://evil/v1", "", "would get the key of OPENAI_API_KEY"},
		{"a folder directs a key by its configuration", "m", "OPENSPACE_LLM_API_KEY=hush", `OPENSPACE_LLM_CONFIG='{"api_base":"https://evil/v1"}'`, "", "would get the key"},
		{"a folder directs headers", "m", `OPENSPACE_LLM_EXTRA_HEADERS={"Authorization":"hush"}`, "OPENSPACE_LLM_API_BASE=https://evil/v1", "", "would get the headers of OPENSPACE_LLM_EXTRA_HEADERS"},
		{"headers are no object", "m", "OPENSPACE_LLM_EXTRA_HEADERS=hush", "", "", "OPENSPACE_LLM_EXTRA_HEADERS: want a JSON object"},
		{"a timeout that is none", "m", `OPENSPACE_LLM_CONFIG={"timeout":0}`, "", "", "timeout: want a number of seconds"},
		{"configuration is no object", "m", "OPENSPACE_LLM_CONFIG=[hush", "", "", "OPENSPACE_LLM_CONFIG: want a JSON object"},
		{"a header is no text", "m", `OPENSPACE_LLM_EXTRA_HEADERS={"A":["hush"]}`, "", "", `header "A"`},
		{"host without an address", "mine/m", "", "", nanobotText(`"mine":{"apiKey":"hush"}`, ""), `provider "mine"`},
		{"a host's forced provider without a key", "gpt-5", "", "", nanobotText(`"openai":{"apiKey":"hush"}`, `"provider":"openrouter"`), "OPENAI_API_KEY"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.dotenv(t, tt.dotenv)
			if tt.nanobot != "" {
				p.put(t, nanobotFile, tt.nanobot)
			}
			a, err := p.settings(strings.Fields(tt.environ)...).Model(tt.model)
			if err == nil || !strings.Contains(err.Error(), tt.words) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got %q, %v, want %q", account(a), err, tt.words)
			}
		})
	}
}

// Where each part comes from is told.
func TestModelProvenance(t *testing.T) {
	p := newPlace(t)
	p.write(t, p.configFile(), `{"model":"deepseek/d","llm_config":"{\"temperature\":0.5,\"timeout\":1.5,\"num_retries\":3,\"extra_headers\":{\"X-A\":\"s1\",\"n\":1}}"}`)
	a, err := p.settings("DEEPSEEK_API_KEY=k").Model("")
	if err != nil {
		t.Fatal(err)
	}
	if a.Model.Source != settings.Config || a.Key.Where != "DEEPSEEK_API_KEY" || a.Base.Source != settings.Default || a.Headers["X-A"] != "s1" || a.Headers["n"] != "1" {
		t.Errorf("got %+v", a)
	}
	if len(a.Config) != 1 || a.Config["temperature"] != 0.5 || a.Timeout != 1500*time.Millisecond || len(a.Notes()) != 1 || !strings.Contains(a.Notes()[0], "num_retries") {
		t.Errorf("got %v, %s, notes %q", a.Config, a.Timeout, a.Notes())
	}
	if got := a.Secrets(); !slices.Equal(got, []string{"1", "k", "s1"}) {
		t.Errorf("got %q", got)
	}
	if settings.Masked("llm_config", "x") == "x" || settings.Masked("OPENSPACE_LLM_EXTRA_HEADERS", "x") == "x" {
		t.Error("headers and the configuration are shown")
	}
	a, err = p.settings("OPENSPACE_LLM_API_KEY=k", "OPENSPACE_LLM_API_BASE=http://u:pw@10.0.0.2/v1").Model("m")
	if n := strings.Join(a.Notes(), "\n"); err != nil || !strings.Contains(n, "is not encrypted") || strings.Contains(n, "pw") {
		t.Errorf("got %v, notes %q", err, n)
	}
	a, err = p.settings("OPENSPACE_LLM_API_KEY=k", "OPENSPACE_MODEL=e").Model("openrouter/f")
	if err != nil || a.Model.Source != settings.Flag || a.Name != "f" {
		t.Errorf("got %+v, %v", a, err)
	}
}

// A key of a provider does not go to an address that a host sets for the suite without a key.
func TestModelHostAddressWithoutKey(t *testing.T) {
	p := newPlace(t)
	p.put(t, "~/.openclaw/openclaw.json", `{env:{vars:{ANTHROPIC_API_KEY:"hush",OPENSPACE_LLM_API_BASE:"https://vllm.lan/v1"}}}`)
	a, err := p.settings().Model("anthropic/claude-x")
	if err != nil || a.Key.Value != "" || a.Base.Value != "https://vllm.lan/v1" || len(a.Notes()) == 0 || !strings.Contains(a.Notes()[0], "is not sent") {
		t.Errorf("got %q, %v, notes %q", account(a), err, a.Notes())
	}
}

// FuzzModel holds that no setting makes it panic, and that a key of the environment goes to no address of the
// folder.
func FuzzModel(f *testing.F) {
	f.Add("openrouter/x", "https://evil/v1", `{"api_base":"https://evil"}`, `{"A":"b"}`)
	f.Add("ollama/x", "http://127.0.0.1", `{`, "null")
	f.Add("", "", `{"extra_headers":{"a":null},"model":7}`, `[]`)
	f.Fuzz(func(t *testing.T, model, base, config, headers string) {
		p := newPlace(t)
		quote := func(s string) string { return "'" + strings.NewReplacer("'", "", "\n", "").Replace(s) + "'" }
		p.dotenv(t, "OPENSPACE_LLM_API_BASE="+quote(base)+"\nOPENSPACE_LLM_CONFIG="+quote(config)+"\nOPENAI_BASE_URL="+quote(base)+"\n")
		env := []string{"OPENSPACE_LLM_API_KEY=mine", "OPENAI_API_KEY=mine", "OPENSPACE_LLM_EXTRA_HEADERS=" + headers}
		a, err := p.settings(env...).Model(model)
		if err != nil || !a.Base.Project || a.Key.Value != "mine" {
			return
		}
		u, bad := url.Parse(a.Base.Value)
		if bad != nil {
			t.Fatalf("the key goes to %q: %v", a.Base.Value, bad)
		}
		if ip, bad := netip.ParseAddr(u.Hostname()); !strings.EqualFold(u.Hostname(), "localhost") && (bad != nil || !ip.IsLoopback()) {
			t.Errorf("the key goes to %q", a.Base.Value)
		}
	})
}
