package safety

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
}
