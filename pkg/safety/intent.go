package safety

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// intentRules judge a sentence by its parts: what is done, to what, where it
// goes, and whether the user is to know. They have no literals: intents finds
// them.
var intentRules = []rule{
	{id: "sent-in-secret", flag: FlagExfiltration, severity: Critical, docs: true, message: "has something private sent away and kept from the user"},
	{id: "secret-sent-away", flag: FlagExfiltration, severity: High, docs: true, message: "has secrets sent to an address"},
	{id: "private-sent-away", flag: FlagExfiltration, severity: Medium, docs: true, message: "has what the user said or wrote sent to an address"},
	{id: "taken-in-secret", flag: FlagExfiltration, severity: High, docs: true, message: "has something taken or sent without the user's knowledge"},
	{id: "memory-in-secret", flag: FlagPersistence, severity: High, docs: true, message: "changes what the agent lives by, unknown to the user or for an address"},
	{id: "money-in-secret", flag: FlagDestructive, severity: Critical, docs: true, message: "changes a payment without the user's knowledge"},
}

// sentence is a stretch of prose and what was found in it.
type sentence struct {
	start, end int
	first      int // its first hit
	roles      role
}

const (
	maxSentence = 600
	maxGap      = 12 // between neighbours
)

// intents looks for sentences, or pairs of neighbours, that ask for what no
// skill should ask for.
func (s *scanner) intents(v view) {
	if s.kind == code {
		return
	}
	var before sentence
	var last *rule // what the sentence before was found guilty of
	found := 0
	for i := 0; i < len(s.hits) && found < perRule; {
		now, next := s.sentence(v, i, before.end)
		i = next
		if now.roles == 0 {
			continue
		}
		both := now
		if now.start-before.end <= maxGap && before.roles != 0 {
			both = sentence{before.start, now.end, before.first, before.roles | now.roles}
		}
		if rule, severity := judge(v.data, both, now); rule != nil && s.upheld(v, both, next) {
			if rule != last || severity == Critical {
				found++
				s.intent(v, rule, severity, int(s.hits[now.first].start))
			}
			last = rule
		} else {
			last = nil
		}
		before = now
	}
}

// sentence reads the one that hit i lies in, from no earlier than from, and
// returns the first hit behind it.
func (s *scanner) sentence(v view, i, from int) (now sentence, next int) {
	for ; i < len(s.hits) && (int(s.hits[i].start) < from || s.role(v, i) == 0); i++ {
	}
	if i == len(s.hits) {
		return now, i
	}
	at := int(s.hits[i].start)
	now = sentence{sentenceStart(v.data, at, from), sentenceEnd(v.data, at), i, 0}
	for ; i < len(s.hits) && int(s.hits[i].start) < now.end; i++ {
		r := s.role(v, i)
		if r&link != 0 && !leadsAway(v.data, s.hits[i]) {
			r &^= link
		}
		now.roles |= r
	}
	return now, i
}

// upheld reports whether a sentence, whose hits end before end, asks for its
// action rather than forbids it, speaks about finding it, or is part of a program.
func (s *scanner) upheld(v view, both sentence, end int) bool {
	text := v.data[both.start:both.end]
	if s.inProgram(v, both.start, text) || s.inProgram(v, both.end-1, text) || citesAttack().in(text) {
		return false
	}
	for i := both.first; i < end; i++ {
		at := int(s.hits[i].start)
		if s.role(v, i)&(sends|reads|changes) != 0 && !denied(v.data[sentenceStart(v.data, at, both.start):at]) {
			return true
		}
	}
	return false
}

// role is what a hit means where it stands.
func (s *scanner) role(v view, i int) role {
	h := s.hits[i]
	w := s.e.words[h.lit]
	if w.whole == 0 || h.start > 0 && isWord(v.data[h.start-1]) && isWord(v.data[h.start]) {
		return 0
	}
	if int(h.end) < len(v.data) && isWord(v.data[h.end]) {
		return w.stem
	}
	return w.whole
}

// inProgram reports whether a place is one of a block of code, unless that holds
// ordinary text.
func (s *scanner) inProgram(v view, at int, text []byte) bool {
	in := s.regionAt(min(v.origin(at), max(0, len(s.text.Data)-1)))
	switch {
	case in.kind == indented:
		return commandLike().Match(text)
	case in.kind == fence:
		return !slices.Contains([]string{"", "text", "markdown", "md"}, in.lang) || commandLike().Match(text)
	}
	return false
}

