package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openspace-dev/openspace/pkg/settings"
)

// put writes a file below the home (~/…) or the working directory.
func (p place) put(t *testing.T, path, text string) string {
	t.Helper()
	full := filepath.Join(p.dir, path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		full = filepath.Join(p.home, rest)
	}
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	p.write(t, full, text)
	return full
}

// Every place of docs/settings.md where a host may have the key.
func TestHostPlaces(t *testing.T) {
	const servers = `{"mcpServers": {"openspace": {"command": "openspace-mcp", "env": {"OPENSPACE_API_KEY": "k"}}}}`
	const claw = `{skills: {entries: {openspace: {env: {OPENSPACE_API_KEY: 'k'}}}}}`
	tests := []struct{ name, file, text, environ, where string }{
		{"nanobot", "~/.nanobot/config.json", `{"tools":` + servers + `}`, "", "nanobot ~/.nanobot/config.json tools.mcpServers.openspace.env.OPENSPACE_API_KEY"},
		{"nanobot, snake case", "~/.nanobot/config.json", `{"tools":{"mcp_servers":{"openspace":{"env":{"OPENSPACE_API_KEY":"k"}}}}}`, "", "tools.mcp_servers.openspace"},
		{"nanobot, state folder", "~/nb/config.json", `{"tools":` + servers + `}`, "NANOBOT_STATE_DIR=~/nb", "~/nb/config.json"},
		{"nanobot, config path", "~/nb.json", `{"tools":` + servers + `}`, "NANOBOT_CONFIG_PATH= ~/nb.json ", "~/nb.json"},
		{"openclaw, skill", "~/.openclaw/openclaw.json", claw, "", "openclaw ~/.openclaw/openclaw.json skills.entries.openspace.env.OPENSPACE_API_KEY"},
		{"openclaw, api key of the skill", "~/.openclaw/openclaw.json", `{skills:{entries:{openspace:{apiKey:"k"}}}}`, "", "skills.entries.openspace.apiKey"},
		{"openclaw, secret of the environment", "~/.openclaw/openclaw.json", `{skills:{entries:{openspace:{apiKey:{source:"env",provider:"default",id:"MY"}}}}}`, "MY=k", "apiKey"},
		{"openclaw, server", "~/.openclaw/openclaw.json", `{mcp:{servers:{openspace:{env:{OPENSPACE_API_KEY:"k"}}}}}`, "", "mcp.servers.openspace.env"},
		{"openclaw, vars", "~/.openclaw/openclaw.json", `{env:{vars:{OPENSPACE_API_KEY:"k"}}}`, "", "env.vars.OPENSPACE_API_KEY"},
		{"openclaw, directly under env", "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_KEY:"k"}}`, "", " env.OPENSPACE_API_KEY"},
		{"clawdbot folder", "~/.clawdbot/openclaw.json", claw, "", "~/.clawdbot/openclaw.json"},
		{"moldbot file", "~/.moldbot/moldbot.json", claw, "", "~/.moldbot/moldbot.json"},
		{"moltbot", "~/.moltbot/moltbot.json", claw, "", "~/.moltbot/moltbot.json"},
		{"clawdbot file in the openclaw folder", "~/.openclaw/clawdbot.json", claw, "", "~/.openclaw/clawdbot.json"},
		{"openclaw, state folder with ~", "~/oc/moltbot.json", claw, "OPENCLAW_STATE_DIR=~/oc", "~/oc/moltbot.json"},
		{"openclaw, config path", "~/my.json5", claw, "OPENCLAW_CONFIG_PATH=~/my.json5", "~/my.json5"},
		{"openclaw, other home", "~/other/.openclaw/openclaw.json", claw, "OPENCLAW_HOME=~/other", "~/other/.openclaw"},
		{"claude code, user", "~/.claude.json", servers, "", "claude-code ~/.claude.json mcpServers.openspace.env"},
		{"claude code, project file", ".mcp.json", servers, "", "claude-code ./.mcp.json mcpServers"},
		{"claude code, other folder", "~/cc/.claude.json", servers, "CLAUDE_CONFIG_DIR=~/cc", "~/cc/.claude.json"},
		{"claude code, settings", ".claude/settings.local.json", `{"env":{"OPENSPACE_API_KEY":"k","OTHER":"x"}}`, "", "./.claude/settings.local.json env.OPENSPACE_API_KEY"},
		{"claude code, user settings", "~/.claude/settings.json", `{"env":{"OPENSPACE_API_KEY":"k"}}`, "", "~/.claude/settings.json env"},
		{"codex", "~/.codex/config.toml", "model = \"x\"\n[mcp_servers.openspace]\ncommand = \"openspace-mcp\"\n[mcp_servers.openspace.env]\nOPENSPACE_API_KEY = 'k'\n", "", "codex ~/.codex/config.toml mcp_servers.openspace.env"},
		{"codex, inline table", "~/cx/config.toml", "mcp_servers.openspace = { env = { OPENSPACE_API_KEY = \"k\" } }\n", "CODEX_HOME=~/cx", "~/cx/config.toml"},
		{"codex, project", ".codex/config.toml", "[mcp_servers.openspace]\nenv = { OPENSPACE_API_KEY = \"k\" }\n", "", "./.codex/config.toml"},
		{"cursor", "~/.cursor/mcp.json", servers, "", "cursor ~/.cursor/mcp.json"},
		{"cursor, project", ".cursor/mcp.json", servers, "", "./.cursor/mcp.json"},
		{"vs code, project", ".vscode/mcp.json", "// mine\n" + strings.Replace(servers, "mcpServers", "servers", 1), "", "vscode ./.vscode/mcp.json servers.openspace"},
		{"vs code, user", "~/.config/Code/User/mcp.json", strings.Replace(servers, "mcpServers", "servers", 1), "", "~/.config/Code/User/mcp.json"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, tt.file, tt.text)
			s := p.settings(strings.Fields(strings.ReplaceAll(tt.environ, "= ", "="))...)
			v, ok := s.Find("api-key")
			where := strings.NewReplacer(p.home, "~", p.dir, ".").Replace(v.Where)
			if !ok || v.Value != "k" || v.Source != settings.FromHost || !strings.Contains(where, tt.where) {
				t.Errorf("got %+v (%s), %v, want one from %s; problems %v", v, where, ok, tt.where, s.HostProblems())
			}
			if v.Project != !strings.HasPrefix(tt.file, "~") {
				t.Errorf("got project %v", v.Project)
			}
			if len(s.HostProblems()) > 0 {
				t.Errorf("got problems %v", s.HostProblems())
			}
		})
	}
}

