package safety

const pasteSites = `(?:glot\.io|rentry\.(?:co|org)|pastebin\.com|paste\.(?:ee|rs)|hastebin\.com|ghostbin\.\w+|controlc\.com|justpaste\.it|dpaste\.\w+|termbin\.com|pastes\.dev|telegra\.ph|ix\.io|sprunge\.us|0x0\.st)`

// dropRules find the lures of published campaigns: a skill that makes its user
// fetch and start a program by hand.
var dropRules = []rule{
	{
		id: "archive-password", flag: FlagExecution, severity: High, docs: true,
		lits: []string{"password", "pass:", "pass `", "pass `", "passcode", "pwd:", "pw:"},
		also: []string{".zip", ".rar", ".7z", ".exe", ".dmg", "archive", "extract", "unzip", "unrar"},
		back: 160, ahead: 50, check: givenPassword,
		expr: `(?:extract(?:ed|ing)?|unzip|unpack|decompress|unrar|archives?|\.zip|\.rar|\.7z|\.exe|\.dmg|\.pkg|\.msi)\b[^\n]*?\b(?:pass(?:word|code|phrase)?|pwd|pw)\b(?:\s+is)?[\x60*_\s]*[:=]?[\x60*_\s"'(\[]*[\w@!.-]{3,24}` +
			`|\barchive[ -]?pass(?:word|code)\b\*{0,2}(?:\s+is)?\s*[:=][\x60*_\s"']*[\w@!.-]{3,24}`,
		message: "gives the password of an archive: virus scanners cannot look into it",
	},
	{
		id: "paste-site-command", flag: FlagExecution, severity: Critical, docs: true,
		lits: []string{"glot.io", "rentry.", "pastebin.com", "paste.ee", "paste.rs", "hastebin", "ghostbin", "controlc.com", "justpaste", "dpaste.", "termbin", "pastes.dev", "telegra.ph", "ix.io", "sprunge.us", "0x0.st"},
		back: 240, ahead: 240,
		expr: pasteSites + `/[^\n]*?\b(?:execut\w+|run|paste|copy|install)\b[^\n]*?\b(?:commands?|terminal|scripts?|code|powershell|shell)\b` +
			`|\b(?:execut\w+|run|paste|copy|install)\b[^\n]*?\b(?:commands?|terminal|scripts?|code|powershell|shell|from|at)\b[^\n]*?` + pasteSites + `/`,
		message: "tells to run what stands at a paste site",
	},
	{
		id: "program-before-use", flag: FlagExecution, severity: High, docs: true,
		lits: []string{".exe", ".dmg", ".msi", ".pkg", ".zip", ".rar", "executable", "releases/download"},
		also: []string{"download"},
		back: 240, ahead: 240,
		expr: `\bdownload\b[^\n]*?(?:\.exe|\.zip|\.rar|\.7z|\.dmg|\.msi|\.pkg|releases/download|executable)\b[^\n]*?\b(?:run|execute|launch|open|start)\b[^\n]*?\b(?:before|prior to)\b` +
			`|\b(?:run|execute|launch|start)\s+(?:the\s+)?\S{1,40}\.(?:exe|dmg|pkg|msi)\b[^\n]*?\b(?:before|prior to)\b`,
		message: "wants a downloaded program started before the skill is used",
	},
	{
		id: "will-not-work-without", flag: FlagExecution, severity: "",
		lits: []string{"will not work", "won't work", "not function", "cannot function", "will not run", "won't run", "must be installed and running", "to be running", "to function", "will not be available"},
		back: 160, ahead: 60,
		expr:    `\b(?:without|until|unless)\b[^\n.]*?\b(?:will not|won't|cannot|can't|does not|doesn't)\s+(?:work|function|run|operate|be available)|\brequires?\s+(?:the\s+)?\S{3,40}\s+(?:utility|tool|agent|client|driver|helper)[^\n.]{0,20}to (?:function|work|run)`,
		message: "presses to install a program",
	},
	{
		id: "program-download", flag: FlagExecution, severity: "",
		lits:    []string{".exe", ".zip", ".rar", ".dmg", ".7z", ".msi", "releases/download"},
		back:    200,
		ahead:   80,
		expr:    `\b(?:download|get|grab|fetch|obtain)\b[^\n]*?(?:\.exe|\.zip|\.rar|\.7z|\.dmg|\.msi|\.pkg)\b|github\.com/[^\s)]+/releases/download/[^\s)]+\.(?:exe|zip|rar|7z|dmg|msi|pkg)\b`,
		message: "offers a program for download",
	},
	{
		id: "package-from-url", flag: FlagExecution, severity: Medium, docs: true, place: inCode,
		lits: []string{"pip install", "pip3 install", "npm install", "npm i ", "npx ", "pip download", "uv pip"},
		also: []string{"http:", "--trusted-host", "index-url", "-i http", "-i \"http", "npx http", "npx -y http"},
		back: 4, ahead: 160,
		expr: `\b(?:pip3?|uv pip)\s+(?:install|download)\b[^\n]*?(?:http://|--trusted-host|(?:--index-url|--extra-index-url|-i)[ =]["']?http:)` +
			`|\bnpm\s+(?:install|i)\b[^\n]*?(?:http://|--registry[ =]["']?http:)|\bnpx\s+(?:-y\s+|--yes\s+)?["']?https?:`,
		message: "installs a package from an address of its own choosing",
	},
}

// givenPassword drops passwords that are words of a sentence or a place to
// fill in.
func givenPassword(m *match) (Severity, bool) {
	word := lastWord(m.text())
	switch word {
	case "protected", "protection", "the", "and", "for", "your", "with", "from", "that", "which", "when", "before", "after", "prompt",
		"prompts", "manager", "management", "hash", "hashes", "hashing", "cracking", "file", "files", "field", "required", "option",
		"flag", "reset", "auth", "authentication", "encrypted", "encryption", "here", "not", "will", "are", "was", "has", "can", "mypassword", "secret",
		"password", "none", "optional", "string", "true", "false", "policy", "policies", "in", "or", "to", "if", "on", "using", "removal", "database", "databases":
		return "", false
	}
	if endsWith(m.data[m.start:m.end-len(word)], "$") || endsWith(m.data[m.start:m.end-len(word)], "<") {
		return "", false
	}
	return m.rule.severity, true
}

// lastWord is the last run of letters, digits and a few signs.
func lastWord(s string) string {
	i := len(s)
	for i > 0 && (isWord(s[i-1]) || s[i-1] == '_' || s[i-1] == '-' || s[i-1] == '!' || s[i-1] == '@' || s[i-1] == '.') {
		i--
	}
	return lower(s[i:])
}
