package safety

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
)

// codeRules find program text that hides what it runs, or runs what others
// give it.
var codeRules = []rule{
	{
		id: "runs-decoded-text", flag: FlagObfuscation, severity: Critical, docs: true,
		lits: []string{"b64decode", "base64.", "atob(", "fromhex", "unhexlify", "buffer.from", "decompress", "marshal.loads", "codecs.decode", "fromcharcode", "rot13", "rot_13", "frombase64string", "base64_decode", "b32decode", "b85decode", "a85decode", "decode64"},
		back: 200, ahead: 120,
		expr: `(?:^|[^.\w])(?:exec|eval|execSync|Function|os\.system|os\.popen|subprocess\.\w+|vm\.runIn\w+|setTimeout|iex|invoke-expression|child_process\.exec\w*|compile|shell_exec|system|assert)\s*\(\s*[^\n;#]*?(?:b64decode|b32decode|b85decode|a85decode|\batob\s*\(|fromhex|unhexlify|Buffer\.from\s*\([^\n]*?,\s*['"](?:base64|hex)|zlib\.decompress|decompress\s*\(|marshal\.loads|codecs\.decode|fromCharCode|rot_?13|FromBase64String|base64_decode|decode64)` +
			`|\b(?:iex|invoke-expression)\s[^\n]*?FromBase64String` +
			`|\bnew Function\s*\([^\n]*?(?:atob|Buffer\.from|fromCharCode)`,
		message: "decodes a text and runs it as a program",
	},
	{
		id: "runs-fetched-text", flag: FlagExecution, severity: Critical, docs: true,
		lits: []string{"requests.get", "urlopen", "httpx.get", "fetch(", "axios.get", "urllib", "http.get", "https.get", "urlretrieve"},
		back: 120, ahead: 60,
		expr:    `(?:^|[^.\w])(?:exec|eval|new Function|Function|vm\.runIn\w+|compile)\s*\(\s*[^\n;#]*?(?:requests\.get|urlopen|httpx\.get|\bfetch\s*\(|axios\.get|https?\.get)`,
		message: "runs what it fetches from the network",
	},
	{
		id: "runs-fetched-text", flag: FlagExecution, severity: Critical, docs: true,
		lits:    []string{".then(eval", ".then(function", "then(eval)", "=> eval(", "=>eval(", "new function(", "importscripts("},
		back:    300,
		ahead:   60,
		expr:    `(?:fetch|axios(?:\.get)?|https?\.get|got)\s*\((?s:.{0,260}?)(?:\.then\(\s*eval\b|=>\s*(?:eval|new Function)\s*\()`,
		message: "runs what it fetches from the network",
	},
	{
		id: "split-name", flag: FlagObfuscation, severity: High, place: inDecoded, docs: true, check: splitInside,
		lits:    []string{"child_process", "process.env", "subprocess", "os.environ", "os.system", "eval", "exec", "curl", "wget", "__import__", "https://", "http://", "_api_key", "_token", "_secret", ".ssh", ".aws", "/bin/sh", "/bin/bash"},
		ahead:   2,
		expr:    `child_process|process\.env|\bsubprocess\b|os\.environ|os\.system|\beval\b|\bexec\b|\bcurl\b|\bwget\b|__import__|_api_key|_secret\b|\.ssh\b|\.aws\b|/bin/(?:ba)?sh\b`,
		message: "splits a telling name into pieces",
	},
	{
		id: "encoded-address", flag: FlagObfuscation, severity: Medium, place: inDecoded, check: nothingElse,
		lits:    []string{"http://", "https://"},
		ahead:   300,
		expr:    `https?://[^\s"'<>]+`,
		message: "hides an address",
	},
	{
		id: "encoded-code", flag: FlagObfuscation, severity: Medium, place: inDecoded, docs: true, check: notInClear,
		lits: []string{"child_process", "process.env", "os.system", "subprocess", "/bin/sh", "/bin/bash", "curl ", "wget ", "powershell", "import os", "require(", "eval(", "exec(", "os.environ", "socket.socket", ".ssh/", ".aws/", "chmod +x", "__import__"},
		back: 2, ahead: 10,
		expr:    `child_process|process\.env|os\.system|\bsubprocess\b|/bin/(?:ba)?sh\b|\b(?:curl|wget)\s|\bpowershell\b|\bimport os\b|\brequire\(|\b(?:eval|exec)\(|os\.environ|socket\.socket|\.ssh/|\.aws/|chmod \+x|__import__`,
		message: "hides program text",
	},
	{
		id: "code-in-data", flag: FlagExecution, severity: High, place: inData, docs: true,
		lits: []string{"child_process", "os.system", "subprocess.", "eval(", "exec(", "__import__", "import os", "process.env", "require("},
		back: 20, ahead: 60,
		expr:    `:\s*["'][^"'\n]*(?:child_process|\bos\.system\(|\bsubprocess\.\w+\(|\beval\(|\bexec\(|__import__|\bimport os\b|\brequire\()|["']!!python/object`,
		message: "holds program text in a file of data",
	},
	{
		id: "install-hook", flag: FlagExecution, severity: Medium, place: inData,
		lits:    []string{`"preinstall"`, `"postinstall"`, `"install"`, `"runon"`, `"prepare"`, `"sessionstart"`, `"pretooluse"`, `"posttooluse"`, `"userpromptsubmit"`},
		ahead:   200,
		expr:    `"(?:pre|post)?install"\s*:\s*"[^"\n]*\b(?:node|python[\d.]*|sh|bash|curl|wget|powershell)\b|"runOn"\s*:\s*"folderOpen"|"(?:SessionStart|PreToolUse|PostToolUse|UserPromptSubmit)"\s*:\s*\[(?s:.{0,160}?)"command"`,
		message: "runs a program as soon as it is installed or opened",
	},
	{
		id: "evaluates-input", flag: FlagExecution, severity: Medium, place: inScript, docs: true, check: evalSeverity,
		lits: []string{"eval(", "exec(", "eval (", "new function(", "exec (", "eval $", "eval \"$"},
		back: 30, ahead: 120,
		expr:    `\beval\s+["']?\$(?:[1-9@*]|\{?(?:input|cmd|command|user)\w*)|(?:^|[^.\w"'\x60])(?:eval|exec|new Function)\s*\(\s*(?:[a-z_][\w.]*\b|f["']|["'][^"'\n]*["']\s*[+%]|\x60[^\x60\n]*\$\{)[^\n]*`,
		message: "runs a text that it is given as a program",
	},
	{
		id: "shell-injection", flag: FlagExecution, severity: Medium, place: inScript, docs: true,
		lits: []string{"os.system", "os.popen", "shell=true", "shell = true", "execsync", "exec(", "child_process", "shell: true", "getoutput"},
		back: 240, ahead: 200,
		expr: `\bos\.(?:system|popen)\s*\(\s*(?:[fF]r?["']|["'][^"'\n]*["']\s*(?:\+|%|\.format)|[a-z_]\w*\s*[,)+]|[a-z_]\w*\.)` +
			`|\bsubprocess\.\w+\(\s*(?:[fF]r?["']|["'][^"'\n]*["']\s*(?:\+|%|\.format)|[a-z_]\w*)[^\n]*?(?:\n[^\n]*){0,4}?shell\s*=\s*True|\bsubprocess\.getoutput\(\s*[fa-z]` +
			`|\bexec(?:Sync)?\s*\(\s*(?:\x60[^\x60\n]*\$\{|["'][^"'\n]*["']\s*\+)`,
		message: "puts a value into a shell command without quoting it",
	},
	{
		id: "sql-injection", flag: FlagExecution, severity: Medium, place: inScript,
		lits: []string{"select ", "insert into", "delete from", "update ", "drop table"},
		back: 60, ahead: 160,
		expr: `(?:execute|executemany|query|raw|executescript|exec)\s*\(\s*(?:f["']{1,3}|\x60\s*)(?:select|insert|update|delete|drop)\b[^"\n\x60]*\{` +
			`|(?:query|sql|stmt|statement|q)\s*=\s*f["']{1,3}\s*(?:select|insert|update|delete|drop)\b[^\n\x60]*\{` +
			`|(?:=|\()\s*["']\s*(?:select\s[^"'\n]*\sfrom|insert into|update\s\S+\sset|delete from)\b[^"\n]*["']\s*(?:\+|%\s|\.format\()`,
		message: "puts a value into a database statement without binding it",
	},
	{
		id: "unsafe-pickle", flag: FlagExecution, severity: Medium, place: inScript, docs: true, check: pickleSeverity,
		lits: []string{"pickle.load", "__reduce__", "marshal.load", "dill.load", "yaml.load(", "yaml.unsafe_load", "node-serialize", "unserialize("},
		back: 200, ahead: 300,
		expr:    `\b(?:c?pickle|dill|cloudpickle|marshal)\.loads?\s*\([^\n]*|def\s+__reduce__\s*\((?s:.{0,300})|\byaml\.(?:unsafe_load|load)\s*\([^\n]*|node-serialize|\bunserialize\s*\(\s*[$a-z][^\n]*`,
		message: "loads a format that can run programs while it is read",
	},
	{
		id: "builtin-by-name", flag: FlagObfuscation, severity: High, docs: true,
		lits: []string{"getattr(", "__import__", "globals()", "__builtins__", "require(", "process[", "globalthis[", "global[", "importlib", "constructor("},
		back: 20, ahead: 120, place: inCode,
		expr: `\bgetattr\s*\(\s*(?:__builtins__|builtins|__import__\([^)\n]*\)|os|subprocess|sys\.modules\[[^\]\n]*\])\s*,\s*["'](?:system|popen|exec|eval|call|run|environ|__import__)["']` +
			`|\b__import__\s*\(\s*["'](?:os|subprocess|socket|pty|base64|ctypes|marshal)["']\s*\)|\b__builtins__\s*(?:\[|\.__dict__)|globals\(\)\s*\[\s*["'](?:__builtins__|eval|exec)|(?:globalThis|global|window|process\.mainModule)\s*\[\s*["'](?:eval|require|Function|constructor|process)` +
			`|\brequire\s*\(\s*(?:atob|Buffer\.from|\[[^\]\n]*\]\s*\.(?:join|map|reverse)|String\.|\w+\.split|["'][^"'\n]*["']\s*\+)|\]\s*\(\s*["'](?:child_process|fs|https?|os)["']\s*\)|constructor\.constructor\s*\(`,
		message: "calls a function by a name it puts together, to pass unseen",
	},
	{
		id: "packed-program", flag: FlagObfuscation, severity: High, docs: true, check: packed,
		lits:    []string{"_0x", "eval(function(p,a,c,k", "\\x6", "pyarmor", "__pyarmor__", "jjencode", "ﾟωﾟ"},
		back:    10,
		ahead:   400,
		expr:    `eval\(function\(p,a,c,k|\b_0x[0-9a-f]{4,}\b(?s:.{0,300}?)\b_0x[0-9a-f]{4,}\b|__pyarmor__`,
		message: "is a packed program that nobody can review",
	},
	{
		id: "climbs-out", flag: FlagCredentials, severity: Medium, docs: true, place: inCode,
		lits:    []string{"../../../", `..\..\..\`},
		ahead:   40,
		expr:    `(?:\.\./){3,}(?:etc|root|home|proc|var|Users)/\S+|(?:\.\.\\){3,}windows`,
		message: "reaches for files outside its own folder",
	},
	{
		id: "telling-host", flag: FlagExfiltration, severity: Medium, place: inCode, docs: true,
		lits:    []string{"evil", "attacker", "malicious", "exfil", "hacker", "stealer", "c2.", "c2-", "malware"},
		back:    60,
		ahead:   60,
		expr:    `https?://[\w.-]*(?:evil|attacker|malicious|exfil|hacker|stealer|malware|\bc2[.-])[\w.-]*`,
		message: "names a host that calls itself an attacker's",
	},
	{
		id: "prints-secrets", flag: FlagCredentials, severity: Medium, place: inScript, docs: true,
		lits: []string{"os.environ", "process.env", "os.getenv"}, also: []string{"print(", "console.log", "echo", "logging.", "logger."},
		back: 60, ahead: 60,
		expr:    `(?:\bprint|console\.\w+|\blogg(?:er|ing)\.\w+)\([^\n]*(?:os\.environ\s*\)|process\.env\s*\)|(?:os\.(?:environ|getenv)\W{1,6}|process\.env\.)\w*(?:API_?KEY|TOKEN|SECRET|PASSWORD))`,
		message: "prints keys, where the model and its logs read them",
	},
	{
		id: "agent-settings", flag: FlagPersistence, severity: Medium, place: inBlock, docs: true,
		lits: []string{".claude/", ".openclaw/", ".clawdbot/", ".codex/", ".cursor/", "claude_desktop_config"},
		back: 80, ahead: 120,
		expr:    `(?:writeFile\w*|appendFile\w*|write_text|copyfile|shutil\.copy\w*|\bcp|>>?|\btee)\b?[^\n]*(?:\.(?:claude|openclaw|clawdbot|codex|cursor)/(?:settings|hooks|agents|mcp|config|openclaw\.json|clawdbot\.json|CLAUDE\.md)|claude_desktop_config)|open\([^\n]*(?:\.(?:claude|openclaw|clawdbot|codex|cursor)/(?:settings|hooks|mcp|config|openclaw\.json)|claude_desktop_config)[^\n]*,\s*["'][aw]`,
		message: "changes the settings of an agent",
	},
	{
		id: "bare-address", flag: FlagExecution, severity: Medium, place: inCode, docs: true, check: publicAddress,
		lits:    []string{"http://1", "http://2", "http://3", "http://4", "http://5", "http://6", "http://7", "http://8", "http://9", "https://1", "https://2", "https://3", "https://4", "https://5", "https://6", "https://7", "https://8", "https://9"},
		ahead:   16,
		expr:    `https?://\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`,
		message: "talks to a machine without a name",
	},
	{
		id: "says-so", flag: FlagExecution, severity: Medium, place: inCode, docs: true,
		lits:    []string{"backdoor", "back door", "pwned", "后门", "exfiltrat", "malicious", "steal", "payload", "keylog"},
		back:    20,
		ahead:   40,
		expr:    `\bback ?door\b|\bpwned\b|后门|(?:#|//)[^\n]*\b(?:exfiltrat\w+|malicious|steal(?:s|ing)?\s+(?:the\s+)?(?:user'?s?\s+)?(?:credentials?|tokens?|keys?|cookies|data|secrets?|passwords?))\b|\b(?:def|function)\s+\w*(?:exfiltrat|steal_?(?:cred|token|key|cookie|data|secret|pass|info|wallet|env)|backdoor|keylog)\w*`,
		message: "says itself what it is for",
	},
	{
		id: "trigger-phrase", flag: FlagExecution, severity: High, place: inBlock,
		lits: []string{"exec(", "eval(", "os.system", "subprocess", "execsync", "popen("},
		back: 260, ahead: 60, check: secretWord,
		expr:    `\bif\s*\(?\s*(?:["'][\w:!@#-]{6,60}["']\s+in\s+\w+|\w+(?:\.\w+)*\.(?:includes|startsWith|startswith|endswith)\(\s*["'][\w:!@#-]{6,60}["']\s*\)|\w+\s*={2,3}\s*["'][\w:!@#-]{10,60}["'])(?s:.{0,200}?)(?:^|[^.\w])(?:exec|eval|os\.system|subprocess\.\w+|execSync|os\.popen)\s*\(`,
		message: "runs something when a secret word occurs",
	},
	{
		id: "time-bomb", flag: FlagObfuscation, severity: Medium, place: inBlock, docs: true,
		lits: []string{"datetime", "date.now", "time.time", "new date", "gethours", "date.today", "getmonth"},
		back: 40, ahead: 160,
		expr:    `(?:datetime\.(?:now|today|utcnow)\([^)\n]*\)|date\.today\(\)|\b(?:now|today)\b)\s*(?:>=?|<=?)\s*(?:datetime\.)?(?:datetime|date)\(\s*20\d\d|(?:Date\.now\(\)|time\.time\(\)|\bnow\b)\s*>=?\s*(?:new Date\(\s*["']?20\d\d|1[6-9]\d{8,11}\b|(?:\w*(?:TRIGGER|ACTIVAT|DETONAT|BOMB)\w*))|new Date\(\)\s*>=?\s*new Date\(\s*["']20\d\d`,
		message: "does something else from a certain day on",
	},
	{
		id: "looks-for-observers", flag: FlagObfuscation, severity: Medium, place: inBlock, docs: true,
		lits: []string{"/.dockerenv", "/proc/1/cgroup", "vmware", "virtualbox", "vbox", "sandbox", "isdebuggerpresent", "sys.gettrace", "cuckoo", "wireshark", "ci\"", "analysis"},
		back: 60, ahead: 60,
		expr:    `/\.dockerenv|/proc/1/cgroup|IsDebuggerPresent|(?:hostname|gethostname\(\)|platform\.node\(\)|uname|environ|env)\b[^\n]*?(?:sandbox|vmware|virtualbox|\bvbox\b|cuckoo|analysis|malware|honeypot)|(?:sandbox|cuckoo|honeypot|is_?vm|is_?analysis)\w*\s*\(\s*\)\s*[:)]?\s*(?:\{|\n)?\s*(?:return|sys\.exit|process\.exit|exit)`,
		message: "behaves differently where it is watched",
	},
}

// evalSeverity tells an expression evaluator with its hands tied from one that
// takes anything.
func evalSeverity(m *match) (Severity, bool) {
	text := lower(m.text())
	switch {
	case strings.Contains(text, "__builtins__") && (strings.Contains(text, "{}") || strings.Contains(text, "none")):
		return Low, true
	case containsAny(text, "input(", "sys.argv", "request.", "process.argv", "stdin", "user_input", "userinput", "req.body", "req.query"):
		return High, true
	case strings.Contains(text, "compile(") || strings.Contains(text, "open("):
		return Low, true
	}
	return m.rule.severity, true
}

func pickleSeverity(m *match) (Severity, bool) {
	text := lower(m.text())
	switch {
	case strings.Contains(text, "__reduce__"):
		return Critical, reducesToProgram().MatchString(text)
	case strings.HasPrefix(text, "yaml") && strings.Contains(text, "unsafe"):
		return m.rule.severity, true
	case strings.HasPrefix(text, "yaml") && containsAny(text, "safeloader", "safe_load", "baseloader", "fullloader"):
		return "", false
	case containsAny(text, "b64decode", "requests.", "urlopen", "fromhex", ".content", "recv("):
		return Critical, true
	case strings.HasPrefix(text, "yaml"), strings.Contains(text, ".load(") && !containsAny(text, "argv", "input", "request", "user"):
		return Low, true
	}
	return m.rule.severity, true
}

var reducesToProgram = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`return\s*\(?\s*(?:os\.(?:system|popen)|subprocess\.\w+|eval|exec|builtins\.\w+|__import__)`)
})