// The order of hosts, and of places inside one; nothing of one hides what another has.
func TestHostOrder(t *testing.T) {
	p := newPlace(t)
	p.put(t, "~/.nanobot/config.json", `{"tools":{"mcpServers":{"openspace":{"env":{"OPENSPACE_API_BASE":"http://nb","OPENSPACE_API_KEY":null}}}}}`)
	p.put(t, "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_KEY:"direct",vars:{OPENSPACE_API_KEY:"vars"}},mcp:{servers:{openspace:{env:{OPENSPACE_API_KEY:"server"}}}},
		skills:{entries:{openspace:{apiKey:"entry",env:{OPENSPACE_API_KEY:"skill"}}}}}`)
	p.put(t, "~/.cursor/mcp.json", `{"mcpServers":{"other":{"env":{"OPENSPACE_API_KEY":"no"}},"openspace":{"env":{"OPENSPACE_API_KEY":"cursor"}}}}`)
	s := p.settings()
	if v, _ := s.Find("api_base"); v.Value != "http://nb" {
		t.Errorf("got base %+v", v)
	}
	v, _ := s.Trace("api_key")
	if v.Value != "skill" || len(v.Shadowed) != 1 || v.Shadowed[0].Value != "cursor" {
		t.Errorf("got key %+v", v)
	}
	p.dotenv(t, "OPENSPACE_API_KEY=dot\n")
	s = p.settings()
	if v, _ := s.Find("api_key"); v.Value != "dot" || len(v.Shadowed) != 0 || s.HostProblems() != nil {
		t.Errorf("got %+v, want the one of .env without a look at hosts", v)
	}
	if v, _ := s.Trace("api_key"); v.Value != "dot" || len(v.Shadowed) != 2 {
		t.Errorf("got %+v, want all that is hidden", v)
	}
	if v, ok := p.settings().Find("limit"); ok {
		t.Errorf("got %+v: hosts are not asked for that", v)
	}
}

// Claude Code: the project's own entry, also of a folder above, wins over .mcp.json, which wins over the user's.
func TestClaudeCodeOrder(t *testing.T) {
	p := newPlace(t)
	entry := func(key string) string {
		return `{"mcpServers":{"openspace":{"env":{"OPENSPACE_API_KEY":"` + key + `"}}}}`
	}
	p.put(t, "~/.claude.json", `{"projects":{"`+filepath.Dir(p.dir)+`":`+entry("above")+`},`+entry("user")[1:])
	p.put(t, ".mcp.json", entry("file"))
	if v, _ := p.settings().Find("api_key"); v.Value != "above" {
		t.Errorf("got %+v", v)
	}
	p.put(t, "~/.claude.json", entry("user"))
	if v, _ := p.settings().Find("api_key"); v.Value != "file" {
		t.Errorf("got %+v", v)
	}
	p.put(t, ".mcp.json", strings.Replace(entry("file"), `"env"`, `"disabled":true,"env"`, 1))
	if v, _ := p.settings().Find("api_key"); v.Value != "user" {
		t.Errorf("got %+v", v)
	}
}

// HC-01 and HC-02: the format is JSON5.
func TestHC02JSON5(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"comments and trailing commas", "{ // main\n  env: { /* c */ OPENSPACE_API_KEY: 'k', },\n}", "k"},
		{"// inside a string", `{env:{OPENSPACE_API_KEY:"https://x.example//y"}}`, "https://x.example//y"},
		{"hexadecimal", `{env:{OPENSPACE_API_KEY:0x1F}}`, "31"},
		{"sign", `{env:{OPENSPACE_API_KEY:+1}}`, "1"},
		{"leading dot", `{env:{OPENSPACE_API_KEY:.5}}`, "0.5"},
		{"line continuation", "{env:{OPENSPACE_API_KEY:'a\\\nb'}}", "ab"},
		{"escaped key", `{"e\u006ev":{OPENSPACE_API_KEY:"k"}}`, "k"},
		{"infinity is no value", `{env:{OPENSPACE_API_KEY:Infinity}}`, ""},
		{"byte-order mark", "\xef\xbb\xbf{env:{OPENSPACE_API_KEY:'k'}}", "k"},
		{"white space around", `{"env":{"OPENSPACE_API_KEY":" k\n"}}`, "k"},
		{"empty", `{"env":{"OPENSPACE_API_KEY":""}}`, ""},
		{"a list", `{"env":{"OPENSPACE_API_KEY":["k"]}}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, "~/.openclaw/openclaw.json", tt.text)
			s := p.settings()
			v, ok := s.Find("api_key")
			if v.Value != tt.want || ok != (tt.want != "") || len(s.HostProblems()) > 0 {
				t.Errorf("got %q, %v, want %q; problems %v", v.Value, ok, tt.want, s.HostProblems())
			}
		})
	}
}

