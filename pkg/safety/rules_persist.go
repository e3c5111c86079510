package safety

import (
	"regexp"
	"sync"
)

// persistRules find what stays behind and starts again by itself.
var persistRules = []rule{
	{
		id: "authorized-keys", flag: FlagPersistence, severity: High, docs: true, check: literalKey,
		lits: []string{"authorized_keys"},
		back: 240, ahead: 60,
		expr:    `(?:>>?\s*["']?|tee\s+(?:-a\s+)?["']?)[^\s"'|;]*authorized_keys|authorized_keys["']?\s*\)?\s*,\s*["'][aw]|ssh-(?:rsa|ed25519)\s+AAAA\S{20,}[^\n]*authorized_keys|appendFile\w*\([^\n]*authorized_keys`,
		message: "lets somebody log in by SSH",
	},
	{
		id: "shell-startup", flag: FlagPersistence, severity: Low, docs: true, check: startupLine,
		lits: []string{".bashrc", ".zshrc", ".profile", ".bash_profile", ".zprofile", ".zshenv", "config.fish"},
		back: 300, ahead: 30,
		expr:    `(?:>>|tee\s+-a)\s*["']?(?:~|\$HOME|\$\{HOME\}|/root|/home/[\w$\{\}]+|\$\w+)?/?[^\s"'|;]{0,24}\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b|(?:open|appendFile\w*)\([^\n]*\.(?:bashrc|zshrc|profile|bash_profile|zprofile|zshenv)\b[^\n]{0,20}["']a?`,
		message: "adds to a file that every shell runs",
	},
	{
		id: "scheduled-job", flag: FlagPersistence, severity: Low, docs: true, check: startupLine,
		lits: []string{"crontab", "/etc/cron", "schtasks", "launchagents", "launchdaemons", "launchctl", "/etc/systemd", "systemd/user", `currentversion\run`, `currentversion\\run`, "start menu", "register-scheduledtask", ".config/autostart", "rc.local"},
		back: 240, ahead: 120,
		expr:    `\|\s*crontab\b|\bcrontab\s+(?:-\s|-$|/|<|\S+\.(?:txt|cron))|>>?\s*/etc/cron|\bschtasks\s+/create|register-scheduledtask|launchctl\s+(?:load|bootstrap|submit)\b|(?:>|\btee|\bcp|\bmv|\bwrite\w*|\bopen)[^\n]*(?:Launch(?:Agents|Daemons)/|systemd/(?:system|user)/)|currentversion\\{1,2}run\b|start menu\\{1,2}programs\\{1,2}startup|\.config/autostart|/etc/rc\.local`,
		message: "starts a program again and again, or at every login",
	},
	{
		id: "login-rights", flag: FlagPersistence, severity: High, docs: true,
		lits: []string{"nopasswd", "ld.so.preload", "/etc/passwd", "/etc/sudoers", "useradd", "net user"},
		back: 120, ahead: 80,
		expr:    `nopasswd\s*:\s*all\b[^\n]*(?:>>|tee|sudoers)|(?:>>?|tee\s+(?:-a\s+)?)\s*/etc/(?:sudoers|passwd|shadow)\b|\buseradd\s[^\n]{0,40}-(?:o\s+-u\s*0|u\s*0)|\bnet\s+user\s+\S+\s+\S+\s+/add`,
		message: "gives itself rights on the machine for good",
	},
	{
		id: "preloaded-library", flag: FlagPersistence, severity: Critical, docs: true,
		lits:    []string{"ld.so.preload"},
		back:    60,
		ahead:   40,
		expr:    `(?:>>?|tee\s+(?:-a\s+)?|open\(["'])\s*/etc/ld\.so\.preload`,
		message: "loads a library into every program of the machine",
	},
	{
		id: "wrapped-command", flag: FlagCredentials, severity: Critical, docs: true,
		lits:    []string{"alias sudo=", "alias su=", "alias ssh=", "alias git=", "alias npm=", "alias claude=", "function sudo", "sudo() {", "sudo(){"},
		ahead:   240,
		expr:    `(?:alias\s+(?:sudo|su|ssh|git|npm|claude)=|(?:function\s+)?sudo\s*(?:\(\))?\s*\{)["']?[^\n]*\b(?:read|curl|wget|nc|tee|base64)\b`,
		message: "puts a command of its own in the place of one that takes passwords",
	},
	{
		id: "agent-memory", flag: FlagPersistence, severity: Medium, docs: true, check: memoryWrite,
		lits: []string{"soul.md", "agents.md", "memory.md", "claude.md", "heartbeat.md", "identity.md", "bootstrap.md", "gemini.md", ".cursorrules"},
		back: 200, ahead: 60,
		expr:    `(?:(?:^|[\s"'\x60])>>?|\btee\s+(?:-a\s+)?)\s*["']?[^\s"'|;<>]*(?:SOUL|AGENTS|MEMORY|CLAUDE|HEARTBEAT|IDENTITY|BOOTSTRAP|GEMINI)\.md\b|(?:open|appendFile\w*|writeFile\w*|write_text)\([^\n]*(?:SOUL|AGENTS|MEMORY|CLAUDE|HEARTBEAT|IDENTITY|BOOTSTRAP|GEMINI)\.md["'][^\n]{0,12}["']?a?|\bcurl\s[^\n]*(?:-o|>)\s*\S{0,60}(?:SOUL|AGENTS|CLAUDE|HEARTBEAT|IDENTITY|BOOTSTRAP)\.md`,
		message: "writes into a file that the agent reads as its own instructions",
	},
	{
		id: "asks-to-change-memory", flag: FlagPersistence, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"soul.md", "agents.md", "memory.md", "claude.md", "heartbeat.md", "identity.md", ".cursorrules"},
		also: []string{"append", "add ", "write", "insert", "inject", "modify", "update", "install"},
		back: 120, ahead: 200,
		expr:    `\b(?:append|add|write|insert|inject|modify|update|edit|install)\b[^\n]*?\b(?:SOUL|AGENTS|MEMORY|CLAUDE|HEARTBEAT|IDENTITY)\.md\b[^\n]*?\b(?:every|all|each|future|always|permanent\w*|persist\w*|even if|survive\w*|without|silently|remember)\b`,
		message: "asks to change the instructions that the agent lives by",
	},
	{
		id: "git-hook", flag: FlagPersistence, severity: Low, docs: true, place: inCode,
		lits:    []string{".git/hooks/"},
		back:    120,
		ahead:   40,
		expr:    `(?:>>?|tee|cp|mv|ln|write\w*|open)\s*[^\n]*\.git/hooks/[\w-]+`,
		message: "installs a git hook",
	},
}

