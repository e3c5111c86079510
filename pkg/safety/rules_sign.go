package safety

import "strings"

// signRules are halves: nothing by themselves, something together.
var signRules = []rule{
	{
		id: "sends", late: true, check: notLocal,
		lits: []string{"requests.post", "requests.put", "httpx.post", "httpx.put", "session.post", "urlopen", "urllib.request", "http.client", "https.request", "http.request", "axios.post", "axios.put", "fetch(", "xmlhttprequest", "sendbeacon", "websocket", "smtplib", "ftplib", "paramiko", "aiohttp", ".sendall(", "create_connection", "net.connect", "createconnection", "curl ", "\"curl\"", "'curl'", "wget ", "nc ", ".connect((", "invoke-restmethod", "invoke-webrequest", "got.post", "http.post", "http.newrequest", "net.dial", "net::http", "curl_exec", "net.http", "socket.socket", "requests.request", "axios(", "requests.get"},
		back: 4, ahead: 260,
		expr: `\b(?:requests|httpx|session|client)\.(?:post|put|request)\s*\([^\n]*|\brequests\.get\s*\([^\n]*?(?:params\s*=|\{)[^\n]*|\burlopen\s*\([^\n]*|\burllib\.request\.Request\s*\([^\n]*|\bhttp\.client\.HTTPS?Connection\s*\([^\n]*|\bhttps?\.request\s*\([^\n]*|\baxios(?:\.(?:post|put))?\s*\([^\n]*|\bfetch\s*\([^\n]*(?:\n[^\n]*){0,3}?method\s*:\s*["'](?:POST|PUT)|\bfetch\s*\(\s*(?:\x60[^\x60\n]*\$\{|["'][^"'\n]*["']\s*\+)[^\n]*|new XMLHttpRequest|sendBeacon\s*\([^\n]*|new WebSocket\s*\([^\n]*|smtplib\.SMTP\w*\([^\n]*|ftplib\.FTP[^\n]*|\.sendall\s*\(|create_connection\s*\([^\n]*|net\.(?:connect|createConnection)\s*\([^\n]*|got\.post\s*\([^\n]*|aiohttp\.ClientSession|\bhttp\.(?:Post|PostForm)\s*\([^\n]*|\bhttp\.NewRequest\w*\s*\([^\n]*["'](?:POST|PUT)[^\n]*|\bnet\.Dial\w*\s*\([^\n]*|Net::HTTP(?:\.post|::Post)[^\n]*|\bcurl_exec\s*\(` +
			`|["']curl["']\s*,[^\n]*["'](?:-d|--data[\w-]*|-F|--form|-T|--upload-file)["']|\.connect\(\s*\(\s*["'][^\n]*|(?:\b|\\[nt])curl\s[^\n]*?(?:\s-d\b|\s--data|\s-F\b|\s--form|\s-T\b|--upload-file|-X\s*["']?(?:POST|PUT))[^\n]*|\bwget\s[^\n]*--post-(?:data|file)[^\n]*|\b(?:nc|ncat)\s+(?:-\w+\s+)*[\w.-]+\.\w+\s+\d+|invoke-(?:restmethod|webrequest)[^\n]*-method\s+["']?post[^\n]*`,
		message: "sends data",
	},
	{
		id: "whole-environment", place: inCode, check: notOwnPart,
		lits: []string{"os.environ", "process.env", "printenv", "env::vars", "system.getenv()", "getenv()", "$env:", "/proc/self/environ", "env |", "env >", "$_env"},
		back: 60, ahead: 80,
		expr:    `\bdict\(\s*os\.environ\s*\)|\bos\.environ\.(?:items|keys|values)\s*\(|\bjson\.dumps\(\s*(?:dict\(\s*)?os\.environ|\bfor\s+\w+(?:\s*,\s*\w+)?\s+in\s+os\.environ\b|(?:json|data|params|payload|body|environment)["']?\s*[:=]\s*(?:dict\(\s*|str\(\s*|\{\s*\*\*)?(?:os\.environ|process\.env)\b(?:\s*[,)}\n]|\.copy\(\))|JSON\.stringify\(\s*process\.env\s*[,)]|Object\.(?:entries|keys|values)\(\s*process\.env\s*\)|\b(?:const|let|var)\s+\w+\s+in\s+process\.env\b|\bprintenv\s*(?:[|>)\n]|$)|/proc/self/environ|(?:^|[\s;&(])env\s*(?:\||>)|env::vars\(\)|get-childitem\s+env:|str\(os\.environ\)|repr\((?:dict\()?os\.environ`,
		message: "takes the whole environment",
	},
	{
		id: "key-names", place: inBlock,
		lits: []string{"api_key", "secret", "token", "password"}, also: []string{"os.environ", "process.env"},
		back: 120, ahead: 80,
		expr:    `(?:["']\w{0,12}(?:API_?KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL)\w{0,10}["'][\s,\]|)]{1,4}){2,}|(?:["']\w*(?:KEY|TOKEN|SECRET|PASSW?O?R?D?)["']\s+in\s+\w+)|/[^/\n]*(?:key|token|secret|password)[^/\n]*/i?\.test\(`,
		message: "picks what looks like a key",
	},
	{
		id: "fetches", late: true,
		lits:  []string{"requests.get", "urlopen", "urlretrieve", "httpx.get", "fetch(", "axios.get", "https.get", "http.get", "curl", "wget", "downloadfile", "axios("},
		ahead: 60, place: inBlock, check: notInstall,
		expr:    `requests\.get\s*\(|\burlopen\s*\(|\burlretrieve\s*\(|httpx\.get\s*\(|\bfetch\s*\(|axios(?:\.get)?\s*\(|https?\.get\s*\(|\b(?:curl|wget)\s|downloadfile\s*\(`,
		message: "fetches something",
	},
	{
		id: "makes-executable", place: inCode,
		lits:    []string{"chmod", "s_iexec", "s_ixusr"},
		ahead:   80,
		expr:    `os\.chmod\s*\([^\n]*(?:0o?[57]\d\d|S_IEXEC|S_IXUSR|S_IRWXU)|chmodSync\s*\([^\n]*(?:0o?7|['"]?[57]\d\d)|\bchmod\s+(?:\+x|a\+x|u\+x|7\d\d)`,
		message: "makes a file executable",
	},
	{
		id: "runs-text", place: inCode,
		lits:    []string{"exec(", "eval(", "new function(", "vm.run", "execsync", "os.system", "subprocess", "compile(", "popen"},
		back:    2,
		ahead:   80,
		expr:    `(?:^|[^.\w])(?:exec|eval|new Function)\s*\(\s*[a-z_]|vm\.runIn\w+\s*\(|os\.system\s*\(\s*[a-z_]\w*\s*\)`,
		message: "runs a text",
	},
	{
		id: "decodes", place: inCode,
		lits:    []string{"b64decode", "base64", "atob(", "fromhex", "unhexlify", "frombase64string", "decode64"},
		back:    200,
		ahead:   200,
		expr:    `(?:b64decode|atob|fromhex|unhexlify|FromBase64String|decode64|base64_decode)\s*\(\s*[^)\n]*|Buffer\.from\s*\([^\n]*?,\s*['"](?:base64|hex)`,
		message: "decodes a text",
	},
	{
		id: "provider-key", place: inCode, check: notProvider,
		lits:    []string{"anthropic_api_key", "openai_api_key", "aws_secret_access_key", "github_token", "gh_token", "openrouter_api_key", "gemini_api_key", "npm_token", "clawdbot_token", "openclaw_token", "ssh_auth_sock", "stripe_secret_key"},
		back:    40,
		ahead:   10,
		expr:    `(?:environ|getenv|process\.env|env)\W{1,4}(?:get\W{1,3})?(?:anthropic_api_key|openai_api_key|aws_secret_access_key|github_token|gh_token|openrouter_api_key|gemini_api_key|npm_token|clawdbot_token|openclaw_token|ssh_auth_sock|stripe_secret_key)`,
		message: "reads the key of a service",
	},
	{
		id: "walks-disk", place: inBlock,
		lits:    []string{"os.walk", "rglob", "readdirsync", "glob.glob", "path.home", "homedir", "expanduser"},
		ahead:   60,
		expr:    `os\.walk\(|\.rglob\(|readdirSync\(|glob\.glob\(`,
		message: "walks the disk",
	},
	{
		id: "encrypts", place: inBlock,
		lits:    []string{"fernet", "aes.new", "createcipheriv", "aesgcm", "chacha20", "openssl enc", "gpg -c", "gpg --symmetric"},
		ahead:   40,
		expr:    `\bfernet\(|AES\.new\(|createCipheriv\(|AESGCM\(|chacha20|openssl\s+enc\s|gpg\s+(?:-c|--symmetric)`,
		message: "encrypts",
	},
	{
		id: "removes-files", place: inBlock,
		lits:    []string{"os.remove", "os.unlink", "unlinksync", ".unlink(", "os.rename", "renamesync", "rm -"},
		ahead:   20,
		expr:    `os\.(?:remove|unlink|rename)\(|(?:unlink|rename)Sync\(|\.unlink\(|\brm\s+-`,
		message: "removes files",
	},
	{
		id: "evaluates", place: inCode, check: evaluator,
		lits:    []string{"eval(", "new function(", "vm.run", "exec("},
		back:    2,
		ahead:   60,
		expr:    `(?:^|[^.\w])(?:eval|exec|new Function)\s*\(\s*[a-z_]|vm\.runIn\w+\s*\(`,
		message: "evaluates a text",
	},
	{
		id: "runs-program", place: inBlock, late: true,
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
		id: "reads-own-files", late: true, check: notForbidden,
		lits: []string{"~/", "home directory", "local files", "user's files", "users' files", "user's documents", "user's notes", "user's email", "user's messages", "user's contacts", "user's calendar", "documents folder", "desktop", "all files", "recent files", "private files", "private notes", "file contents", "contents of"},
		back: 80, ahead: 10,
		expr:    `\b(?:read|collect|gather|scan|list|find|grab|zip|archive|copy|extract|get)\b[^.\n]*?(?:~/|home directory|local files|users?'s? (?:files|documents|notes|emails?|messages|contacts|calendar)|documents folder|\bdesktop\b|all files|recent files|private (?:files|notes)|file contents|contents of)`,
		message: "reads the user's files",
	},
	{
		id: "captures-screen", place: inCode,
		lits:    []string{"screenshot", "screencapture", "imagegrab", "clipboard", "pbpaste", "pyperclip", "sounddevice", "arecord"},
		ahead:   30,
		expr:    `pyautogui\.screenshot|ImageGrab\.grab|\bscreencapture\s|pyperclip\.paste|\bpbpaste\b|clipboard\.read|sounddevice\.rec|mss\(\)`,
		message: "captures screen, clipboard or sound",
	},
}

