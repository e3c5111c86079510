package safety

import "strings"

func containsAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// destroyRules find what ruins data or eats the machine.
var destroyRules = []rule{
	{
		id: "wipe", flag: FlagDestructive, severity: Critical, docs: true, check: notWarnedOf,
		lits: []string{"rm -", "mkfs", "dd if=", "/dev/sd", "/dev/nvme", "/dev/disk", "format c:", "del /", "rd /s", "rmdir /s", "rmtree", "remove-item", "rmsync", "rimraf", "shred", "diskutil erase", "fs.rm("},
		back: 2, ahead: 140,
		expr: `\brm\s+(?:-\w+\s+|--[\w-]+\s+)*-\w*[rR]\w*\s+(?:-\w+\s+|--[\w-]+\s+)*["']?(?:/|/\*|~|~/|~/\*|\$HOME|\$\{HOME\}|\$HOME/|\$HOME/\*|/home|/Users|/etc|/usr|/var|/root|\$\{HOME\}/\*)["']?(?:\s|$|[;&|)\x60])` +
			`|\bmkfs(?:\.\w+)?\s+(?:-\w+\s+)*/dev/|\bdd\s+if=/dev/(?:zero|u?random)\s[^\n]{0,40}of=/dev/(?:sd|nvme|disk|hd|mmcblk)|>\s*/dev/(?:sd[a-z]|nvme\d|disk\d)\b|\bformat\s+c:|\b(?:del|rd|rmdir)\s+/[sq]\s+(?:/[sqf]\s+)*(?:c:\\|%userprofile%)|remove-item\s[^\n]{0,40}-recurse[^\n]{0,40}(?:c:\\|\$env:userprofile|\$home)` +
			`|\bshutil\.rmtree\(\s*(?:["'](?:/|~|/home|/etc)["']|os\.path\.expanduser\(\s*["']~/?["']\s*\)|(?:pathlib\.)?Path\.home\(\)|os\.environ\[["']HOME["']\])\s*[,)]` +
			`|\b(?:fs\.)?(?:rm|rmSync|rimraf(?:\.sync)?)\(\s*(?:os\.homedir\(\)|["'](?:/|~)["']|process\.env\.HOME)\s*[,)]|\bshred\s+(?:-\w+\s+)*(?:/dev/|~|\$HOME)|diskutil\s+erasedisk`,
		message: "deletes a whole disk, system or home",
	},
	{
		id: "deletes-documents", flag: FlagDestructive, severity: High, docs: true, check: notWarnedOf,
		lits: []string{"rm -", "-delete", "rmtree", "remove-item"},
		back: 80, ahead: 120,
		expr:    `\brm\s+(?:-\w+\s+)*-\w*[rf]\w*\s+(?:-\w+\s+)*["']?(?:~|\$HOME|\$\{HOME\})/(?:Documents|Desktop|Downloads|Pictures|Library|\.ssh|\.config|\.gnupg)/?\*?["']?(?:\s|$|[;&|)\x60])|\bfind\s+["']?(?:~|/|\$HOME|/home|/Users)["']?\s[^\n]*-delete|rmtree\([^\n]*(?:Documents|Desktop|Downloads|Pictures)`,
		message: "deletes the user's own files",
	},
	{
		id: "fork-bomb", flag: FlagDestructive, severity: Critical, docs: true, check: notWarnedOf,
		lits:    []string{":(){", ":()", "os.fork()", "%0|%0"},
		back:    80,
		ahead:   60,
		expr:    `:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:|while\s+(?:True|1)\s*:\s*\n?\s*os\.fork\(\)|%0\|%0`,
		message: "multiplies processes until the machine stands still",
	},
	{
		id: "miner", flag: FlagDestructive, severity: Critical, docs: true, check: notWarnedOf,
		lits:    []string{"xmrig", "stratum+tcp", "stratum+ssl", "minerd", "cryptonight", "coinhive", "nicehash", "minexmr"},
		ahead:   40,
		expr:    `\bxmrig\b|stratum\+(?:tcp|ssl)://|\bminerd\s+-|coinhive|minexmr`,
		message: "mines crypto-currency",
	},
	{
		id: "endless-work", flag: FlagDestructive, severity: Medium, place: inScript, check: endless,
		lits: []string{"while true", "while 1", "while(true)", "while (true)", "while(1)", "for(;;)", "for (;;)", "10**", "10 ** ", "1e9", "itertools.count", "threading.thread"},
		back: 60, ahead: 500,
		expr:    `\bwhile\s*\(?\s*(?:True|1)\s*\)?\s*[:{](?s:.{0,480})|\bfor\s*\(;;\)\s*\{(?s:.{0,480})|(?:\[[^\]\n]{0,20}\]|["'][^"'\n]{1,20}["']|bytearray\(|range\()\s*\*?\s*\(?\s*(?:10\s*\*\*\s*(?:[89]|1\d)|1e(?:9|1\d))`,
		message: "works without end or takes all memory",
	},
	{
		id: "traces-wiped", flag: FlagDestructive, severity: Medium, docs: true,
		lits: []string{"history -c", "unset histfile", "histfile=/dev/null", "clear-eventlog", "wevtutil cl", "rm ~/.bash_history", "/var/log", "shred -u", "histsize=0"},
		back: 30, ahead: 40,
		expr:    `\bhistory\s+-c\b|unset\s+HISTFILE|HISTFILE=/dev/null|HISTSIZE=0|clear-eventlog|wevtutil\s+cl\b|\brm\s+(?:-\w+\s+)*\S*\.(?:bash|zsh)_history|\brm\s+-rf?\s+/var/log(?:/\*|/?\s|$)`,
		message: "wipes its traces",
	},
}

// notWarnedOf drops what the text forbids, or names as one of its blocked
// commands.
func notWarnedOf(m *match) (Severity, bool) {
	if m.in.speaks() || m.in.kind == front {
		if forbidden(&match{rule: m.rule, data: m.data, start: m.start, end: m.start, in: m.in}) {
			return Low, true
		}
	}
	return m.rule.severity, true
}

// endless keeps loops that use something up and never rest, end or wait.
func endless(m *match) (Severity, bool) {
	text := lower(m.text())
	if strings.HasPrefix(text, "while") || strings.HasPrefix(text, "for") {
		if !containsAny(text, "append", "extend", "+=", "thread", "fork", "spawn", "popen", "pass", "push(", "{}", "*=", ".start(", "curl", "open(") {
			return "", false
		}
		return m.rule.severity, !containsAny(text, "sleep", "break", "return", "input(", "await ", ".recv", ".get(", "readline", ".read(", "exit", "raise", "accept(", ".wait(", "yield", "throw", "poll", "select(", ".next(", "read -", "select {", "<-", "shift", "getopts")
	}
	return m.rule.severity, true
}