// HC-01: what cannot be read is a problem with its place, and the next host is asked.
func TestHC01BrokenFiles(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"cut", "~/.openclaw/openclaw.json", "{\n  env: {", "openclaw.json:2:8: openclaw configuration passed over: unexpected end"},
		{"no comma", "~/.openclaw/openclaw.json", "{\n a: 1\n b: 2}", "openclaw.json:3:2: "},
		{"not utf-8", "~/.nanobot/config.json", "{\"a\":\"\xff\"}", "config.json: nanobot configuration passed over: not UTF-8"},
		{"a list", "~/.nanobot/config.json", "[]", "want an object"},
		{"empty", "~/.nanobot/config.json", "", "config.json:1:1: "},
		{"toml", "~/.codex/config.toml", "a = 1\nb = [", "config.toml:2:"},
		{"settings", ".mcp.json", "{{", ".mcp.json:1:2: claude-code"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, tt.file, tt.text)
			p.put(t, "~/.config/Code/User/mcp.json", `{"servers":{"openspace":{"env":{"OPENSPACE_API_KEY":"k"}}}}`)
			s := p.settings()
			if v, _ := s.Find("api_key"); v.Value != "k" {
				t.Errorf("got %+v", v)
			}
			got := s.HostProblems()
			if len(got) != 1 || !strings.Contains(got[0].String(), tt.want) || strings.Contains(got[0].String(), "\n") {
				t.Errorf("got %v, want %q", got, tt.want)
			}
		})
	}
}

