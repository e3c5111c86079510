package safety

// guiseRules find the same attacks as other tables in another guise: words that
// only hint at an order, and programs that write a known trick differently.
var guiseRules = []rule{
	{
		id: "runs-fetched-text", flag: FlagExecution, severity: Critical, docs: true, place: inCode,
		lits:    []string{"new function('require'", `new function("require"`},
		ahead:   40,
		expr:    `new Function\s*\(\s*['"]require['"]\s*,`,
		message: "runs what it fetches from the network",
	},
	{
		id: "runs-decoded-text", flag: FlagObfuscation, severity: Critical, docs: true, place: inCode,
		lits: []string{"exec(", "eval("}, before: []string{"__import__('base64", "__import__('zlib", "__import__('marshal", `__import__("base64`, `__import__("zlib`, `__import__("marshal`},
		back: 240, ahead: 4,
		expr:    `__import__\(\s*["'](?:base64|zlib|marshal)["']\)[^\n]*\b(?:exec|eval)\s*\(`,
		message: "decodes a text and runs it as a program",
	},
	{
		id: "reverse-shell-program", flag: FlagExecution, severity: Critical, docs: true, place: inCode,
		lits: []string{".pipe("}, before: []string{"socket(", "require('net')", `require("net")`, "net.connect", "createconnection"},
		back: 400, ahead: 10,
		expr:    `(?:socket\(|require\(\s*["']net["']|createconnection)(?s:.{0,260}?)spawn\w*\(\s*["'](?:/bin/)?(?:(?:ba|z)?sh|cmd(?:\.exe)?|powershell)["'](?s:.{0,120}?)\.pipe\(`,
		message: "opens a shell to a remote machine",
	},
	{
		id: "home-removed", flag: FlagDestructive, severity: Critical, docs: true, place: inCode,
		lits: []string{"rmtree(", "rmsync(", "rimraf("}, before: []string{"path.home()", "expanduser(", "homedir()"},
		back: 200, ahead: 30,
		expr:    `(?:path\.home\(\)\.(?:iterdir|glob)|os\.(?:listdir|scandir)\(\s*os\.path\.expanduser\(\s*["']~/?["'])(?s:.{0,160}?)(?:rmtree|rmsync|rimraf)\(|(?:rmtree|rmsync|rimraf)\(\s*(?:path\.home\(\)|os\.path\.expanduser\(\s*["']~/?["']\)|os\.homedir\(\))\s*[,)]`,
		message: "deletes the user's home folder",
	},
	{
		id: "key-in-address", flag: FlagExfiltration, severity: Critical, docs: true, place: inCode, check: ownProvider,
		lits: []string{"openai_api_key", "anthropic_api_key", "aws_secret", "aws_access", "github_token", "gh_token", "npm_token", "openrouter_api_key"}, before: []string{"https://", "http://"},
		back: 260, ahead: 2,
		expr:    `https?://[^\s"']*(?:\$\([^)\n]*\)[^\s"']*)*[?&]\w+=\$\{?(?:OPENAI_API|ANTHROPIC_API|AWS_SECRET|AWS_ACCESS|GITHUB|GH|NPM|OPENROUTER_API)_\w*`,
		message: "puts a key into an address, where a service that it is for does not expect it",
	},
	{
		id: "archive-password", flag: FlagExecution, severity: High, docs: true,
		lits: []string{"(code", "(key", "(pin", "(pw"}, before: []string{".zip", ".rar", ".7z", "unzip", "extract", "unpack"},
		back: 80, ahead: 30,
		expr:    `(?:unzip|extract|unpack|\.zip|\.rar|\.7z)\b[^\n]{0,40}\((?:code|key|pin|pw)[\s:=\x60]{1,4}[\w!@-]{3,16}\x60?\)`,
		message: "gives the password of an archive: virus scanners cannot look into it",
	},
	{
		id: "orders-void", flag: FlagInjection, severity: High, docs: true,
		lits: []string{"no longer apply", "do not apply", "are outdated", "are obsolete", "are void", "are suspended", "are lifted", "you answer to", "you report to", "you obey", "your loyalty"},
		back: 120, ahead: 30,
		expr:    `\b(?:earlier|previous|prior|existing|security|safety|system|your|original)\b[^.\n]{0,20}?\b(?:rules|guidelines|instructions|restrictions|policies|safeguards)\b[^.\n]{0,40}?\b(?:no longer apply|do not apply|are (?:now )?(?:outdated|obsolete|void|suspended|lifted))|\b(?:from (?:this point|now|here)(?: on)?|henceforth)\b[^.\n]{0,20}?\b(?:you (?:answer|report|obey|are loyal)|your loyalty)\b`,
		message: "declares the rules of the model void",
	},
	{
		id: "obeys-foreign-text", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"tells you", "tells the", "says to", "asks you to", "instructs you", "it says", "orders you"}, before: []string{"do everything", "do whatever", "do exactly", "follow everything", "follow whatever", "execute everything", "execute whatever", "carry out", "do all"},
		back: 80, ahead: 10,
		expr:    `\b(?:do|follow|execute|carry out|obey)\s+(?:everything|whatever|exactly what|all)\b[^.\n]{0,30}?\b(?:file|page|document|response|server|site|text|url|it)\b[^.\n]{0,10}?\b(?:tells|says|asks|instructs|orders)`,
		message: "tells the model to obey text that somebody else controls",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits:    []string{"not be bothered", "not be troubled", "n't be bothered", "declined silently", "refused silently", "不需要告诉", "不需要告知", "不需要通知"},
		back:    60,
		ahead:   20,
		expr:    `\b(?:users?|humans?|owners?)\b[^.\n]{0,20}?(?:not|n't) be (?:bothered|troubled) with|\b(?:declined|refused) silently|不需要(?:告诉|告知|通知)用户`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "asks-to-change-memory", flag: FlagPersistence, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"long-term memory", "permanent memory", "persistent memory"},
		back: 80, ahead: 240,
		expr:    `\b(?:save|store|add|write|keep|put)\b[^.\n]{0,40}?\b(?:long-term|permanent|persistent) memory\b[^\n]{0,140}?(?:https?://|\bverified\b|\btrusted\b|\bapprov|do not remove|never remove)`,
		message: "asks to change the instructions that the agent lives by",
	},
	{
		id: "approvals-removed", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"bypasspermissions", "bash(*)", "acceptall"}, before: []string{"settings.json", "settings.local.json"},
		back: 240, ahead: 4,
		expr:    `\b(?:write|add|put|set|save|change|merge)\b[^\n]{0,80}settings(?:\.local)?\.json[^\n]{0,160}(?:bypasspermissions|bash\(\*\)|acceptall)`,
		message: "has the questions switched off that an agent asks before it acts",
	},
	{
		id: "order-to-copy", flag: FlagExfiltration, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"social security", "date of birth", "card number", "password", "income", "conversation", "medical"}, before: []string{"request to", "post to"},
		back: 200, ahead: 4,
		expr:    `\b(?:make|send|issue|perform)\b[^.\n]{0,40}?\b(?:request|post) to\b\s*\S*https?://[^\n]{0,140}?\b(?:social security|date of birth|card number|password|income|conversation|medical)`,
		message: "asks to send a copy of the user's data to somebody else",
	},
	{
		id: "names-redirected", flag: FlagExecution, severity: High, docs: true, place: inCode,
		lits: []string{"/etc/hosts", `drivers\etc\hosts`}, also: []string{"github.com", "pypi.org", "npmjs.org", "anthropic.com", "openai.com", "google.com", "bank"},
		back: 160, ahead: 20,
		expr:    `\d\s+[^\n>|]*(?:github\.com|pypi\.org|npmjs\.org|anthropic\.com|openai\.com|google\.com|bank)[^\n]*(?:>>|\btee\b)[^\n]*etc[/\\]hosts`,
		message: "leads the names of well-known hosts to another machine",
	},
	{
		id: "package-from-url", flag: FlagExecution, severity: Medium, docs: true, place: inCode, check: strangeIndex,
		lits: []string{"index-url"}, before: []string{"pip install", "pip3 install", "uv pip"},
		back: 160, ahead: 80,
		expr:    `\b(?:pip3?|uv pip)\s+install\b[^\n]*?--(?:extra-)?index-url[ =]["']?https://\S+`,
		message: "installs a package from an address of its own choosing",
	},
}

// strangeIndex drops the indexes that projects are known to publish to.
func strangeIndex(m *match) (Severity, bool) {
	return m.rule.severity, !containsAny(lower(m.text()), "pypi.org", "pytorch.org", "nvidia.com", "googleapis.com", "pkg.dev", "gitlab.com", "github", "azure.com", "amazonaws.com", "tuna.tsinghua", "aliyun.com", "ustc.edu", "jfrog.io", "cloudsmith", "huggingface", "$", "<", "your")
}
