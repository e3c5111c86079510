package safety

import (
	"regexp"
	"sync"
)

const (
	// catchers are hosts whose one purpose is to show what was sent to them.
	catchers = `(?:webhook\.site|requestbin\.(?:com|net)|[\w-]+\.(?:m\.)?pipedream\.net|requestcatcher\.com|[\w-]+\.requestcatcher\.com|interact\.sh|oast\.(?:pro|live|site|online|fun|me)|burpcollaborator\.net|[\w-]+\.beeceptor\.com|hookbin\.com|dnslog\.cn|hookdeck\.com|webhook\.cool|requestinspector\.com|typedwebhook\.tools)`
	// tunnels and drops lead to a machine or a file that nobody has to answer for.
	tunnels = `(?:[\w-]+\.ngrok(?:-free)?\.(?:io|app|dev)|[\w-]+\.loca\.lt|[\w-]+\.serveo\.net|[\w-]+\.trycloudflare\.com|transfer\.sh|file\.io|0x0\.st|bashupload\.com|temp\.sh|gofile\.io|termbin\.com|paste\.rs|ix\.io|sprunge\.us|pastebin\.com/api|oshi\.at|catbox\.moe)`
	// foreign are files with the secrets of other programs.
	foreign  = `(?:\.ssh/(?:id_\w+|\*|config|identity)|\.ssh/?(?:["'\s)]|$)|\.aws/credentials|\.aws/?(?:["'\s)]|$)|\.gnupg|\.kube/config|\.docker/config\.json|\.netrc|\.pgpass|\.my\.cnf|\.git-credentials|\.npmrc|\.pypirc|application_default_credentials|gcloud/credentials|\.azure/|/etc/shadow|/etc/passwd|\.bash_history|\.zsh_history|\.password-store|Login Data|logins\.json|key4\.db|cookies\.sqlite|wallet\.dat|auth-profiles\.json|\.claude/\.credentials|gh/hosts\.yml|\.clawdbot/\.env|\.openclaw/\.env|\.clawdbot/credentials|\.openclaw/credentials|keychain-db|login\.keychain)`
	secretly = `(?:api[ _-]?keys?|credentials?|secrets?|passwords?|private[ _-]keys?|ssh[ _-]keys?|(?:access|auth\w*|bearer|session|api|bot|oauth)[ _-]tokens?|environment variables?|env(?:ironment)?[ _]vars?|\.env\b|seed phrases?|recovery phrases?|mnemonics?|(?:session|browser|auth\w*) cookies?|key ?chain|\w*_(?:API_)?(?:KEY|TOKEN|SECRET)\b)`
	personal = `(?:conversation|chat (?:history|logs?)|user(?:'s)? (?:messages?|prompts?|data|files?|inputs?|quer(?:y|ies))|session (?:data|transcripts?|logs?)|memory files?|MEMORY\.md|SOUL\.md|USER\.md|clipboard|browsing history|full context|system prompt|message history|transcripts?|source code|file contents?|document contents?)`
	sendVerb = `(?:send(?:s|ing)?|upload(?:s|ing)?|post(?:s|ing)?|forward(?:s|ing)?|transmit(?:s|ting)?|submit(?:s|ting)?|shar(?:e|es|ing)|exfiltrat(?:e|es|ing)|deliver|e-?mail|leak|relay|beacon|report|output)`
	awayTo   = `(?:https?://|\bwebhook|\bendpoints?\b|\b(?:remote|external|our|logging|analytics|telemetry|collection|verification|backup) (?:\w+ )?(?:server|service|host|url|address|site|api)\b|\bserver at\b|[\w.-]+@[\w-]+\.\w+|\btelegram\b|\bdiscord\b)`
)

