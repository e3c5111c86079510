package safety

import "strings"

// remoteRules find programs that take their orders from another machine, and
// further ways in which one is handed what it should not have.
var remoteRules = []rule{
	{
		id: "browser-passwords", flag: FlagCredentials, severity: Critical, docs: true, place: inCode,
		lits:    []string{"password_value", "cryptunprotectdata", "encrypted_value"},
		back:    120,
		ahead:   40,
		expr:    `\bselect\b[^\n]*\b(?:password_value|encrypted_value)|cryptunprotectdata\s*\(`,
		message: "decrypts the passwords or cookies of a browser",
	},
	{
		id: "capture-piped", flag: FlagExfiltration, severity: Critical, docs: true, place: inCode,
		lits: []string{"pbpaste", "xclip", "xsel", "wl-paste", "get-clipboard", "screencapture", "arecord"}, after: []string{"curl", "nc ", "ncat", "wget", "invoke-"},
		back: 2, ahead: 160,
		expr:    `(?:\bpbpaste|\bxclip|\bxsel|\bwl-paste|\bget-clipboard|\bscreencapture|\barecord)\b[^\n|]*\|[^\n]*?\b(?:curl|nc|ncat|wget|invoke-\w+)\b`,
		message: "sends the clipboard, the screen or the microphone away",
	},
	{
		id: "dns-carries-file", flag: FlagExfiltration, severity: Critical, docs: true, place: inCode,
		lits: []string{"dig ", "nslookup ", "host ", "ping ", "drill "}, before: []string{"xxd", "base64", "hexdump", "fold ", "base32", "od -"},
		back: 300, ahead: 120,
		expr:    `\b(?:xxd|base64|base32|hexdump|fold|od\s+-)\b[^\n]*(?:\n[^\n]*){0,4}?\b(?:dig|nslookup|host|ping|drill)\s[^\n]*?\$\{?\w+\}?["']?\.[\w$\{-]`,
		message: "looks up names that carry a file, piece by piece",
	},
	{
		id: "instance-credentials", flag: FlagCredentials, severity: High, docs: true, place: inCode,
		lits:    []string{"iam/security-credentials", "service-accounts/default/token", "metadata/identity/oauth2/token"},
		ahead:   2,
		expr:    `iam/security-credentials|service-accounts/default/token|metadata/identity/oauth2/token`,
		message: "takes the credentials of the machine from the cloud's metadata service",
	},
	{
		id: "runs-fetched-text", flag: FlagExecution, severity: Critical, docs: true, place: inCode,
		lits: []string{"requests.get", "urlopen", "httpx.get", "fetch(", "axios.get"}, before: []string{"subprocess", "os.system", "os.popen", "execsync", "pickle.load", "marshal.load", "dill.load", "cloudpickle"},
		back: 80, ahead: 10,
		expr:    `(?:\bsubprocess\.\w+|\bos\.(?:system|popen)|\bexecSync|\b(?:cloud)?pickle\.loads?|\bmarshal\.loads|\bdill\.loads?)\s*\([^\n;#"']{0,40}?(?:requests\.get|urlopen|httpx\.get|\bfetch\s*\(|axios\.get)`,
		message: "runs what it fetches from the network",
	},
	{
		id: "network-orders", flag: FlagExecution, severity: Critical, docs: true, place: inCode,
		lits:   []string{"shell=true", "shell = true", "os.popen", "os.system", "execsync(", "exec(", "eval", "sh -c", "popen(", "| sh", "| bash", "iex "},
		before: []string{"while true", "while 1", "while :", "setinterval", "for (;;)", "while (true", "while(true", "while ($true", "loop do"},
		back:   700, ahead: 60,
		expr:    `(?:while\s*\(?\s*(?:\$?true|1|:)|setinterval\s*\(|for\s*\(;;\)|\bloop do)(?s:.{0,500}?)(?:requests\.get\s*\(|\burlopen\s*\(|\bfetch\s*\(|axios\.get|https?\.get|\bcurl\s|\.recv\(|\birm\s)(?s:.{0,500}?)(?:subprocess\.\w+\([^\n]{0,100}shell\s*=\s*true|os\.popen\(|os\.system\(\s*[a-z_]|\bexec(?:sync)?\(\s*[a-z_]|\beval[\s(]+["']?[$a-z_]|\bsh -c\s+["']?\$|\|\s*(?:ba)?sh\b|\biex\s+\$)`,
		message: "waits in a loop for commands of another machine",
	},
	{
		id: "instructions-replaced", flag: FlagPersistence, severity: Medium, docs: true, place: inCode, check: notForbidden,
		lits: []string{"skill.md", "agents.md", "claude.md", ".cursorrules"}, before: []string{"curl", "wget"},
		back: 200, ahead: 4,
		expr:    `\b(?:curl|wget)\s[^\n]*https?://[^\n]*(?:>|-o|-O|--output)\s*["']?\S*(?:SKILL|AGENTS|CLAUDE)\.md|\b(?:curl|wget)\s[^\n]*https?://[^\n]*(?:>|-o|-O|--output)\s*["']?\S*\.cursorrules`,
		message: "replaces the agent's instructions by what an address returns",
	},
	{
		id: "approvals-off", flag: FlagInjection, severity: Medium, docs: true,
		lits:    []string{"exec.security", "permission-mode", "alwaysallow", "autoapprove", "auto_approve", "defaultmode", "exec-policy", "approval-policy", "approval_policy", "full-auto"},
		ahead:   60,
		expr:    `exec\.security["']?\s*[:= ]\s*["']?full|permission-mode["']?[= ]["']?bypass\w*|"?defaultmode"?\s*:\s*"(?:bypass\w*|acceptall)"|auto_?approve\w*["']?\s*[:=]\s*(?:true|\[?["']\*)|alwaysallow["']?\s*[:=]\s*(?:true|\[?\s*["']\*)|approval[-_]policy["']?\s*[:= ]\s*["']?never`,
		message: "switches off the questions that an agent asks before it acts",
	},
	{
		id: "secret-file-shared", flag: FlagExfiltration, severity: High, docs: true, place: inCode, check: notIdentity,
		lits:   []string{".ssh", ".aws", ".env", ".openclaw", ".clawdbot", ".netrc", ".npmrc", ".kube", ".gnupg", "id_rsa", ".git-credentials"},
		before: []string{"gist", "s3 cp", "s3 sync", "gsutil", "rclone", "rsync", "scp ", "croc ", "wormhole"},
		back:   160, ahead: 80,
		expr:    `\b(?:gh\s+gist\s+create|aws\s+s3\s+(?:cp|sync|mv)|gsutil\s+(?:cp|rsync)|rclone\s+(?:copy|sync)|rsync|scp|croc\s+send|wormhole\s+send)\s[^\n]*?(?:\.ssh/|\.aws\b|\.env\b|\.(?:openclaw|clawdbot)/|\.netrc|\.npmrc|\.kube/|\.gnupg|\bid_rsa|\.git-credentials)[^\n]*`,
		message: "puts a file of secrets where others can read it",
	},
	{
		id: "repository-sent", flag: FlagExfiltration, severity: Medium, docs: true, place: inCode, check: otherHost,
		lits: []string{"git push"}, before: []string{"git remote add", "git remote set-url"},
		back: 260, ahead: 60,
		expr:    `\bgit remote (?:add|set-url)\s+\S+\s+\S*://[^\n]*\n(?:[^\n]*\n){0,3}?[^\n]*\bgit push\b[^\n]*--(?:mirror|all)\b`,
		message: "sends the whole repository to another host",
	},
	{
		id: "sends", late: true,
		lits:    []string{"ureq::", "reqwest::", ".post(\"http", ".post('http", ".post(`http", "postasync(", "bodypublishers", "urlsession", "curl_setopt", "uploadstring(", "uploadfile("},
		ahead:   40,
		expr:    `\bureq::(?:post|put)|\breqwest::|\.post\(["'\x60]http|postasync\(|bodypublishers\.|urlsession\.shared\.(?:upload|data)|curl_setopt\([^\n]*postfields|\.upload(?:string|file)\(`,
		message: "sends data",
	},
	{
		id: "personal-store", flag: FlagCredentials, severity: Medium, docs: true, place: inCode,
		lits:    []string{"tell application", "chat.db", "notestore.sqlite", ".abcddb", "telegram desktop/tdata", "signal/config.json", "leveldb"},
		back:    60,
		ahead:   120,
		expr:    `tell application \W*(?:notes|messages|mail|contacts)\b[^\n]*\bevery\b|messages/chat\.db|notestore\.sqlite|\.abcddb|telegram desktop/tdata|signal/config\.json|discord[^\n]{0,30}leveldb`,
		message: "reads the messages, notes or contacts of other programs",
	},
	{
		id: "browser-data", flag: FlagCredentials, severity: High, docs: true, place: inCode,
		lits: []string{"google-chrome", "chrome/user data", "chrome/default", "application support/google", "user-data-dir"}, before: []string{"persistentcontext", "persistent_context", "user-data-dir", "userdatadir"},
		back: 160, ahead: 20,
		expr:    `(?:launchpersistentcontext|launch_persistent_context|user-?data-?dir)\b[^\n]{0,120}?(?:\.config/google-chrome|chrome/user data|application support/google/chrome)`,
		message: "reads passwords or cookies of a browser",
	},
	{
		id: "web-shell", flag: FlagExecution, severity: High, docs: true, place: inCode, check: inProgram,
		lits:    []string{"$_post", "$_get", "$_request", "$_cookie", "request.args", "request.form", "req.query", "req.body"},
		back:    60,
		ahead:   10,
		expr:    `\b(?:eval|assert|system|exec|shell_exec|passthru|popen|proc_open)\s*\(\s*(?:base64_decode\s*\(\s*)?\$_(?:post|get|request|cookie)\b|\b(?:os\.system|os\.popen|eval|exec|execSync)\s*\(\s*(?:request\.(?:args|form)|req\.(?:query|body))\b`,
		message: "runs whatever a request from the web says",
	},
	{
		id: "reverse-tunnel", flag: FlagExecution, severity: High, docs: true, place: inCode,
		lits: []string{":22 ", ":3389 ", ":5900 "}, before: []string{"ssh "},
		back: 160, ahead: 60,
		expr:    `ssh\s[^\n]*\s-\w*R\s*\S*:(?:localhost|127\.0\.0\.1):(?:22|3389|5900)\s`,
		message: "opens a way into the machine from outside",
	},
	{
		id: "program-in-picture", flag: FlagObfuscation, severity: Critical, docs: true,
		lits: []string{".png", ".jpg", ".jpeg", ".gif", ".ico", ".webp", ".ttf", ".woff", ".mp3"}, after: pipeSigns,
		back: 60, ahead: 200,
		expr:    `\b(?:tail|head|dd|strings|exiftool|sed|cut|xxd|unzip)\s[^\n|]*\.(?:png|jpe?g|gif|ico|webp|ttf|woff2?|mp3)\b[^\n]*?` + toShell,
		message: "runs a program that lies in a picture or a like file",
	},
	{
		id: "split-command", flag: FlagObfuscation, severity: High, docs: true, place: inCode,
		lits:    []string{"|$", "| $"},
		back:    160,
		ahead:   40,
		expr:    `(?:^|[\n;&])\s*(?:\$\w+|\$\{\w+\}){2,}\s[^\n|]*\|\s*(?:\$\w+|\$\{\w+\})`,
		message: "puts the names of its commands together from pieces",
	},
}

// inProgram raises what is not an example but a file that runs.
func inProgram(m *match) (Severity, bool) {
	if kindOf(Text{Path: m.path, Data: m.data}) == code {
		return Critical, true
	}
	return m.rule.severity, true
}

// notIdentity drops a key that only opens the connection.
func notIdentity(m *match) (Severity, bool) {
	words := strings.Fields(m.text())
	for i, w := range words {
		if w == "-i" && i+1 < len(words) {
			words[i+1] = ""
		}
	}
	rest, severity := strings.Join(words, " "), m.rule.severity
	if strings.Contains(rest, "--public") {
		severity = Critical
	}
	return severity, containsAny(lower(rest), ".ssh/", ".aws", ".env", ".openclaw/", ".clawdbot/", ".netrc", ".npmrc", ".kube/", ".gnupg", "id_rsa", ".git-credentials") &&
		!containsAny(lower(rest), "ssh -i", ".pub", ".env.example", ".env.sample")
}

// otherHost drops the hosts where repositories are at home.
func otherHost(m *match) (Severity, bool) {
	return m.rule.severity, !containsAny(lower(m.text()), "github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "dev.azure.com")
}
