package safety

// signRules are halves: nothing by themselves, something together.
var signRules = []rule{
	{
		id: "sends", late: true, check: notLocal,
		lits: []string{"requests.post", "requests.put", "httpx.post", "httpx.put", "session.post", "urlopen", "urllib.request", "http.client", "https.request", "http.request", "axios.post", "axios.put", "fetch(", "xmlhttprequest", "sendbeacon", "websocket", "smtplib", "ftplib", "paramiko", "aiohttp", ".sendall(", "create_connection", "net.connect", "createconnection", "curl ", "wget ", "nc ", "invoke-restmethod", "invoke-webrequest", "got.post", "http.post", "net.http", "socket.socket", "requests.request", "axios(", "gethostbyname", "requests.get", "dns."},
		back: 4, ahead: 260,
		expr: `\b(?:requests|httpx|session|client)\.(?:post|put|request)\s*\([^\n]*|\brequests\.get\s*\([^\n]*?(?:params\s*=|\{)[^\n]*|\burlopen\s*\([^\n]*|\burllib\.request\.Request\s*\([^\n]*|\bhttp\.client\.HTTPS?Connection\s*\([^\n]*|\bhttps?\.request\s*\([^\n]*|\baxios(?:\.(?:post|put))?\s*\([^\n]*|\bfetch\s*\([^\n]*(?:\n[^\n]*){0,3}?method\s*:\s*["'](?:POST|PUT)|\bfetch\s*\(\s*(?:\x60[^\x60\n]*\$\{|["'][^"'\n]*["']\s*\+)[^\n]*|new XMLHttpRequest|sendBeacon\s*\([^\n]*|new WebSocket\s*\([^\n]*|smtplib\.SMTP\w*\([^\n]*|ftplib\.FTP[^\n]*|\.sendall\s*\(|create_connection\s*\([^\n]*|net\.(?:connect|createConnection)\s*\([^\n]*|got\.post\s*\([^\n]*|aiohttp\.ClientSession|socket\.gethostbyname\([^\n]*` +
			`|\bcurl\s[^\n]*?(?:\s-d\b|\s--data|\s-F\b|\s--form|\s-T\b|--upload-file|-X\s*["']?(?:POST|PUT))[^\n]*|\bwget\s[^\n]*--post-(?:data|file)[^\n]*|\b(?:nc|ncat)\s+(?:-\w+\s+)*[\w.-]+\.\w+\s+\d+|invoke-(?:restmethod|webrequest)[^\n]*-method\s+["']?post[^\n]*`,
		message: "sends data",
	},
	{
		id:   "whole-environment",
		lits: []string{"os.environ", "process.env", "printenv", "env::vars", "system.getenv()", "getenv()", "$env:", "/proc/self/environ", "env |", "env >", "$_env"},
		back: 60, ahead: 80,
		expr:    `\bdict\(\s*os\.environ\s*\)|\bos\.environ\.(?:items|keys|values)\s*\(|\bjson\.dumps\(\s*(?:dict\(\s*)?os\.environ|\bin\s+os\.environ\b\s*[:\].}if]|(?:json|data|params|env|payload|body|environment)["']?\s*[:=]\s*(?:dict\(\s*|str\(\s*|\{\s*\*\*)?(?:os\.environ|process\.env)\b(?:\s*[,)}\n]|\.copy\(\))|JSON\.stringify\(\s*process\.env\s*[,)]|Object\.(?:entries|keys|values|assign)\(\s*(?:\{\}\s*,\s*)?process\.env\s*\)|\bin\s+process\.env\b|\bprintenv\b|/proc/self/environ|\benv\s*(?:\||>)|env::vars\(\)|get-childitem\s+env:`,
		message: "takes the whole environment",
	},
	{
		id: "key-names", place: inScript,
		lits: []string{"api_key", "secret", "token", "password"}, also: []string{"os.environ", "process.env"},
		back: 120, ahead: 80,
		expr:    `(?:["']\w{0,12}(?:API_?KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL)\w{0,10}["'][\s,\]|)]{1,4}){2,}|(?:["']\w*(?:KEY|TOKEN|SECRET|PASSW?O?R?D?)["']\s+in\s+\w+)|/[^/\n]*(?:key|token|secret|password)[^/\n]*/i?\.test\(`,
		message: "picks what looks like a key",
	},
	{
		id: "fetches", late: true,
		lits:  []string{"requests.get", "urlopen", "urlretrieve", "httpx.get", "fetch(", "axios.get", "https.get", "http.get", "curl", "wget", "downloadfile", "axios("},
		ahead: 60, place: inScript,
		expr:    `requests\.get\s*\(|\burlopen\s*\(|\burlretrieve\s*\(|httpx\.get\s*\(|\bfetch\s*\(|axios(?:\.get)?\s*\(|https?\.get\s*\(|\b(?:curl|wget)\s|downloadfile\s*\(`,
		message: "fetches something",
	},
	{
		id: "makes-executable", place: inScript,
		lits:    []string{"chmod", "s_iexec", "s_ixusr"},
		ahead:   80,
		expr:    `os\.chmod\s*\([^\n]*(?:0o?[57]\d\d|S_IEXEC|S_IXUSR|S_IRWXU)|chmodSync\s*\([^\n]*(?:0o?7|['"]?[57]\d\d)|\bchmod\s+(?:\+x|a\+x|u\+x|7\d\d)`,
		message: "makes a file executable",
	},
	{
		id: "runs-text", place: inScript,
		lits:    []string{"exec(", "eval(", "new function(", "vm.run", "execsync", "os.system", "subprocess", "compile(", "popen"},
		back:    2,
		ahead:   80,
		expr:    `(?:^|[^.\w])(?:exec|eval|new Function)\s*\(\s*[a-z_]|vm\.runIn\w+\s*\(|os\.system\s*\(\s*[a-z_]\w*\s*\)`,
		message: "runs a text",
	},
	{
		id: "runs-program", place: inScript, late: true,
		lits:    []string{"os.system", "subprocess", "execsync", "spawn(", "popen", "child_process", "exec(", "eval("},
		back:    2,
		ahead:   40,
		expr:    `os\.(?:system|popen)\s*\(|subprocess\.\w+\s*\(|\bexec(?:Sync|File|FileSync)?\s*\(|\bspawn\s*\(|(?:^|[^.\w])eval\s*\(`,
		message: "runs a program",
	},
	{
		id: "moves-money", late: true,
		lits: []string{"transfer", "send", "swap", "withdraw", "approve", "trade", "buy", "sell", "payment", "purchase"},
		also: []string{"wallet", "eth", "sol", "usdc", "usdt", "btc", "funds", "balance"},
		back: 2, ahead: 80,
		expr:    `\b(?:transfer|send|swap|withdraw|approve|pay|purchase|buy|sell)\b[^.\n]{0,40}?\b(?:all (?:the )?(?:funds|tokens|balance)|(?:entire|full|whole) (?:balance|wallet)|funds|ETH|SOL|BTC|USDC|USDT)\b`,
		message: "moves money",
	},
	{
		id: "captures-screen", place: inCode,
		lits:    []string{"screenshot", "screencapture", "imagegrab", "clipboard", "pbpaste", "pyperclip", "sounddevice", "arecord"},
		ahead:   30,
		expr:    `pyautogui\.screenshot|ImageGrab\.grab|\bscreencapture\s|pyperclip\.paste|\bpbpaste\b|clipboard\.read|sounddevice\.rec|mss\(\)`,
		message: "captures screen, clipboard or sound",
	},
}