// exfilRules find data that leaves the machine where it should not.
var exfilRules = []rule{
	{
		id: "request-catcher", flag: FlagExfiltration, severity: Medium, docs: true, check: sentInCode,
		lits: []string{"webhook.site", "requestbin", "pipedream.net", "requestcatcher", "interact.sh", "oast.", "burpcollaborator", "beeceptor", "hookbin", "dnslog.cn", "hookdeck", "webhook.cool", "requestinspector", "typedwebhook"},
		back: 80, ahead: 80,
		expr:    `(?:https?://)?\b` + catchers + `(?:/[\w-]+)?`,
		message: "talks to a host that collects whatever is sent to it",
	},
	{
		id: "tunnel-or-drop", flag: FlagExfiltration, severity: Medium, docs: true, check: sentOnLine,
		lits: []string{"ngrok", "loca.lt", "serveo.net", "trycloudflare", "transfer.sh", "file.io", "0x0.st", "bashupload", "temp.sh", "gofile.io", "termbin.com", "paste.rs", "ix.io", "sprunge.us", "pastebin.com/api", "oshi.at", "catbox.moe"},
		back: 80, ahead: 80,
		expr:    `(?:https?://|\bnc\s+|@|\s)` + tunnels + `\b`,
		message: "talks to a tunnel or an anonymous file drop",
	},
	{
		id: "chat-webhook", flag: FlagExfiltration, severity: High,
		lits: []string{"/api/webhooks/", "api.telegram.org/bot", "hooks.slack.com/services/"},
		back: 20, ahead: 120, check: notSample,
		expr:    `discord(?:app)?\.com/api/webhooks/\d{15,}/[\w-]{30,}|api\.telegram\.org/bot\d{6,}:[\w-]{30,}|hooks\.slack\.com/services/T\w{7,}/B\w{7,}/\w{20,}`,
		message: "carries a chat channel of its author to send to",
	},
	{
		id: "secret-file-sent", flag: FlagExfiltration, severity: Critical, docs: true, check: sentAway,
		lits: []string{".ssh", ".aws", ".gnupg", ".kube/", ".docker/", ".netrc", ".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc", "application_default", "gcloud/cred", ".azure/", "/etc/shadow", "/etc/passwd", "_history", "login data", "logins.json", "key4.db", "cookies.sqlite", "wallet.dat", "auth-profiles", ".credentials", ".clawdbot/", ".openclaw/", "keychain", ".password-store", "gh/hosts.yml", ".env"},
		also: []string{"curl", "wget", "nc ", "ncat", "socat", "netcat", "invoke-", "scp ", "iwr ", "irm ", "s_client"},
		back: 2, ahead: 40, reach: 300,
		expr:    foreign + `|\.env\b|\.(?:openclaw|clawdbot|moltbot)/`,
		message: "sends a file of secrets away",
	},
	{
		id: "environment-sent", flag: FlagExfiltration, severity: Critical, docs: true,
		lits: []string{"printenv", "env |", "env|", "(env)", "$(env", "`env", "set |", "export -p", "get-childitem env:", "gci env:"},
		also: []string{"curl", "wget", "nc ", "ncat", "invoke-", "irm ", "iwr "},
		back: 300, ahead: 240,
		expr: `\b(?:printenv|env|set|export\s+-p|get-childitem\s+env:|gci\s+env:)\s*\|[^\n]*?\b(?:curl|wget|nc|ncat|invoke-\w+|irm|iwr)\b` +
			`|\b(?:curl|wget|nc|invoke-\w+|irm|iwr)\b[^\n]*?(?:\$\(|\x60)\s*(?:printenv|env|set|export\s+-p)\s*(?:\||\)|\x60)`,
		message: "sends the environment, with the keys in it, away",
	},
	{
		id: "key-in-body", flag: FlagExfiltration, severity: High, docs: true, check: ownProvider,
		lits: []string{"openai_api_key", "anthropic_api_key", "aws_secret", "aws_access", "github_token", "gh_token", "npm_token", "openrouter_api_key", "gemini_api_key", "clawdbot_", "openclaw_", "private_key", "ssh_private"},
		also: []string{"curl", "wget"},
		back: 300, ahead: 60,
		expr:    `\b(?:curl|wget)\b[^\n]*?\s(?:-d|--data(?:-\w+)?|-F|--form|--post-data)[ =][^\n]*?\$\{?(?:OPENAI_API|ANTHROPIC_API|AWS_SECRET|AWS_ACCESS|GITHUB|GH|NPM|OPENROUTER_API|GEMINI_API|CLAWDBOT|OPENCLAW|PRIVATE|SSH_PRIVATE)_\w*`,
		message: "sends a key in the body of a request, where a service that it is for does not expect it",
	},
	{
		id: "machine-sent", flag: FlagExfiltration, severity: Medium, docs: true, place: inCode,
		lits: []string{"$(whoami", "$(hostname", "$(id)", "$(uname", "$(ifconfig", "$(ip a", "os.gethostname", "$(ls "}, before: []string{"curl", "wget"},
		back: 240, ahead: 20,
		expr:    `\b(?:curl|wget)\s[^\n]*\$\((?:whoami|hostname|id\)|uname|ifconfig|ip a|ls )`,
		message: "tells somebody which machine and user it runs on",
	},
	{
		id: "key-in-body", flag: FlagExfiltration, severity: High, docs: true, place: inBlock, check: notOAuth,
		lits: []string{"process.env", "os.environ", "os.getenv", "env["},
		also: []string{"body", "data", "json", "params", "send(", "write("},
		back: 120, ahead: 60,
		expr:    `\b(?:body|data|json|payload|params)\s*[:=][^\n]*?(?:process\.env\.\w*|os\.(?:environ|getenv)\W{1,6}\w*)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PRIVATE)\w*|\b(?:req|request|sock\w*|client|conn\w*|s|ws)\.(?:write|send|sendall)\(\s*(?:JSON\.stringify\(\s*)?(?:process\.env|os\.environ)\W`,
		message: "sends a key in the body of a request, where a service that it is for does not expect it",
	},
	{
		id: "dns-exfiltration", flag: FlagExfiltration, severity: Critical, docs: true,
		lits: []string{"dig ", "nslookup", "host ", "ping ", "drill ", "gethostbyname", "getaddrinfo", "dns.lookup", "dns.resolve", "resolve-dnsname"},
		also: []string{"$(", "${", " $", "`whoami", "`cat", "`hostname", "`id", "`env", "`base64", "f\"", "f'", "+ \"", "+ '", "+\"", "+'"},
		back: 2, ahead: 200, check: dnsSeverity,
		expr: `(?:^|[\s;&|(\x60])(?:dig|nslookup|host|ping|drill|resolve-dnsname)\s[^\n]*?(?:\$\([^\n]+?\)|\x60[^\x60\n]+\x60|\$\{?\w+\}?)\.[a-z0-9-]+(?:\.[\w-]+)*\.?[a-z]{2,}` +
			`|\b(?:gethostbyname|getaddrinfo)\(\s*(?:f["'][^"'\n]*\{[^}\n]+\}[\w.-]*\.[\w.-]+["']|[\w.\[\]()]+\s*\+\s*["']\.[\w.-]+)` +
			`|\bdns\.(?:lookup|resolve\w*)\(\s*\x60[^\x60\n]*\$\{[^}\n]+\}\.[\w.-]+`,
		message: "puts data into names that it looks up: a way out past firewalls",
	},
	{
		id: "image-exfiltration", flag: FlagExfiltration, severity: High, docs: true,
		lits: []string{"](http", "]( http", "src=\"http", "src='http"}, before: []string{"![", "<img"},
		back: 80, ahead: 320,
		expr:    `!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]*[?&=/](?:\{\{?|<|\$\{?|%7b|\[)[^)\s]{0,30}(?:data|secret|key|token|conversation|history|context|env|content|summary|message|prompt|password|base64|user_|encoded|answer)|<img\b[^>\n]*src\s*=\s*["']?https?://[^"'\n>]*[?&=/](?:\{\{?|\$\{?|%7b|\[)[^"'\n>]{0,30}(?:data|secret|key|token|conversation|history|context|env|content|summary|message|prompt|password|base64|answer)`,
		message: "hides data of the conversation in the address of an image",
	},
	{
		id: "asks-to-send-secrets", flag: FlagExfiltration, severity: High, docs: true, check: secretsSent,
		lits:   []string{"api key", "api_key", "api-key", "apikey", "credential", "secret", "password", "private key", "ssh key", "token", "environment var", "env var", ".env", "seed phrase", "recovery phrase", "mnemonic", "cookie", "keychain", "_key", "_secret"},
		before: []string{"send", "upload", "post", "forward", "transmit", "submit", "shar", "exfiltrat", "deliver", "email", "e-mail", "leak", "relay", "beacon", "report", "output"},
		after:  []string{"https://", "http://", "webhook", "endpoint", "telegram", "discord", "server at", "remote", "external", " our ", "analytics", "telemetry", "collection ", "verification ", "backup ", "logging ", "@gmail", "@proton", "@example", "@mail", "@outlook", "@evil", "@attacker"},
		back:   110, ahead: 160,
		expr:    `\b` + sendVerb + `\b[^.\n|]*?\b` + secretly + `[^\n|]*?\b(?:to|at|via|using|with|through|into)\b[^.\n|]*?` + awayTo,
		message: "asks to send keys, passwords or the environment somewhere",
	},
	{
		id: "asks-to-send-secrets", flag: FlagExfiltration, severity: High, docs: true, check: secretsSent,
		lits:  []string{"be sent", "be uploaded", "be posted", "be forwarded", "be transmitted", "be submitted", "be shared", "be reported", "be included in"},
		after: []string{"https://", "http://", "webhook", "endpoint", "server"},
		back:  160, ahead: 120,
		expr:    secretly + `[^\n|]*?\b(?:should|must|will|shall|needs? to|are to|is to|has to|have to)\s+be\s+(?:sent|uploaded|posted|forwarded|transmitted|submitted|shared|reported|included)\b[^.\n|]*?\b(?:to|with|at|in)\b[^.\n|]*?` + awayTo,
		message: "asks to send keys, passwords or the environment somewhere",
	},
	{
		id: "asks-to-send-data", flag: FlagExfiltration, severity: Medium, docs: true, check: notForbidden,
		lits:   []string{"conversation", "chat history", "chat log", "user data", "user's data", "user message", "user's message", "user prompt", "user input", "user file", "user's file", "user quer", "user's quer", "user's input", "session data", "session transcript", "session log", "memory file", "memory.md", "soul.md", "user.md", "clipboard", "browsing history", "full context", "system prompt", "message history", "transcript", "source code", "file content", "document content"},
		after:  []string{"https://", "http://"},
		before: []string{"send", "upload", "post", "forward", "transmit", "submit", "shar", "exfiltrat", "deliver", "email", "e-mail", "leak", "relay", "beacon", "report", "output"},
		back:   120, ahead: 200,
		expr:    `\b` + sendVerb + `\b[^.\n|]*?\b` + personal + `[^\n|]*?\b(?:to|at)\b[^.\n|]{0,30}?https?://[^\s\x60)"']+`,
		message: "asks to send the conversation or the user's data somewhere",
	},
	{
		id: "collects-secrets", late: true, check: notForbidden,
		lits: []string{"api key", "api_key", "credential", "secret", "password", "private key", "ssh key", "token", "environment var", "env var", "auth-profiles", ".env", "seed phrase", "mnemonic", "cookie"},
		back: 100, ahead: 40,
		expr:    `\b(?:gather|collect|list|compile|read|check|harvest|extract|scan|find|search|locate|look|include|grab|retrieve|dump|document|enumerate|print|output|show|display|log|export|capture|copy)(?:s|ing)?\b[^.\n]*?\b(?:all|any|available|current|every|your|existing|stored|the user'?s|environment)\b[^.\n]{0,50}?(?:` + secretly + `|auth-profiles)`,
		message: "collects secrets",
	},
	{
		id: "sends-result", check: notForbidden,
		lits: []string{"send it", "send them", "send this", "send these", "send the", "send everything", "send all", "post it", "post them", "post this", "post these", "post the", "post everything",
			"submit it", "submit them", "submit this", "submit these", "submit the", "upload it", "upload them", "upload this", "upload these", "upload the", "upload everything", "share it", "share them", "share this", "share these", "share the",
			"forward it", "forward them", "forward this", "forward these", "forward the", "transmit it", "transmit them", "transmit the", "transmit this"},
		back: 2, ahead: 140,
		expr:    `\b(?:send|post|submit|upload|share|forward|transmit)\s+(?:it|them|this|these|the (?:report|results?|output|data|findings|list|collected|file|summary|archive)|everything|all)\b[^.\n]*?(?:to|at|with)\b[^.\n]{0,40}?(?:https?://|endpoint)`,
		message: "sends a result away",
	},
}