var ssh = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`ssh-(rsa|ed25519)\s+AAAA`) })

// literalKey raises a key that the author brings along.
func literalKey(m *match) (Severity, bool) {
	if ssh().Match(m.data[max(0, m.start-200):m.end]) {
		return Critical, true
	}
	if containsAny(m.line(400), ".pub") {
		return Low, true // the user's own key, as ssh-copy-id does it
	}
	return m.rule.severity, true
}

var (
	busy = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(curl|wget|nohup|base64|ncat?|python[\d.]* -c|/dev/tcp|setsid|disown|iex|downloadstring)\b|/tmp/\.|/var/tmp/\.|%appdata%|%temp%|alias (sudo|ls|git|ssh|curl|npm|claude|su)=|&\s*["']?\s*(>>|$)`)
	})
	fetching = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(curl|wget)\b[^\n]*\|\s*(ba|z)?sh|base64\s+-(d|D)|/dev/tcp|\bnc\s+-`)
	})
)

// startupLine judges a start-up entry by what it starts.
func startupLine(m *match) (Severity, bool) {
	switch text := m.line(400); {
	case fetching().MatchString(text):
		return Critical, true
	case busy().MatchString(text):
		return High, true
	}
	return m.rule.severity, true
}

// memoryWrite raises instructions that come from the network.
func memoryWrite(m *match) (Severity, bool) {
	if m.in.speaks() || containsAny(m.text(), "/skills/") {
		return "", false
	}
	if containsAny(lower(m.line(400)), "curl", "wget", "http") {
		return High, true
	}
	return m.rule.severity, true
}