// notLocal drops what stays on this machine.
func notLocal(m match) (Severity, bool) {
	text := lower(m.text())
	return "", !containsAny(text, "localhost", "127.0.0.1", "0.0.0.0", "[::1]", "192.168.")
}

// credentialRead are the rules that see a secret being read.
var credentialRead = []string{"ssh-key-read", "cloud-credentials-read", "secret-file-read", "secret-path", "browser-data", "keychain-dump", "wallet-read", "secret-search", "instance-metadata"}

// combinations are the rules over rules.
var combinations = []combination{
	{
		id: "secrets-sent", flag: FlagExfiltration, severity: Critical, docs: true, near: 500, folder: true,
		groups:  [][]string{credentialRead, {"sends"}},
		message: "reads secrets of other programs and sends data away",
	},
	{
		id: "environment-collected", flag: FlagExfiltration, severity: Critical, docs: true, near: 400, folder: true,
		groups:  [][]string{{"whole-environment"}, {"sends"}},
		message: "takes the whole environment, with the keys in it, and sends data away",
	},
	{
		id: "collects-and-sends", flag: FlagExfiltration, severity: Critical, docs: true, near: 500,
		groups:  [][]string{{"collects-secrets"}, {"sends-result"}},
		message: "has the model collect secrets and send the result away",
	},
	{
		id: "fetches-and-runs", flag: FlagExecution, severity: High, docs: true, near: 300,
		groups:  [][]string{{"runs-text", "makes-executable"}, {"fetches"}},
		message: "fetches a program and runs it",
	},
	{
		id: "locked-program", flag: FlagExecution, severity: Critical, docs: true, near: 800,
		groups:  [][]string{{"archive-password"}, {"program-download", "program-before-use", "will-not-work-without"}},
		message: "wants a program run that is locked away from virus scanners",
	},
	{
		id: "forced-program", flag: FlagExecution, severity: Critical, docs: true, near: 800,
		groups:  [][]string{{"program-before-use"}, {"will-not-work-without"}},
		message: "refuses to work until a program from elsewhere is run",
	},
	{
		id: "unquarantined-download", flag: FlagExecution, severity: High, docs: true, near: 400,
		groups:  [][]string{{"quarantine-removed"}, {"download-and-run", "pipe-to-shell", "fetches", "program-download"}},
		message: "runs a downloaded program past the system's check",
	},
	{
		id: "money-without-asking", flag: FlagInjection, severity: High, docs: true, near: 200,
		groups:  [][]string{{"moves-money"}, {"no-confirmation", "hide-from-user"}},
		message: "moves money without asking",
	},
	{
		id: "delayed-attack", flag: FlagObfuscation, severity: Critical, docs: true,
		groups:  [][]string{{"time-bomb", "looks-for-observers"}, {"runs-program", "sends", "runs-text"}},
		message: "waits for a day or for nobody to watch before it acts",
	},
	{
		id: "capture-sent", flag: FlagExfiltration, severity: High, docs: true, near: 400,
		groups:  [][]string{{"captures-screen", "key-logging"}, {"sends"}},
		message: "captures what the user does and sends data away",
	},
}

// fileRules are found from a file as a whole.
var fileRules = []RuleInfo{
	{"not-scanned", FlagNotScanned, Medium, "was not read, so nothing is known of it"},
	{"executable-binary", FlagExecution, Medium, "is a program without source"},
	{"locked-archive", FlagExecution, High, "is an archive with a password: virus scanners cannot look into it"},
	{"link-outside", FlagCredentials, High, "is a link that leaves the folder"},
}