func TestOddFiles(t *testing.T) {
	p := newPlace(t)
	if err := os.MkdirAll(filepath.Join(p.home, ".nanobot", "config.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := p.settings("OPENCLAW_CONFIG_PATH=nowhere.json")
	p.put(t, "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_KEY:"no"}}`)
	if v, ok := s.Find("api_key"); ok {
		t.Errorf("got %+v", v)
	}
	got := s.HostProblems()
	if len(got) != 2 || !strings.Contains(got[0].Message, "not a regular file") || !strings.Contains(got[1].Message, "OPENCLAW_CONFIG_PATH names it") {
		t.Errorf("got %v", got)
	}
}

// HC-03: a variable is put in; one that is not set is named, and its text is never a value.
func TestHC03Variables(t *testing.T) {
	tests := []struct{ text, environ, want, problem string }{
		{"${MY_KEY}", "MY_KEY=v", "v", ""},
		{"a-${MY_KEY}-${env:B}", "MY_KEY=v B=w", "a-v-w", ""},
		{"${MY_KEY}", "MY_KEY=", "", "the variable MY_KEY is not set"},
		{"${MY_KEY}", "", "", "the variable MY_KEY is not set"},
		{"${MY_KEY:-x:-y}", "", "x:-y", ""},
		{"${MY_KEY:-}", "", "", ""},
		{"${MY_KEY:-x}", "MY_KEY=v", "v", ""},
		{"$${MY_KEY}", "MY_KEY=v", "${MY_KEY}", ""},
		{"${input:key}", "", "", "${input:key} is known to the host alone"},
		{"${OWN}", "", "o", ""},
		{"${OTHER}", "MY=v", "", "the variable OTHER is not set"},
		{"$MY_KEY", "MY_KEY=v", "$MY_KEY", ""},
		{"${MY_KEY", "MY_KEY=v", "${MY_KEY", ""},
		{"${userHome}/x", "", "~/x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.text+" "+tt.environ, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_KEY:"`+tt.text+`",OWN:"o",OTHER:"${MY}"}}`)
			s := p.settings(strings.Fields(tt.environ)...)
			v, ok := s.Find("api_key")
			if got := strings.ReplaceAll(v.Value, p.home, "~"); got != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, ok, tt.want)
			}
			problems := s.HostProblems()
			if tt.problem == "" && len(problems) > 0 || tt.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0].Message, tt.problem)) {
				t.Errorf("got %v, want %q", problems, tt.problem)
			}
		})
	}
}

// HC-04: nothing is written.
func TestHC04NothingIsWritten(t *testing.T) {
	p := newPlace(t)
	files := map[string]string{"~/.nanobot/config.json": "{ // broken", "~/.openclaw/openclaw.json": "{ /* kept */ env: {}, }", ".mcp.json": "{}"}
	var paths []string
	for path, text := range files {
		paths = append(paths, p.put(t, path, text))
	}
	s := p.settings()
	s.Trace("api_key")
	s.HostSkillDir()
	s.HostModel("x")
	var found []string
	for _, root := range []string{p.dir, p.home} {
		filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				found = append(found, path)
			}
			return err
		})
	}
	slices.Sort(paths)
	slices.Sort(found)
	if !slices.Equal(found, paths) {
		t.Errorf("got files %q, want %q", found, paths)
	}
	for path, text := range files {
		if data, _ := os.ReadFile(strings.NewReplacer("~", p.home).Replace(path)); strings.HasPrefix(path, "~") && string(data) != text {
			t.Errorf("%s became %q", path, data)
		}
	}
}

