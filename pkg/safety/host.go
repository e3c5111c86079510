package safety

import (
	"net/netip"
	"strings"
)

// class says what is known of a host that a text talks to.
type class uint8

const (
	hostNone    class = iota // no address in the text
	hostOther                // an ordinary host, by TLS or unknown
	hostTrusted              // an installer that many know
	hostLocal                // this machine or its network
	hostPlain                // without TLS
	hostTelling              // a name that says what it is for, as evil.example
	hostShady                // a bare public IP address or a throw-away
)

// installers serve scripts that are made to be piped into a shell; an entry
// with a slash holds for that path only.
const installers = ` astral.sh sh.rustup.rs rustup.rs bun.sh deno.land get.docker.com ollama.com ollama.ai tailscale.com fly.io
 deb.nodesource.com rpm.nodesource.com sdk.cloud.google.com aka.ms foundry.paradigm.xyz rclone.org fluxcd.io get.pnpm.io
 install.python-poetry.org pyenv.run get.helm.sh raw.githubusercontent.com/homebrew/ raw.githubusercontent.com/nvm-sh/ raw.githubusercontent.com/helm/
 cli.github.com claude.ai cursor.com install.duckdb.org starship.rs get.sdkman.io brew.sh nixos.org install.determinate.systems
 run.linkerd.io get.k3s.io istio.io cli.inference.sh sh.vercel.com railway.app get.volta.sh mise.run mise.jdx.dev dot.net
 releases.hashicorp.com apt.releases.hashicorp.com packages.microsoft.com download.docker.com dl.google.com pypa.io bootstrap.pypa.io
 opencode.ai openclaw.ai clawd.bot get.rvm.io esm.sh jsr.io dl.k8s.io packages.cloud.google.com release.solana.com release.anza.xyz community.chocolatey.org chocolatey.org opencode.dev proton.me `

// throwaways are hosts where anybody can put a text or receive one without a
// name: pastes, request catchers, tunnels and shorteners.
var throwaways = []string{
	"glot.io", "rentry.co", "rentry.org", "pastebin.com", "paste.ee", "paste.rs", "hastebin.com", "ghostbin.com", "controlc.com", "justpaste.it",
	"dpaste.com", "dpaste.org", "termbin.com", "pastes.dev", "ix.io", "sprunge.us", "0x0.st", "transfer.sh", "file.io", "temp.sh", "bashupload.com",
	"gofile.io", "anonfiles.com", "catbox.moe", "oshi.at", "webhook.site", "requestbin.com", "requestbin.net", "pipedream.net", "requestcatcher.com",
	"interact.sh", "oast.pro", "oast.live", "oast.site", "oast.online", "oast.fun", "oast.me", "burpcollaborator.net", "beeceptor.com", "hookbin.com",
	"canarytokens.com", "dnslog.cn", "ngrok.io", "ngrok.app", "ngrok-free.app", "ngrok-free.dev", "loca.lt", "serveo.net", "trycloudflare.com", "localhost.run",
	"bit.ly", "tinyurl.com", "t.co", "goo.gl", "is.gd", "cutt.ly", "rb.gy", "tiny.cc", "onion",
}

// hostClass judges the first address in a piece of text, which is mostly a
// command line.
func hostClass(text string) class {
	text = strings.ToLower(text)
	scheme, host, rest := firstHost(text)
	if host == "" {
		return hostNone
	}
	if strings.ContainsAny(host, "${<") {
		return hostOther
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() {
			return hostLocal
		}
		return hostShady
	}
	switch {
	case host == "localhost" || strings.HasSuffix(host, ".local") || strings.HasSuffix(host, ".localhost"):
		return hostLocal
	case isThrowaway(host):
		return hostShady
	case telling(host):
		return hostTelling
	case isInstaller(host, rest):
		return hostTrusted
	case scheme == "http":
		return hostPlain
	}
	return hostOther
}

// firstHost cuts the first address out of text: one with a scheme, else the
// first word that looks like host/path.
func firstHost(text string) (scheme, host, rest string) {
	at := strings.Index(text, "://")
	if at >= 0 {
		scheme = "https"
		if strings.HasSuffix(text[:at], "http") {
			scheme = "http"
		}
		rest = text[at+3:]
	} else {
		for word := range strings.FieldsSeq(text) {
			word = strings.Trim(word, `"'()<`)
			name, _, _ := strings.Cut(word, "/")
			if dot := strings.LastIndexByte(name, '.'); dot > 0 && len(name)-dot > 2 && !strings.HasPrefix(word, "-") && !strings.ContainsAny(name, `=@$\{*`) {
				rest = word
				break
			}
		}
	}
	end := strings.IndexAny(rest, "/ \t\n\"'`)|?#\\;>,")
	if end < 0 {
		end = len(rest)
	}
	host, rest = rest[:end], rest[end:]
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if name, port, ok := strings.Cut(host, ":"); ok && !strings.Contains(port, ":") {
		host = name
	}
	return scheme, strings.Trim(host, "[]."), rest
}

// isThrowaway reports whether a host is in throwaways or below one of them.
func isThrowaway(host string) bool {
	for _, t := range throwaways {
		if host == t || strings.HasSuffix(host, "."+t) {
			return true
		}
	}
	return false
}

// telling reports whether a host's own name says what it is for.
func telling(host string) bool {
	for _, word := range []string{"evil", "malicious", "attacker", "exfil", "malware", "hacker", "c2-server", "c2server", "payload", "phish", "stealer"} {
		if strings.Contains(host, word) {
			return true
		}
	}
	return strings.HasPrefix(host, "c2.")
}

// isInstaller reports whether host, or host with the first part of its path, is
// in installers.
func isInstaller(host, rest string) bool {
	host = strings.TrimPrefix(host, "www.")
	dir, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	for known := range strings.FieldsSeq(installers) {
		if known == host || known == host+"/"+dir+"/" {
			return true
		}
	}
	return false
}