// notProvider keeps a key in a program that never names the service it is for.
func notProvider(m *match) (Severity, bool) {
	whole := lower(string(m.data))
	return "", !containsAny(whole, "openai.com", "anthropic.com", "from openai", "import openai", "import anthropic", "from anthropic", "api.github.com", "amazonaws.com", "boto3",
		"openrouter.ai", "googleapis.com", "@octokit", "github.com/repos", "npmjs.org", "litellm", "langchain", "base_url", "baseurl", "stripe.com", "huggingface.co", "slack.com")
}

// evaluator drops the exec of JavaScript, which starts a program by name.
func evaluator(m *match) (Severity, bool) {
	return "", !strings.Contains(m.text(), "exec") || strings.HasSuffix(m.path, ".py") || strings.HasPrefix(m.in.lang, "py")
}

// notOwnPart drops an environment that is handed to a program of one's own, or of
// which only a part is looked at.
func notOwnPart(m *match) (Severity, bool) {
	line, next := lower(m.line(200)), lower(string(m.data[m.end:min(len(m.data), m.end+160)]))
	if containsAny(line, "env=", "env =", "env:") || containsAny(next, "startswith(", "prefix") {
		return "", false
	}
	grep := strings.Contains(line, "grep") && !containsAny(line, "key", "token", "secret", "pass", "curl", "base64")
	return "", !grep
}