// notInClear drops what the file says in clear as well.
func notInClear(m *match) (Severity, bool) {
	return m.rule.severity, !strings.Contains(lower(m.clear()), lower(m.text()))
}

// splitInside keeps a name that the file does not have in one piece there.
func splitInside(m *match) (Severity, bool) {
	if m.via != "pieces" {
		return "", false
	}
	return notInClear(m)
}

// nothingElse keeps a decoded text that is a match and no more. What was only put
// together from strings does not count: addresses mostly are.
func nothingElse(m *match) (Severity, bool) {
	return m.rule.severity, m.via != "pieces" && len(bytes.Trim(m.data, " \t\r\n\"'")) == m.end-m.start
}

// packed asks for more than one odd name.
func packed(m *match) (Severity, bool) {
	if text := m.text(); strings.HasPrefix(text, "_0x") {
		return m.rule.severity, strings.Count(string(m.data), "_0x") >= 8
	}
	return m.rule.severity, true
}

// publicAddress drops this machine, its network and well-known name servers.
func publicAddress(m *match) (Severity, bool) {
	text := m.text()
	return m.rule.severity, hostClass(text) == hostShady && !containsAny(text, "//1.1.1.1", "//1.0.0.1", "//8.8.8.8", "//8.8.4.4", "//9.9.9.9", "//1.2.3.4")
}

// secretWord keeps the words that no ordinary program compares with.
func secretWord(m *match) (Severity, bool) {
	text := m.text()
	open := strings.IndexAny(text, `"'`)
	word, _, _ := strings.Cut(text[open+1:], text[open:open+1])
	upper, odd := 0, 0
	for i := range len(word) {
		switch b := word[i]; {
		case 'A' <= b && b <= 'Z':
			upper++
		case b != '_' && !('a' <= b && b <= 'z'):
			odd++
		}
	}
	return m.rule.severity, (upper >= 4 || odd >= 2) && !strings.HasPrefix(word, "--") && !strings.HasPrefix(word, "__")
}
