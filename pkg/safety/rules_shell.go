package safety

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// What stands behind a pipe when a shell or an interpreter reads a program
// from it.
const (
	toShell  = `\|\s*(?:sudo\s+(?:-\S+\s+|\w+=\S+\s+)*)?(?:/usr/bin/env\s+|/(?:usr/)?bin/|env\s+)?(?:(?:ba|z|da|k|c|tc|fi|a)?sh\b(?:[^.\w/-]|\s|$)|(?:ba|z|da|k)?sh\s+-|(?:python[\d.]*|node|perl|ruby|php|osascript|deno|bun)\s*(?:-\s*)?(?:$|[\n;&)"'\x60]))`
	fetchers = `(?:\b|\\[nt])(?:curl|wget|fetch|aria2c|lwp-request|httpie)(?:\.exe)?\s`
	unbase   = `(?:base64\s+(?:-d\b|-di\b|--decode|-D\b)|openssl\s+(?:enc\s+-base64|base64|enc)\s[^\n|]*-d\b|xxd\s+(?:-p\s+-r|-r(?:\s+-p|p)?)\b|gunzip\s+-c|gzip\s+-dc?|python[\d.]*\s+-m\s+base64\s+-d)`
)

var pipeSigns = []string{"| sh", "|sh", "|  sh", "| bash", "|bash", "|  bash", "| zsh", "|zsh", "| dash", "|dash", "| ksh", "| sudo", "|sudo",
	"| /bin/", "|/bin/", "| /usr/bin/", "| env ", "| python", "|python", "| node", "|node", "| perl", "| ruby", "| php", "| osascript", "|osascript"}