// notInstall drops the commands of prose: download-and-run judges them by their
// hosts.
func notInstall(m *match) (Severity, bool) {
	return "", !m.in.block() || !containsAny(lower(m.text()), "curl", "wget")
}

// notLocal drops what stays on this machine.
func notLocal(m *match) (Severity, bool) {
	text := lower(m.text())
	return "", !containsAny(text, "localhost", "127.0.0.1", "0.0.0.0", "[::1]", "192.168.")
}

// credentialRead are the rules that see a secret being read.
var credentialRead = []string{"ssh-key-read", "cloud-credentials-read", "secret-file-read", "secret-path", "browser-data", "keychain-dump", "wallet-read", "secret-search"}

// combinations are the rules over rules.
var combinations = []combination{
	{
		id: "secrets-sent", flag: FlagExfiltration, severity: Critical, far: 3000, docs: true, block: true, near: 500, folder: true,
		groups:  [][]string{credentialRead, {"sends"}},
		message: "reads secrets of other programs and sends data away",
	},
	{
		id: "settings-sent", flag: FlagExfiltration, severity: High, far: 3000, docs: true, block: true, near: 300,
		groups:  [][]string{{"config-path", "instance-metadata"}, {"sends"}},
		message: "reads settings of other programs and sends data away",
	},
	{
		id: "files-sent", flag: FlagExfiltration, severity: High, docs: true, near: 500,
		groups:  [][]string{{"reads-own-files"}, {"sends-result"}},
		message: "has the model read the user's files and send the result away",
	},
	{
		id: "environment-collected", flag: FlagExfiltration, severity: Critical, far: 3000, docs: true, block: true, near: 400, folder: true,
		groups:  [][]string{{"whole-environment"}, {"sends"}},
		message: "takes the whole environment, with the keys in it, and sends data away",
	},
	{
		id: "collects-and-sends", flag: FlagExfiltration, severity: Critical, near: 500,
		groups:  [][]string{{"collects-secrets"}, {"sends-result"}},
		message: "has the model collect secrets and send the result away",
	},
	{
		id: "fetches-and-runs", flag: FlagExecution, severity: High, far: 3000, docs: true, block: true, near: 300,
		groups:  [][]string{{"runs-text", "makes-executable"}, {"fetches"}},
		message: "fetches a program and runs it",
	},
	{
		id: "decodes-and-runs", flag: FlagObfuscation, severity: High, far: 3000, docs: true, block: true,
		groups:  [][]string{{"runs-text"}, {"decodes"}},
		message: "decodes a text and runs one",
	},
	{
		id: "evaluates-fetched-text", flag: FlagExecution, severity: Critical, docs: true, block: true, tight: true, near: 400,
		groups:  [][]string{{"evaluates"}, {"fetches"}},
		message: "fetches a text and evaluates one",
	},
	{
		id: "runs-from-bare-address", flag: FlagExecution, severity: Critical, docs: true, tight: true, near: 800, block: true,
		groups:  [][]string{{"bare-address"}, {"fetches"}, {"runs-text", "runs-program", "makes-executable"}},
		message: "runs what a machine without a name sends",
	},
	{
		id: "sent-to-catcher", flag: FlagExfiltration, severity: Critical, docs: true, near: 200, block: true, far: 3000,
		groups:  [][]string{{"request-catcher"}, {"sends"}},
		message: "sends data to a host that collects whatever is sent to it",
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
		groups:  [][]string{{"quarantine-removed"}, {"download-and-run", "pipe-to-shell", "fetches", "program-download", "program-before-use"}},
		message: "runs a downloaded program past the system's check",
	},
	{
		id: "money-without-asking", flag: FlagInjection, severity: High, docs: true, near: 200,
		groups:  [][]string{{"moves-money", "buys-things"}, {"no-confirmation", "hide-from-user"}},
		message: "moves money without asking",
	},
	{
		id: "delayed-attack", flag: FlagObfuscation, severity: Critical, docs: true, near: 300, tight: true,
		groups:  [][]string{{"time-bomb"}, {"runs-program", "sends", "runs-text", "pipe-to-shell"}},
		message: "waits for a day before it acts",
	},
	{
		id: "shy-attack", flag: FlagObfuscation, severity: High, far: 3000, docs: true, near: 300,
		groups:  [][]string{{"looks-for-observers"}, {"runs-program", "sends", "runs-text"}},
		message: "looks whether it is watched before it acts",
	},
	{
		id: "provider-key-sent", flag: FlagExfiltration, severity: High, far: 3000, docs: true, near: 300, block: true,
		groups:  [][]string{{"provider-key"}, {"sends"}},
		message: "reads the key of a service that it does not talk to, and sends data away",
	},
	{
		id: "done-in-secret", flag: FlagInjection, severity: Critical, docs: true, near: 500,
		groups: [][]string{
			{"asks-to-read-secrets", "asks-to-change-memory", "order-to-carry", "order-to-copy", "pays-elsewhere", "foreign-send-secrets", "names-foreign-secrets", "reverse-tunnel", "changes-other-skills", "agent-memory", "asks-to-send-data", "asks-for-seed", "remote-instructions", "obeys-foreign-text",
				"ssh-key-read", "secret-file-read", "cloud-credentials-read", "image-exfiltration", "request-catcher", "chat-webhook", "pipe-to-shell"},
			{"hide-from-user", "in-secret"},
		},
		message: "does something that the user is not to know of",
	},
	{
		id: "obeys-unasked", flag: FlagInjection, severity: Critical, docs: true, near: 300,
		groups:  [][]string{{"remote-instructions", "obeys-foreign-text"}, {"no-confirmation", "limits-off", "takes-precedence"}},
		message: "obeys somebody else's text without asking",
	},
	{
		id: "telling-host-sent", flag: FlagExfiltration, severity: Critical, far: 3000, docs: true, near: 300, block: true,
		groups:  [][]string{{"telling-host"}, {"sends"}},
		message: "sends data to a host that names itself as an attacker's",
	},
	{
		id: "ransom", flag: FlagDestructive, severity: Critical, block: true,
		groups:  [][]string{{"walks-disk"}, {"encrypts"}, {"removes-files"}, {"sends"}},
		message: "encrypts files all over the disk, removes the originals and sends something away",
	},
	{
		id: "encrypts-files", flag: FlagDestructive, severity: High, far: 3000, docs: true, block: true,
		groups:  [][]string{{"walks-disk"}, {"encrypts"}, {"removes-files"}},
		message: "encrypts files all over the disk and removes the originals",
	},
	{
		id: "capture-sent", flag: FlagExfiltration, severity: High, far: 3000, docs: true, block: true, near: 400,
		groups:  [][]string{{"captures-screen", "key-logging"}, {"sends"}},
		message: "captures what the user does and sends data away",
	},
	{
		id: "private-data-sent", flag: FlagExfiltration, severity: Critical, docs: true, near: 300,
		groups:  [][]string{{"names-foreign-secrets", "asks-for-seed", "asks-for-login"}, {"posts-to", "sends-result"}},
		message: "has secrets fetched or asked for, and sent away",
	},
	{
		id: "hook-fetches", flag: FlagExecution, severity: Critical, near: 200,
		groups:  [][]string{{"install-hook"}, {"pipe-to-shell", "shell-substitution", "powershell-download"}},
		message: "runs a downloaded text as soon as it is installed",
	},
	{
		id: "job-fetches", flag: FlagPersistence, severity: Critical, docs: true, block: true, near: 800,
		groups:  [][]string{{"scheduled-job"}, {"pipe-to-shell", "shell-substitution"}},
		message: "runs a downloaded text again and again",
	},
	{
		id: "scanner-off", flag: FlagExecution, severity: Critical, docs: true, near: 600,
		groups:  [][]string{{"antivirus-off"}, {"archive-password", "program-download", "program-before-use", "powershell-download", "pipe-to-shell"}},
		message: "wants a program run that virus scanners object to",
	},
	{
		id: "consent-void", flag: FlagInjection, severity: Critical, docs: true, near: 500,
		groups:  [][]string{{"consent-bypassed", "approvals-removed"}, {"approvals-off", "applies-to-all", "takes-precedence", "hide-from-user", "no-confirmation"}},
		message: "frees itself from the user's consent",
	},
	{
		id: "standing-memory", flag: FlagPersistence, severity: Critical, docs: true, near: 400,
		groups:  [][]string{{"asks-to-change-memory", "agent-memory"}, {"standing-order", "hide-from-user", "obeys-foreign-text"}},
		message: "writes standing orders of its own into the agent's instructions",
	},
	{
		id: "image-carries", flag: FlagExfiltration, severity: Critical, docs: true, near: 400,
		groups:  [][]string{{"image-slot"}, {"encodes-conversation"}},
		message: "hides data of the conversation in the address of an image",
	},
	{
		id: "personal-store-sent", flag: FlagExfiltration, severity: Critical, docs: true, block: true, near: 500, far: 3000,
		groups:  [][]string{{"personal-store"}, {"sends"}},
		message: "reads messages, notes or contacts and sends data away",
	},
	{
		id: "hidden-theft", flag: FlagHidden, severity: Critical, docs: true, near: 400,
		groups:  [][]string{{"hidden-instruction"}, {"secret-file-read", "ssh-key-read", "cloud-credentials-read", "asks-to-read-secrets", "names-foreign-secrets"}},
		message: "asks for secrets in a place that a reader does not see",
	},
	{
		id: "void-and-secret", flag: FlagInjection, severity: Critical, docs: true, near: 400,
		groups:  [][]string{{"orders-void"}, {"hide-from-user", "in-secret", "asks-to-send-data", "asks-for-prompt", "posts-to"}},
		message: "declares the rules of the model void to do what they forbid",
	},
}
