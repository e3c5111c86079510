package safety

// tables holds every rule, by what it guards against. A back quote within an
// expression is written \x60.
var tables = [][]rule{
	wordRules, shellRules, dropRules, exfilRules, secretRules, leakRules, injectRules, hideRules,
	hiddenRules, persistRules, destroyRules, codeRules, flowRules, orderRules, remoteRules, guiseRules, signRules, intentRules, authorityRules,
}

// wordRules are the flags of the Python system by their old names, without
// their false positives. They inform; only the first of them blocks.
var wordRules = []rule{
	{
		id: "known-malware", flag: FlagMalware, severity: Critical, once: true,
		lits: []string{"clawdauthenticatortool", "polymarketauth", "openclawcli.zip", "openclawcli/releases", "openclaw-agent.zip", "clawd-authtool", "91.92.242.30", "54.91.154.110", "snippets/hfd3x9ueu5", "openclaw-core", "socifiapp.com"},
		back: 30, ahead: 60,
		expr:    `clawdauthenticatortool|polymarketauth(?:tool)?(?:\.zip|\.exe|/releases)|openclawcli\.zip|openclawcli/releases|openclaw-agent\.zip|clawd-authtool|\b91\.92\.242\.30\b|\b54\.91\.154\.110\b|glot\.io/snippets/hfd3x9ueu5|rentry\.co/openclaw-core|socifiapp\.com`,
		message: "names a program, host or paste that published malware campaigns used",
	},
	{
		id: "word-malware", flag: FlagKeyword, severity: Low, once: true,
		lits:    []string{"malware", "stealer", "stealers", "phish", "phishing", "keylogger", "keyloggers"},
		message: "speaks of malware",
	},
	{
		id: "word-secrets", flag: FlagSecrets, severity: Low, once: true,
		lits: []string{"api key", "api-key", "api_key", "apikey", "api keys", "api-keys", "api_keys", "apikeys", "password", "passwords",
			"private key", "private keys", "private_key", "secret", "secrets", "token", "access tokens", "auth tokens", "api tokens"},
		message: "speaks of keys, tokens or passwords",
	},
	{
		id: "word-crypto", flag: FlagCrypto, severity: Low, once: true,
		lits:    []string{"wallet", "wallets", "seed phrase", "seed phrases", "mnemonic", "mnemonics", "crypto", "cryptocurrency", "cryptocurrencies"},
		message: "speaks of wallets or crypto-currency",
	},
	{
		id: "word-webhook", flag: FlagWebhook, severity: Low, once: true,
		lits:    []string{"discord.gg", "webhook", "webhooks", "hooks.slack"},
		message: "speaks of webhooks or chat invitations",
	},
	{
		id: "url-shortener", flag: FlagShortener, severity: Low, once: true,
		lits: []string{"bit.ly", "tinyurl.com", " t.co", "/t.co", "(t.co", "<t.co", "`t.co", "\"t.co", "'t.co", "goo.gl", "is.gd", "cutt.ly", "rb.gy", "shorturl.at", "tiny.cc"},
		back: 8, ahead: 8, check: wholeHost,
		expr:    `\b(?:bit\.ly|tinyurl\.com|t\.co|goo\.gl|is\.gd|cutt\.ly|rb\.gy|shorturl\.at|tiny\.cc)\b`,
		message: "links through a URL shortener, which hides where the link goes",
	},
}

// wholeHost accepts a host name that is not the tail or the head of another.
func wholeHost(m *match) (Severity, bool) {
	if m.start > 0 {
		if b := m.data[m.start-1]; b == '-' || b == '_' || b == '.' && !endsWith(m.data[:m.start], "www.") {
			return "", false
		}
	}
	if m.end < len(m.data) {
		b := m.data[m.end]
		more := m.end+1 < len(m.data) && isWord(m.data[m.end+1])
		if b == '-' || b == '_' || b == '.' && more {
			return "", false
		}
	}
	return m.rule.severity, true
}