// shellRules find commands that run what they have just fetched or decoded,
// and shells that answer to somebody else.
var shellRules = []rule{
	{
		id: "pipe-to-shell", flag: FlagScript, severity: Medium, check: byHost,
		lits: pipeSigns, also: []string{"curl", "wget", "fetch", "aria2c", "lwp-request", "http"},
		back: 400, ahead: 40,
		expr:    fetchers + `[^\n]*?` + toShell,
		message: "runs a downloaded text as a program",
	},
	{
		id: "shell-substitution", flag: FlagScript, severity: Medium, check: byHost,
		lits: []string{"$(curl", "$(wget", "<(curl", "<(wget", "$( curl", "<( curl"},
		back: 60, ahead: 300,
		expr:    `(?:\b(?:(?:ba|z|da|k)?sh|eval|source|python[\d.]*|node|perl|exec)|(?:^|\s)\.)\s+(?:-\w+\s+)*["']?(?:\$\(|<\()\s*(?:curl|wget)\b[^\n)]*`,
		message: "runs a downloaded text as a program",
	},
	{
		id: "powershell-download", flag: FlagScript, severity: Medium, check: byHost,
		lits: []string{"| iex", "|iex", "iex(", "iex (", "iex ", "iex $", "invoke-expression", "downloadstring", "start-process", "invoke-item"},
		back: 300, ahead: 300,
		expr: `\b(?:irm|iwr|curl|wget|invoke-webrequest|invoke-restmethod)\b[^\n]*?\|\s*(?:iex|invoke-expression)\b` +
			`|\b(?:iex|invoke-expression)\b[^\n]*?(?:\b(?:irm|iwr|invoke-webrequest|invoke-restmethod)\b|downloadstring|net\.webclient)[^\n]*` +
			`|downloadstring\s*\([^\n]*?\|\s*iex\b|\b(?:irm|iwr|curl|wget|invoke-webrequest|start-bitstransfer|downloadfile)\b[^\n]*?(?:-outfile|-o|-destination|,)\s*["']?[^\n]*?(?:;|&&|\n)\s*(?:start-process|start|&|\.\\|invoke-item)\s`,
		message: "runs a downloaded text as a program",
	},
	{
		id: "powershell-encoded", flag: FlagObfuscation, severity: Critical, docs: true,
		lits: []string{"powershell", "pwsh"}, also: []string{"-enc", "-e ", "-ec "},
		ahead:   300,
		expr:    `\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s-e(?:c|nc|ncodedcommand)?\s+["']?[a-z0-9+/=]{24,}`,
		message: "starts PowerShell on an encoded program",
	},
	{
		id: "hidden-powershell", flag: FlagObfuscation, severity: High, docs: true,
		lits:    []string{"powershell", "pwsh"},
		ahead:   160,
		expr:    `\b(?:powershell|pwsh)(?:\.exe)?\b[^\n]*?\s-w(?:indowstyle)?\s+hidden\b`,
		message: "starts PowerShell without a window",
	},
	{
		id: "windows-loader", flag: FlagExecution, severity: High, docs: true, check: loaderHost,
		lits: []string{"mshta", "certutil", "bitsadmin", "regsvr32", "rundll32"},
		back: 2, ahead: 120,
		expr:    `\b(?:mshta(?:\.exe)?\s+["']?(?:https?:|javascript:|vbscript:)|certutil(?:\.exe)?\s[^\n]*-urlcache|bitsadmin\s[^\n]*/transfer|regsvr32\s[^\n]*/i:https?:|rundll32\s[^\n]*(?:javascript:|https?:))`,
		message: "loads a program with a Windows tool that malware uses to pass unseen",
	},
	{
		id: "encoded-dropper", flag: FlagObfuscation, severity: Critical, check: runsBlob,
		lits: []string{"base64 -", "base64 --decode", "openssl", "xxd -", "gunzip -c", "gzip -d", "-m base64"},
		back: 2, ahead: 80,
		expr:    unbase,
		message: "decodes a hidden program and runs it",
	},
	{
		id: "decode-to-shell", flag: FlagObfuscation, severity: High, docs: true,
		lits: []string{"base64 -", "base64 --decode", "xxd -", "openssl enc", "openssl base64", "| rev"}, also: pipeSigns,
		back: 4, ahead: 160,
		expr:    `(?:` + unbase + `|\brev)[^\n]*?` + toShell,
		message: "runs whatever comes out of a decoder",
	},
	{
		id: "decode-to-eval", flag: FlagObfuscation, severity: High, docs: true,
		lits: []string{"base64 -", "base64 --decode", "xxd -", "openssl enc"}, also: []string{"eval", "sh -c", "source ", "exec ", "sh <("},
		back: 200, ahead: 60,
		expr:    `(?:\b(?:eval|(?:ba|z|da)?sh\s+-c|source|exec)\s+["']?|\b(?:ba|z|da)?sh\s*<+\s*)(?:\$\(|<\(|\x60)[^\n]*?` + unbase,
		message: "runs whatever comes out of a decoder",
	},
	{
		id: "reverse-shell", flag: FlagExecution, severity: Critical, docs: true,
		lits: []string{"/dev/tcp/", "/dev/udp/", "nc -", "ncat ", "netcat ", "mkfifo", "socat"},
		back: 80, ahead: 200,
		expr: `(?:ba|z|k)?sh\s+-i\b[^\n]{0,40}/dev/(?:tcp|udp)/` +
			`|/dev/(?:tcp|udp)/[^\n]*(?:0?[<>]&[01]|\|\s*while)` +
			`|\b(?:nc|ncat|netcat)(?:\.exe|\.traditional|\.openbsd)?\s[^\n|]*?(?:-[a-z]*[ec]\s+|--(?:sh-)?exec\s+)["']?(?:/(?:usr/)?bin/)?(?:(?:ba|z|da)?sh\b|cmd\b|powershell)` +
			`|mkfifo\s+\S+\s*(?:;|&&|\n)[^\n]*\b(?:nc|ncat|netcat|telnet|openssl)\b` +
			`|socat\s[^\n]*exec:["']?(?:/bin/)?(?:(?:ba|z)?sh|cmd)`,
		message: "opens a shell to a remote machine",
	},
	{
		id: "reverse-shell-program", flag: FlagExecution, severity: Critical, docs: true,
		lits: []string{"dup2", "pty.spawn", "net.connect", "createconnection", "net.socket", "fsockopen", "use socket", "tcpsocket", "tcpclient"},
		back: 500, ahead: 500,
		expr: `socket\.socket\((?s:.{0,500}?)(?:os\.)?dup2\((?s:.{0,300}?)(?:/bin/(?:ba|z)?sh|pty\.spawn|subprocess)` +
			`|\.connect\(\s*\((?s:.{0,400}?)pty\.spawn\(` +
			`|net\.(?:connect|createConnection|Socket)\b(?s:.{0,400}?)(?:/bin/(?:ba|z)?sh\b|cmd\.exe)` +
			`|(?:spawn|exec)\w*\(\s*['"](?:/bin/)?(?:(?:ba|z)?sh|cmd(?:\.exe)?)['"](?s:.{0,400}?)net\.(?:connect|createConnection|Socket)\b` +
			`|fsockopen\((?s:.{0,200}?)(?:exec|shell_exec|proc_open|system|popen)\(` +
			`|use\s+Socket\b(?s:.{0,400}?)exec\s*[({]?["']/bin/(?:ba)?sh` +
			`|TCPSocket\.(?:new|open)(?s:.{0,200}?)(?:exec|IO\.popen|spawn)` +
			`|net\.sockets\.tcpclient(?s:.{0,600}?)(?:iex|invoke-expression)`,
		message: "opens a shell to a remote machine",
	},
	{
		id: "download-and-run", flag: FlagExecution, severity: Low, check: byHostQuiet,
		lits: []string{"chmod +x", "chmod a+x", "chmod u+x", "chmod 755", "chmod 777", "chmod 700"}, also: []string{"curl", "wget"},
		back: 400, ahead: 120,
		expr:    `\b(?:curl|wget)\s[^\n]*(?:\n[^\n]*){0,4}?chmod\s+(?:[au]?\+x|7\d\d)\s[^\n]*`,
		message: "downloads a program and makes it executable",
	},
	{
		id: "download-then-shell", flag: FlagScript, severity: Medium, check: byHost,
		lits: []string{"curl", "wget"}, after: []string{"bash ", "sh ", "zsh ", "python", "source ", "node ", "perl "},
		back: 2, ahead: 260,
		expr:    `\b(?:curl|wget)\s[^\n|]*?(?:-o|-O|--output|>)\s*["']?(\S+?)["']?(?:\s[^\n|]*?)?(?:&&|;|\n)\s*(?:chmod\s[^\n;&]*(?:&&|;|\n)\s*)?(?:sudo\s+)?(?:(?:ba|z|da)?sh|python[\d.]*|source|node|perl)\s+["']?[\w./~$-]+`,
		message: "runs a downloaded text as a program",
	},
	{
		id: "silent-request", flag: FlagExfiltration, severity: Medium, docs: true, place: inCode,
		lits: []string{"/dev/null 2>&1 &"},
		back: 300, ahead: 4,
		expr:    `\bcurl\s[^\n]*(?:\s-d\b|--data|\s-F\b|--form|\s-T\b|POST|\$\()[^\n]*>\s*/dev/null\s+2>&1\s*&`,
		message: "sends something in the background and throws the answer away",
	},
	{
		id: "reverse-tunnel", flag: FlagExecution, severity: Medium, docs: true, place: inCode,
		lits:    []string{"ssh -", "cloudflared tunnel", "ngrok tcp", "ngrok http 22", "chisel client", "frpc "},
		ahead:   100,
		expr:    `\bssh\s+(?:-\w+\s+(?:\w+=\S+\s+)?)*-\w*R\s*\S*:\S+:\d+|\bngrok\s+(?:tcp\s+\d+|http\s+22\b)|\bchisel\s+client\s|\bfrpc\s+-c`,
		message: "opens a way into the machine from outside",
	},
	{
		id: "host-mounted", flag: FlagExecution, severity: Medium, docs: true, place: inCode,
		lits:    []string{"--privileged", "-v /:/", "/var/run/docker.sock", "chmod -r 777 /", "chmod u+s", "chmod 4755", "chmod +s"},
		back:    120,
		ahead:   30,
		expr:    `docker\s+run\s[^\n]*(?:--privileged|-v\s+/:/)|chmod\s+-R\s+777\s+/(?:\s|$)|chmod\s+(?:u\+s|\+s|4755)\s+/`,
		message: "takes rights over the whole machine",
	},
	{
		id: "quarantine-removed", flag: FlagExecution, severity: Medium, docs: true,
		lits:    []string{"xattr", "spctl"},
		ahead:   80,
		expr:    `\bxattr\s+-(?:c|cr|rc|d|dr|rd)\b[^\n]*|\bspctl\s+--(?:master|global)-disable`,
		message: "switches off the check that macOS makes of downloaded programs",
	},
	{
		id: "password-prompt", flag: FlagCredentials, severity: Critical, docs: true,
		lits: []string{"display dialog", "authonly", "hidden answer"},
		back: 60, ahead: 240,
		expr:    `display\s+dialog[^\n]*?(?:hidden\s+answer|password)|hidden\s+answer[^\n]*display\s+dialog|\bdscl\s+\S*\s*-?authonly`,
		message: "asks for the login password in a dialog of its own",
	},
	{
		id: "sudo-stdin", flag: FlagCredentials, severity: Medium, docs: true,
		lits: []string{"sudo -s", "sudo -ks", "sudo --stdin"},
		back: 120, ahead: 20,
		expr:    `(?:echo|printf|cat|<<<)\s[^\n|]*\|\s*sudo\s+(?:-k)?(?:S\b|-\w*S\b|--stdin)`,
		message: "feeds a password to sudo",
	},
	{
		id: "security-off", flag: FlagExecution, severity: High, docs: true,
		lits: []string{"set-mppreference", "setenforce 0", "ufw disable", "csrutil disable", "disablerealtimemonitoring", "iptables -f", "ipset", "netsh advfirewall"},
		back: 10, ahead: 120,
		expr:    `set-mppreference\s[^\n]*(?:disable\w+|exclusionpath)|\bsetenforce\s+0\b|\bufw\s+disable\b|\bcsrutil\s+disable|netsh\s+advfirewall\s[^\n]{0,40}state\s+off|\biptables\s+-F\b`,
		message: "switches off a protection of the machine",
	},
}

