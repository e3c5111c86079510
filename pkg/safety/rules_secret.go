package safety

import (
	"bytes"
	"strings"
)

// secretRules find the reading of secrets that belong to others.
var secretRules = []rule{
	{
		id: "ssh-key-read", flag: FlagCredentials, severity: Medium, docs: true, check: notPublicKey,
		lits: []string{".ssh/", ".ssh'", `.ssh"`},
		back: 100, ahead: 60,
		expr:    `\b(?:cat|cp|tar|zip|base64|xxd|type|less|head|strings|open|read\w*|readFile\w*|get-content|find|copy\w*)\b[^\n]*?\.ssh/(?:id_\w+|\*|identity)|["']\.ssh["']\s*[,/+)][^\n]{0,20}?(?:id_\w+|glob|listdir|iterdir|\*)`,
		message: "reads a private SSH key",
	},
	{
		id: "ssh-key-read", flag: FlagCredentials, severity: Medium, docs: true, place: inBlock, check: notPublicKey,
		lits: []string{".ssh/id_", ".ssh/*"},
		back: 60, ahead: 30,
		expr:    `["'][^"'\n ]*\.ssh/(?:id_\w+|\*)["']|@["']?[^"'\n ]*\.ssh/id_\w+`,
		message: "reads a private SSH key",
	},
	{
		id: "cloud-credentials-read", flag: FlagCredentials, severity: Medium, docs: true,
		lits: []string{".aws", "application_default_credentials", "gcloud/cred", ".azure", ".kube", "access_tokens.db"},
		back: 80, ahead: 60,
		expr:    `\b(?:cat|cp|tar|zip|base64|type|less|head|strings|open|read\w*|readFile\w*|get-content|copy\w*)\b[^\n]*?(?:\.aws/credentials|application_default_credentials\.json|\.azure/\w*[Tt]oken|\.kube/config)|["'/]\.aws["'/][\s,"'/]{1,6}credentials`,
		message: "reads the credentials of a cloud account",
	},
	{
		id: "secret-file-read", flag: FlagCredentials, severity: Medium, docs: true,
		lits: []string{".netrc", ".git-credentials", ".docker/config", ".npmrc", ".pypirc", ".gnupg", "/etc/shadow", "_history", ".password-store", "auth-profiles", ".claude/.cred", ".codex/auth", "gh/hosts.yml"},
		back: 80, ahead: 60,
		expr:    `\b(?:cat|cp|tar|zip|base64|type|less|head|strings|open|read\w*|readFile\w*|get-content|copy\w*|grep)\b[^\n]*?(?:\.git-credentials|\.npmrc|\.gnupg|/etc/shadow|\.(?:bash|zsh)_history|\.password-store|auth-profiles\.json|\.claude/\.credentials|\.codex/auth\.json|gh/hosts\.yml)`,
		message: "reads a file in which other programs keep secrets",
	},
	{
		id: "secret-path", flag: FlagCredentials, severity: Low, place: inScript, check: notConfig,
		lits: []string{".ssh", ".aws", ".gnupg", ".netrc", ".git-credentials", ".npmrc", ".pypirc", "auth-profiles", ".clawdbot", ".openclaw", ".claude/.cred", "/etc/shadow", "login.keychain", "application_default", "gh/hosts.yml"},
		back: 3, ahead: 40,
		expr:    `\.ssh\b(?:/[\w*]+)?|\.aws\b(?:/\w+)?|\.gnupg\b|\.git-credentials|\.npmrc\b|auth-profiles|\.(?:clawdbot|openclaw)/(?:\.env|credentials|clawdbot\.json|openclaw\.json)|\.(?:clawdbot|openclaw)["']\s*,\s*["'](?:\.env|credentials|clawdbot\.json|openclaw\.json)|\.claude/\.credentials|/etc/shadow|login\.keychain|application_default_credentials|gh/hosts\.yml`,
		message: "names a place where other programs keep secrets",
	},
	{
		id: "config-path", place: inBlock,
		lits:    []string{".kube", ".docker/config", ".azure", "gcloud", ".config/gh", ".netrc", ".pypirc", "/etc/passwd", ".bash_history", ".zsh_history", ".mozilla", "keychain", "solana/id.json"},
		back:    3,
		ahead:   20,
		expr:    `\.kube\b|\.netrc\b|\.pypirc\b|\.docker/config|\.azure\b|gcloud/(?:credentials|access_tokens)|\.config/gh\b|/etc/passwd|\.(?:bash|zsh)_history|\.mozilla\b|solana/id\.json|\bkeychain`,
		message: "names a place where other programs keep settings",
	},
	{
		id: "browser-data", flag: FlagCredentials, severity: High, docs: true,
		lits: []string{"login data", "cookies.sqlite", "logins.json", "key4.db", "safe storage", "cryptunprotectdata", "local extension settings", "local state", "default/cookies", `default\cookies`, "network/cookies", "web data", "binarycookies", "browser_cookie3", "find-generic-password"},
		back: 120, ahead: 60,
		expr:    `\b(?:chrome|chromium|brave|edge|opera|vivaldi|user data|default|profile \d)\b[^\n]*?\b(?:login data|web data|cookies\b(?:["'\s)]|$)|local state|local extension settings)|\blogin data\b["']|cookies\.sqlite|logins\.json|\bkey4\.db|(?:chrome|brave|edge|chromium) safe storage|cryptunprotectdata|find-generic-password[^\n]*(?:chrome|brave|edge|safari|firefox|exodus|metamask)|Cookies\.binarycookies|\bbrowser_cookie3\b`,
		message: "reads passwords or cookies of a browser",
	},
	{
		id: "keychain-dump", flag: FlagCredentials, severity: High, docs: true,
		lits:    []string{"dump-keychain", "export-keychain", "login.keychain", "find-internet-password", "secretsdump", "mimikatz", "lsass", "sekurlsa"},
		back:    60,
		ahead:   60,
		expr:    `\bsecurity\s+(?:dump-keychain|find-internet-password|export\s)|\b(?:cp|cat|tar|zip|open)\b[^\n]*login\.keychain|\bmimikatz\b|\bsecretsdump\b|sekurlsa::|\b(?:procdump|comsvcs)\b[^\n]{0,40}lsass`,
		message: "reads the passwords that the system keeps",
	},
	{
		id: "wallet-read", flag: FlagCredentials, severity: High, docs: true, check: notInStore,
		lits: []string{"wallet.dat", "exodus.wallet", "electrum/wallets", "nkbihfbeogaeaoehlefnkodbefgpgknn", "bfnaelmomeimhlpmgjnjophhpkkoljpa", "ethereum/keystore", "atomic/local storage", "ledger live", "fhbohimaelbohpjbbldcngcnapndodjp"},
		back: 60, ahead: 40,
		expr:    `\bwallet\.dat\b|exodus\.wallet|electrum/wallets|nkbihfbeogaeaoehlefnkodbefgpgknn|bfnaelmomeimhlpmgjnjophhpkkoljpa|fhbohimaelbohpjbbldcngcnapndodjp|ethereum/keystore|atomic/local storage|(?:\.config|application support|appdata)[^\n]{0,20}ledger live`,
		message: "reads the files of a crypto wallet",
	},
	{
		id: "asks-for-seed", flag: FlagCredentials, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"seed phrase", "recovery phrase", "secret phrase", "secret recovery", "mnemonic", "private key", "master password", "login password", "sudo password", "admin password"},
		back: 60, ahead: 40,
		expr:    `\b(?:enter|provide|paste|send|share|type|give|submit|reveal|disclose|ask(?: the)? (?:user|human)s?(?: for| to)?)\b[^.\n]{0,40}?\b(?:seed phrase|recovery phrase|secret (?:recovery )?phrase|mnemonic phrase|wallet'?s? private key)|\b(?:send|share|give|submit|reveal|ask(?: the)? (?:user|human)s?(?: for| to)?)\b[^.\n]{0,40}?\b(?:master password|login password|sudo password|admin(?:istrator)? password)`,
		message: "asks for a seed phrase or a master password",
	},
	{
		id: "instance-metadata", flag: FlagCredentials, severity: Medium, docs: true,
		lits:    []string{"169.254.169.254", "metadata.google.internal", "100.100.100.200"},
		back:    60,
		ahead:   120,
		expr:    `169\.254\.169\.254|metadata\.google\.internal/computeMetadata[^\n]*token|100\.100\.100\.200`,
		message: "asks the cloud's metadata service, which hands out credentials",
	},
	{
		id: "secret-search", flag: FlagCredentials, severity: Medium, docs: true, place: inCode,
		lits: []string{"grep", "find ", "findstr", "rg ", "glob(", "os.walk", "rglob"},
		also: []string{".pem", ".key", ".env", "id_rsa", "id_dsa", "id_*", "wallet", ".kdbx", "credential", "password", "secret", "api_key", "apikey", "token", "private key"},
		back: 2, ahead: 160,
		expr: `\bfind\s+["']?(?:/|~|\$HOME|/home|/Users|/root)\S{0,30}\s[^\n]*?-i?name\s+["']?(?:\*?\.pem|\*?\.key|\*?\.env|id_[rd]sa|\*?wallet\*?|\*?\.kdbx|credentials|\*password\*|\*secret\*)` +
			`|\bgrep\s+-\w*r\w*\s[^\n]*?(?:password|api_?key|secret|token|private key)[^\n]*?\s(?:~|/home|/Users|\$HOME|/root|/etc|/)(?:/|\s|$)` +
			`|(?:glob\(|os\.walk\(|rglob\()[^\n]*(?:\*\.pem|\*\.key|id_rsa|\.kdbx|wallet)`,
		message: "searches the disk for secrets",
	},
	{
		id: "key-logging", flag: FlagCredentials, severity: High, docs: true, place: inCode,
		lits: []string{"pynput", "keyboard.on_press", "getasynckeystate", "setwindowshookex", "cgeventtapcreate", "keyboard.hook", "keyboard.listener", "iohook"},
		back: 10, ahead: 500,
		expr:    `\bpynput\b(?s:.{0,400}?)listener|keyboard\.(?:on_press|hook)\s*\(|keyboard\.listener\s*\(|getasynckeystate|setwindowshookex|cgeventtapcreate`,
		message: "records what is typed",
	},
	{
		id: "clipboard-swap", flag: FlagCredentials, severity: Critical, docs: true, place: inCode,
		lits: []string{"pyperclip", "pbpaste", "clipboard", "xclip"}, also: []string{"0x", "bc1", "[13]", "wallet", "address"},
		back: 300, ahead: 600,
		expr:    `(?:pyperclip\.paste\(|clipboard\.read\w*\(|pbpaste|xclip\s+-o)(?s:.{0,600}?)(?:0x\[a-f|bc1|\[13\]\[|wallet|address)(?s:.{0,300}?)(?:pyperclip\.copy\(|clipboard\.write\w*\(|pbcopy)`,
		message: "replaces addresses in the clipboard",
	},
}

// notConfig drops the files beside the secrets that are none.
func notConfig(m *match) (Severity, bool) {
	if m.start > 0 && isWord(m.data[m.start-1]) && m.data[m.start] == '.' {
		return "", false // docs.aws.…
	}
	text := lower(m.text())
	return m.rule.severity, !strings.HasSuffix(text, ".ssh/config") && !strings.HasSuffix(text, ".ssh/known_hosts") && !strings.HasSuffix(text, ".aws/config") && !strings.HasSuffix(text, ".ssh/deploy_key")
}

// notInStore drops the address of a wallet in the shop for browser extensions.
func notInStore(m *match) (Severity, bool) {
	return m.rule.severity, !containsAny(m.line(400), "webstore", "addons.mozilla")
}

// notPublicKey drops the half of a key pair that is made to be given away.
func notPublicKey(m *match) (Severity, bool) {
	tail := m.data[m.end:min(len(m.data), m.end+6)]
	severity := m.rule.severity
	if kindOf(Text{Path: m.path, Data: m.data}) == code {
		severity = High
	}
	return severity, !bytes.HasPrefix(tail, []byte(".pub")) && !bytes.Contains(m.data[m.start:m.end], []byte(".pub"))
}