// HC-05: the provider that fits the model, and empty keys are none.
func TestHC05Providers(t *testing.T) {
	nanobot := func(providers, defaults string) string {
		return `{"providers":{` + providers + `},"agents":{"defaults":{` + defaults + `}}}`
	}
	const all = `"openrouter":{"apiKey":""},"deepseek":{"api_key":"k2"},"openai":{"apiKey":"k3","apiBase":null}`
	tests := []struct{ name, file, text, model, want string }{
		{"prefix", "~/.nanobot/config.json", nanobot(all, `"model":"deepseek/deepseek-chat"`), "", "deepseek k2 "},
		{"word", "~/.nanobot/config.json", nanobot(all, ""), "gpt-5", "openai k3 "},
		{"part of a word is no word", "~/.nanobot/config.json", nanobot(`"volcengine":{"apiKey":"v"}`, ""), "spark-7b", "- "},
		{"a key of somebody else is not taken", "~/.nanobot/config.json", nanobot(all, ""), "llama-3", "- "},
		{"gateway", "~/.nanobot/config.json", nanobot(`"openrouter":{"apiKey":"or"},"openai":{"apiKey":"k3"}`, ""), "llama-3", "openrouter or https://openrouter.ai/api/v1"},
		{"forced", "~/.nanobot/config.json", nanobot(`"mine":{"apiKey":"m","api_base":"http://x"},`+all, `"provider":"mine"`), "gpt-5", "mine m http://x"},
		{"forced without key", "~/.nanobot/config.json", nanobot(all, `"provider":"openrouter"`), "gpt-5", "- "},
		{"openclaw variables", "~/.openclaw/openclaw.json", `{env:{vars:{ANTHROPIC_API_KEY:"a",ANTHROPIC_API_BASE:"http://a"}}}`, "anthropic/claude", "anthropic a http://a"},
		{"openclaw, other names", "~/.openclaw/openclaw.json", `{env:{GOOGLE_API_KEY:"g"}}`, "gemini-3", "gemini g "},
		{"openclaw, openai base", "~/.openclaw/openclaw.json", `{env:{OPENAI_API_KEY:"o",OPENAI_BASE_URL:"http://o"}}`, "gpt-5", "openai o http://o"},
		{"openclaw, skill wins", "~/.openclaw/openclaw.json", `{env:{vars:{ANTHROPIC_API_KEY:"a"}},skills:{entries:{openspace:{env:{OPENSPACE_LLM_API_KEY:"own"}}}}}`, "claude-5", "anthropic own "},
		{"openclaw, own providers", "~/.openclaw/openclaw.json", `{models:{providers:{x:{apiKey:"${MY_KEY}",baseUrl:"http://x"}}}}`, "x/y", "x mine http://x"},
		{"openclaw, model object", "~/.openclaw/openclaw.json", `{agents:{defaults:{model:{primary:"groq/llama"}}},env:{GROQ_API_KEY:"q"}}`, "", "groq q "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, tt.file, tt.text)
			_, _, got, ok := p.settings("MY_KEY=mine").HostModel(tt.model)
			text := got.Name + " " + got.Key.Value + " " + got.Base.Value
			if !ok {
				text = "- "
			}
			if text != tt.want {
				t.Errorf("got %q, want %q", text, tt.want)
			}
		})
	}
	p := newPlace(t)
	p.put(t, "~/.nanobot/config.json", nanobot(`"openai":{"apiKey":"${NONE}","extra_headers":{"X":"y"}}`, ""))
	s := p.settings()
	if _, _, _, ok := s.HostModel("gpt-5"); ok || len(s.HostProblems()) != 0 {
		t.Errorf("got a key, or problems about models for other commands: %v", s.HostProblems())
	}
	if got := s.Hosts()[0].ModelProblems; len(got) != 1 || !strings.Contains(got[0].Message, "providers.openai.apiKey: the variable NONE is not set") {
		t.Errorf("got %v", got)
	}
}