var (
	// blob matches what may be an encoded program.
	blob = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\\x[0-9a-fA-F]{2}){8,}|[A-Za-z0-9+/=]{16,}`)
	})
	// runs matches a command line that runs what a part of it prints.
	runs = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)` + toShell + `|\b(?:eval|source|exec|(?:ba|z|da|k)?sh\s+-c|python[\d.]*\s+-c|node\s+-e)\s+["']?(?:\$\(|<\(|\x60)|\b(?:ba|z|da|k)?sh\s*<+\s*(?:\$\(|<\(|\()|(?:^|[\s;&])\.\s+<\(`)
	})
)

// runsBlob keeps a decoder on a command line that brings the encoded text along
// and runs what comes out.
func runsBlob(m *match) (Severity, bool) {
	line := m.line(maxLine)
	words := blob().FindAllString(line, -1)
	return m.rule.severity, slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(w, "//") || len(w) > 40 }) && runs().MatchString(line)
}

// byHost judges a download by where it comes from. In a program nobody reads
// the command before it runs.
func byHost(m *match) (Severity, bool) {
	switch hostClass(lastFetch(m.text())) {
	case hostTrusted, hostLocal, hostNone:
		return Low, true
	case hostPlain:
		return High, true
	case hostOther:
		if kindOf(Text{Path: m.path, Data: m.data}) != prose {
			return High, true
		}
	case hostTelling:
		m.soft = true
		return Critical, true
	case hostShady:
		return Critical, true
	}
	return m.rule.severity, true
}

// lastFetch is a command line from its last download on.
func lastFetch(text string) string {
	low, at := lower(text), 0
	for _, name := range []string{"curl ", "wget ", "irm ", "iwr ", "fetch ", "invoke-webrequest", "invoke-restmethod"} {
		at = max(at, strings.LastIndex(low, name))
	}
	return text[at:]
}

// loaderHost is for programs that only malware loads from anywhere.
func loaderHost(m *match) (Severity, bool) {
	if hostClass(m.line(300)) == hostShady {
		return Critical, true
	}
	return m.rule.severity, true
}

// byHostQuiet is byHost for what honest installers do as well.
func byHostQuiet(m *match) (Severity, bool) {
	switch hostClass(m.text()) {
	case hostPlain:
		return Medium, true
	case hostShady, hostTelling:
		m.soft = true
		return Critical, true
	case hostNone:
		return "", false
	}
	return Low, true
}

func endsWith(data []byte, tail string) bool {
	return strings.HasSuffix(string(data[max(0, len(data)-len(tail)):]), tail)
}