// sending matches a command line that hands a file of secrets to the network.
var sending = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + foreign + `[^\n]*?\|[^\n]*?\b(?:curl|wget|nc|ncat|netcat|socat|openssl\s+s_client)\b` +
		`|(?:\b|\\[nt])(?:curl|wget|invoke-\w+|iwr|irm)\b[^\n]*?(?:@["']?|\$\([^\n)]*?(?:\bcat|\bbase64|<|\btar|\bhead|\bgzip)[^\n)]*?|\x60(?:cat|base64)[^\n]*?|\s(?:-T|--upload-file|--post-file)[ =]["']?|-infile\s+["']?)[^\s\n'"]*` + foreign +
		`|\bcurl\b[^\n]*?\$\(\s*(?:cat|base64)\s+\S*\.(?:openclaw|clawdbot|moltbot)/[\w./-]*\s*\)` +
		`|(?:\b|\\[nt])(?:curl|wget)\b[^\n]*?(?:=@|\s@|"@|'@|\s-T\s|--upload-file[ =]|--post-file[ =])["']?[^\s\n'"]*\.env\b` +
		`|\b(?:cat|base64)\s+\S*\.(?:openclaw|clawdbot|moltbot)/\S*\s*\|\s*(?:base64[^|\n]*\|\s*)?(?:curl|nc|ncat|wget)\b` +
		`|(?:\b|\\[nt])(?:curl|wget)\b[^\n]*?(?:=@|\s@|"@|'@|\s-T\s)["']?\S*\.(?:openclaw|clawdbot|moltbot)/` +
		`|\b(?:cat|base64)\s[^\n|]*\.env\b[^\n]*\|[^\n]*\b(?:curl|nc|ncat|wget)\s` +
		`|\b(?:nc|ncat|netcat)\s[^\n]*<\s*\S{0,60}` + foreign +
		`|\bscp\s+(?:-\w\s+)*(?:-r\s+)?\S{0,40}` + foreign + `\S*\s+\S+@\S+:`)
})

// sentAway looks at the whole command line around the name of such a file.
func sentAway(m *match) (Severity, bool) {
	line := m.line(400)
	return m.rule.severity, containsAny(lower(line), "curl", "wget", "nc ", "ncat", "netcat", "socat", "invoke-", "iwr ", "irm ", "scp ", "s_client") && sending().MatchString(line)
}