// HC-07: skills of a host are looked for in its workspace, not in the working directory.
func TestHC07SkillDirs(t *testing.T) {
	const claw = "~/.openclaw/openclaw.json"
	tests := []struct{ name, file, text, environ, want string }{
		{"openclaw workspace", claw, `{agents:{defaults:{workspace:"~/oc-ws"}}}`, "", "~/oc-ws/skills"},
		{"openclaw, relative to the file", claw, `{agents:{defaults:{workspace:"ws"}}}`, "", "~/.openclaw/ws/skills"},
		{"openclaw, usual", claw, `{}`, "", "~/.openclaw/workspace/skills"},
		{"openclaw, default agent", claw, `{agents:{defaults:{workspace:"~/a"},list:[{id:"x",workspace:"~/x"},{id:"m",default:true,workspace:"~/m"}]}}`, "", "~/m/skills"},
		{"openclaw, this agent", claw, `{agents:{defaults:{workspace:"~/a"},list:[{id:"x",workspace:"~/x"},{id:"m",default:true,workspace:"~/m"}]}}`, "OPENCLAW_AGENT_ID=x", "~/x/skills"},
		{"openclaw, agent without a workspace", claw, `{agents:{defaults:{workspace:"~/a"},list:[{id:"m",default:true}]}}`, "", "~/a/skills"},
		{"openclaw, state folder", claw, `{}`, "OPENCLAW_STATE_DIR=~/st", "~/st/skills"},
		{"nanobot", "~/.nanobot/config.json", `{"agents":{"defaults":{"workspace":"~/nb"}}}`, "", "~/nb/skills"},
		{"nanobot, usual", "~/.nanobot/config.json", `{}`, "", "~/.nanobot/workspace/skills"},
		{"nanobot workspace by variable", claw, `{}`, "NANOBOT_WORKSPACE=~/w OPENCLAW_STATE_DIR=~/st", "~/w/skills"},
		{"claude code", "~/.claude.json", `{"mcpServers":{"openspace":{}}}`, "", "~/.claude/skills"},
		{"codex", "~/.codex/config.toml", "[mcp_servers.openspace]\n", "", "~/.codex/skills"},
		{"host without the suite", "~/.cursor/mcp.json", `{"mcpServers":{"other":{}}}`, "", ""},
		{"by its own variable", "~/.cursor/mcp.json", `{"mcpServers":{"openspace":{"env":{"OPENSPACE_HOST_SKILL_DIRS":"~/one,~/two"}}}}`, "", "~/one"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			p.put(t, tt.file, tt.text)
			s := p.settings(strings.Fields(tt.environ)...)
			if v, ok := s.Find("host_skill_dirs"); ok && v.Source == settings.FromHost && v.List != nil {
				t.Errorf("got %+v, though no folder exists", v)
			}
			v, ok := s.HostSkillDir()
			if got := strings.ReplaceAll(v.Value, p.home, "~"); got != tt.want || ok != (tt.want != "") {
				t.Errorf("got %q, %v, want %q; problems %v", got, ok, tt.want, s.HostProblems())
			}
			if !ok {
				return
			}
			if err := os.MkdirAll(v.Value, 0o755); err != nil {
				t.Fatal(err)
			}
			if found, ok := p.settings(strings.Fields(tt.environ)...).Find("host_skill_dirs"); !ok || found.List != nil && found.List[0] != v.Value {
				t.Errorf("got %+v, want %q first", found, v.Value)
			}
		})
	}
}

// What a project's .env says neither chooses the user's files nor goes into them; a project's own file may use it.
func TestDotEnvDoesNotReachUserFiles(t *testing.T) {
	p := newPlace(t)
	p.put(t, "evil.json", `{"tools":{"mcpServers":{"openspace":{"env":{"OPENSPACE_API_KEY":"evil"}}}}}`)
	p.put(t, "~/.openclaw/openclaw.json", `{env:{OPENSPACE_API_KEY:"${MY_KEY}"}}`)
	p.dotenv(t, "NANOBOT_CONFIG_PATH=evil.json\nNANOBOT_WORKSPACE=evil\nMY_KEY=evil\n")
	s := p.settings()
	if v, ok := s.Find("api_key"); ok {
		t.Errorf("got %+v", v)
	}
	if v, _ := s.HostSkillDir(); strings.HasPrefix(v.Value, p.dir) {
		t.Errorf("got %+v", v)
	}
	p.put(t, ".mcp.json", `{"mcpServers":{"openspace":{"env":{"OPENSPACE_API_KEY":"${MY_KEY}"}}}}`)
	if v, ok := p.settings().Find("api_key"); !ok || v.Value != "evil" || !v.Project {
		t.Errorf("got %+v, want the project's own", v)
	}
}

// The explicit part of openclaw's environment comes with headers and more, as JSON in a text.
func TestHostModelExtras(t *testing.T) {
	p := newPlace(t)
	p.put(t, "~/.openclaw/openclaw.json", `{env:{vars:{OPENAI_API_KEY:"o", OPENSPACE_LLM_EXTRA_HEADERS:'{"X-A":"secret","n":1}', OPENSPACE_LLM_CONFIG:'{"temperature":0.5}'}}}`)
	s := p.settings()
	if _, _, got, _ := s.HostModel("gpt-5"); got.Headers["X-A"] != "secret" || got.Headers["n"] != "1" || got.Config["temperature"] != 0.5 {
		t.Errorf("got %+v", got)
	}
	p.put(t, "~/.openclaw/openclaw.json", `{env:{vars:{OPENAI_API_KEY:"o", OPENSPACE_LLM_CONFIG:'hunter2 {'}}}`)
	s = p.settings()
	_, _, got, _ := s.HostModel("gpt-5")
	problems := s.Hosts()[1].ModelProblems
	if got.Config != nil || len(problems) != 1 || strings.Contains(problems[0].String(), "hunter2") || !strings.Contains(problems[0].String(), "env.vars.OPENSPACE_LLM_CONFIG: want a JSON object") {
		t.Errorf("got %+v, problems %v", got, problems)
	}
}