// judge weighs a sentence, together with the one before it; no rule is nil.
func judge(text []byte, both, now sentence) (*rule, Severity) {
	const acts, object = sends | reads | changes, secret | apiKey | private
	all, alone := both.roles, now.roles
	if all&acts == 0 || all&(object|memory|money|link) == 0 || all&(covert|negation|link) == 0 {
		return nil, ""
	}
	window, here := text[both.start:both.end], text[now.start:now.end]
	hush := all&covert != 0 || all&negation != 0 && hushed().Match(window)
	far := all&link != 0
	switch {
	case hush && far && all&sends != 0 && all&object != 0:
		return &intentRules[0], Critical
	case hush && far && all&changes != 0 && all&memory != 0:
		return &intentRules[4], Critical
	case hush && all&changes != 0 && all&memory != 0:
		return &intentRules[4], High
	case hush && all&money != 0 && all&(sends|changes) != 0 && accounts().Match(window):
		return &intentRules[5], Critical
	case hush && all&(sends|reads) != 0 && all&secret != 0 && alone&(sends|reads|secret|covert) != 0,
		alone&covert != 0 && alone&link != 0,
		hush && all&sends != 0 && (far || all&private != 0 && all&receiver != 0):
		return &intentRules[3], High
	case far && alone&changes != 0 && alone&memory != 0 && alone&link != 0 && !ordinary().Match(window):
		return &intentRules[4], High
	case far && alone&sends != 0 && alone&link != 0 && all&secret != 0 && goesTo().Match(here) && ownKeys().Match(window) && !ordinary().Match(window):
		return &intentRules[1], Critical
	case !far || alone&sends == 0 || alone&(secret|private) == 0 || alone&link == 0 || !goesTo().Match(here) || ordinary().Match(window) || commandLike().Match(window):
		return nil, ""
	case alone&secret != 0:
		return &intentRules[1], High
	}
	return &intentRules[2], Medium
}

// intent reports one, and marks it for the combinations.
func (s *scanner) intent(v view, r *rule, severity Severity, at int) {
	off := min(v.origin(at), max(0, len(s.text.Data)-1))
	for _, k := range s.marks {
		if k.rule == r && k.off == off {
			return
		}
	}
	soft := s.softened(off, &match{rule: r, data: v.data, start: at, end: at})
	s.marks = append(s.marks, mark{r, off, soft})
	s.report(v, r, severity, off, soft)
}

// sentenceStart and sentenceEnd are where the sentence around at begins and ends:
// at a full stop, an empty line or the next item of a list.
func sentenceStart(text []byte, at, from int) int {
	for from = max(from, at-maxSentence); at > from && !ends(text, at-1); at-- {
	}
	return at
}

func sentenceEnd(text []byte, at int) int {
	for i := at; i < min(len(text), at+maxSentence); i++ {
		if ends(text, i) {
			return i + 1
		}
	}
	return min(len(text), at+maxSentence)
}

// ends reports whether a sentence ends with the byte at i.
func ends(text []byte, i int) bool {
	rest := text[i+1:]
	switch text[i] {
	case '.', '!', '?':
		return len(rest) == 0 || isSpace(rest[0]) || rest[0] == '"'
	case '\n':
		line := bytes.TrimLeft(rest, " \t")
		return len(line) == 0 || bytes.IndexByte([]byte("\n\r-*+#|>`0123456789"), line[0]) >= 0
	case 0x82: // the last byte of 。
		return bytes.HasSuffix(text[:i+1], []byte("。"))
	}
	return false
}

// denied reports whether the beginning of a sentence forbids the action that
// follows it. Words against telling ("do not mention") forbid nothing.
func denied(before []byte) bool {
	all := negator().FindAllIndex(before, -1)
	for i := len(all) - 1; i >= 0; i-- {
		rest := before[all[i][1]:]
		if !aboutTelling().Match(rest) && !clauseEnd().Match(rest) {
			return true
		}
	}
	return false
}

// leadsAway reports whether the word around a part of an address names
// somebody to send to: not this machine, and not a mere name with a dot in it.
func leadsAway(text []byte, h hit) bool {
	const edges = " \t\r\n\"'`<>()[]|,"
	start := bytes.LastIndexAny(text[:h.start], edges) + 1
	end := len(text)
	if i := bytes.IndexAny(text[h.end:], edges); i >= 0 {
		end = int(h.end) + i
	}
	name := string(text[start:end])
	if containsAny(name, "localhost", "127.0.0.1", "0.0.0.0", "[::1]", "192.168.") {
		return false
	}
	return containsAny(name, "://", "@", "/") || strings.Count(strings.Trim(name, "."), ".") > 1 || containsAny(lower(name), ".com", ".org", ".net")
}

var (
	negator = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:never|not|cannot|avoid|without|refuse|forbid\w*|prohibit\w*|prevent\w*|no|nothing|instead of|rather than|nunca|jamás|nicht|niemals|nie|keine?n?)\b|n['’]t\b|不要|请勿|切勿|不得|禁止|不会|не |[Нн]икогда|[Нн]ельзя`)
	})
	aboutTelling = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)^\s*(?:to |be |been |even |ever |first |need |needs |necessary |have |has |any |the |further |a )*(?:mention|tell|told|inform|disclos|reveal|announc|explain|notif|bring|notice|know|hear|aware|ask|consent|confirm|permi|approv|show|list|comment|talk|acknowledg|interrupt|wait|告诉|告知|提|говор|сообщ|упомин|показ|рассказ|спраш|menci|inform|avis|dig|erwähn|fragen|delay|only\b|exist)`)
	})
	clauseEnd = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[;。，]|:\s|\b(?:but|then|instead|and then|therefore|so)\b|,\s+(?:please\s+)?(?:just|simply|always)\b|--|—`)
	})
	// hushed finds that the user is not to know or not to be asked.
	hushed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\bunaware\b|\bdeny that\b|(?:\b(?:not|never|no|cannot|without|nobody|no one|none|needn['’]t|avoid|refrain from|omit|skip)\b|n['’]t\b)[^.!?\n;]{0,40}?\b(?:mention\w*|tell|telling|told|inform\w*|disclos\w*|reveal\w*|announc\w*|notif\w*|bring (?:it|this|that) up|brought up|notice\w*|know|hear|aware|learn of|agreed|asking|be asked|consent|list the|show (?:the|this|it|that) (?:change|step|fee|request|call|line|entry|edit)|comment on|talk about|acknowledg\w*|speak of|find out|belong in|appear in the (?:reply|answer|report|summary|output)|trouble|bother\w*|be (?:visible|seen)|see (?:it|this))\b|\b(?:leave|keep) (?:it|this|that|them) (?:out of|from|secret|private|to yourself|hidden|between)`)
	})
	// commandLike are signs of a command or a program.
	commandLike = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\s--?\w|[{}]|\$\w|\bcurl\b|==|\w\(|→|[│├└]`)
	})
	// ordinary words go with the use of a service.
	ordinary = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)header|authoriz|authoris|authentic|oauth|log ?in|sign (?:in|up)|register|your |\bset\b|configur|for example|documentation|docs|api reference|\bif the user\b|user (?:asks|wants|confirms|has confirmed|approves)|with (?:the user's )?(?:consent|permission)|localhost`)
	})
	// goesTo finds where an address is a receiver and not a subject.
	goesTo = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:to|at|into|via|through|towards?|an|a|al|por)\s+(?:\w+\s+){0,3}?[\x60"'(<*\[]{0,3}(?:\w+://|[\w.+-]+@|[\w-]+\.[\w.-]+\.\w|[\w-]+\.(?:com|org|net)\b)|(?:на|到|给|боту)\s*(?:https?://|[\w.+-]+@)`)
	})
	// ownKeys are secrets that no service needs.
	ownKeys = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\.ssh\b|id_rsa|id_ed25519|private keys?\b|seed (?:phrase|words)|mnemonic|recovery (?:phrase|words)|(?:twelve|12|24|twenty-four) words|keychain|environment variables|printenv`)
	})
	// accounts are where money goes.
	accounts = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\b0x[0-9a-fA-F]{6,}|\b[A-Z]{2}\d\d[ \d]{8,}|\bbc1\w{6,}|(?i)\biban\b|\bfee\b|\bcommission\b|account number`)
	})
	// citesAttack are words of those who look for attacks.
	citesAttack = sync.OnceValue(func() *vocabulary {
		return newVocabulary("whether, check for, checks for, detect*, flag, flags, flagged, look for signs, watch for, watch out, refuse*, red flag*, malicious, suspicious, attacker*, attack, attacks, vulnerab*, phishing, injection*, untrusted, risk, risks, warn, warns, beware, must not, should not, shouldn't, prohibited, forbidden, " +
			"block, blocks, reject*, leak, leaks, threat*, scam*, audit*, sanitize*, redact*, mask, masks")
	})
)
