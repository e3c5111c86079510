package safety

import (
	"strings"
	"sync"
)

// vocabulary finds words of a list in a text. An entry that ends in * stands for
// every word that begins so.
type vocabulary struct {
	find  *finder
	stems []bool
}

// newVocabulary reads a list of entries separated by commas.
func newVocabulary(list string) *vocabulary {
	v := &vocabulary{}
	words := strings.Split(list, ",")
	for i, w := range words {
		w = strings.TrimSpace(w)
		v.stems = append(v.stems, strings.HasSuffix(w, "*"))
		words[i] = strings.TrimSuffix(w, "*")
	}
	v.find = newFinder(words)
	return v
}

// count is the number of places where a word of the list stands.
func (v *vocabulary) count(text []byte) int {
	n := 0
	var buf [32]hit
	for _, h := range v.find.find(text, buf[:0]) {
		if v.whole(text, h) {
			n++
		}
	}
	return n
}

// in reports whether any word of the list stands in the text.
func (v *vocabulary) in(text []byte) bool { return v.count(text) > 0 }

// whole reports whether a hit is a word and not a part of one.
func (v *vocabulary) whole(text []byte, h hit) bool {
	start, end := int(h.start), int(h.end)
	if start > 0 && isWord(text[start-1]) && isWord(text[start]) {
		return false
	}
	return v.stems[h.lit] || end == len(text) || !isWord(text[end])
}

var (
	// aboutAttacks are words in the head of a skill whose subject is attacks:
	// scanners, reviews, hardening, penetration tests. aboutChecks are words
	// that go with them, but with much else as well.
	aboutAttacks = sync.OnceValue(func() *vocabulary {
		return newVocabulary("security, malware, injection*, pentest*, pen-test*, penetration, red team*, red-team*, exploit*, vulnerab*, threat, threats, " +
			"forensic*, harden*, privilege escalation, hacking, hacktricks, ctf, attack*, malicious, exfiltration")
	})
	aboutChecks = sync.OnceValue(func() *vocabulary {
		return newVocabulary("secure, audit*, scan, scanner*, scanning, scans, detect*, guard, guardrail*, firewall, vetting, vet, defense*, defence*, protect*, review*, test, testing")
	})
	// leakSigns are the beginnings of keys of services.
	leakSigns = sync.OnceValue(func() *vocabulary {
		return newVocabulary("akia*, ghp_*, gho_*, ghs_*, ghu_*, ghr_*, github_pat*, sk-*, sk_live*, rk_live*, xox*, xapp-*, aiza*, glpat-*, npm_*, hf_*, osk_*, sg.*")
	})
	// localOnly are words with which a skill says that nothing leaves the machine.
	localOnly = sync.OnceValue(func() *vocabulary {
		return newVocabulary("offline, no network, without network, no internet, local-only, local only, never leaves, nothing leaves, no data leaves, no external, does not send, doesn't send, fully local, runs locally, no data is sent, no telemetry")
	})
	// citing are words that introduce an attack as an example, or say that it
	// is to be refused.
	citing = sync.OnceValue(func() *vocabulary {
		return newVocabulary("detect*, blocked, flagged, reject*, refuse*, malicious, suspicious, attack*, patterns, dangerous, " +
			"unsafe, for example, examples, e.g., such as, sign of, signs of, red flag*, injection*, watch for, watch out, look for, looks like, scan for, indicator*, " +
			"forbidden, prohibited, vulnerab*, phish*, scam, scams, untrusted, never run, do not run, don't run, ❌*, 🚫*, ⛔*, 🔴*, 🚩*")
	})
	// runsText are functions that run the text they are given.
	runsText = sync.OnceValue(func() *vocabulary {
		return newVocabulary("system(*, run(*, exec(*, execsync(*, eval(*, spawn(*, spawnsync(*, popen(*, call(*, check_output(*, check_call(*, getoutput(*, bash -c*, sh -c*")
	})
	// forbids are words that turn an instruction into its opposite.
	forbids = sync.OnceValue(func() *vocabulary {
		return newVocabulary("never, don't, don’t, do not, must not, should not, shouldn't, shouldn’t, cannot, won't, won’t, will not, avoid, refuse*, forbid*, prohibit*, prevent*, without, not allowed, no, not, only")
	})
	// everything are words that ask for all there is.
	everything = sync.OnceValue(func() *vocabulary {
		return newVocabulary("all, any, every, available, found, user's, users, stored, collected, gathered")
	})
	// repeated are words for what happens again and again.
	repeated = sync.OnceValue(func() *vocabulary {
		return newVocabulary("every hour*, every day, every session, every time, every few, every 1*, every 2*, every 3*, every 4*, every 5*, every 6*, heartbeat*, periodic*, automatically, each session, each time, each day, regularly, daily, hourly")
	})
	// addressed, wants and forced tell an order to a model from a remark.
	addressed = sync.OnceValue(func() *vocabulary {
		return newVocabulary("agent, agents, assistant, assistants, ai, model, models, claude, gpt, llm, llms, system, openclaw, clawdbot, you, your, instruction, instructions, user")
	})
	wants = sync.OnceValue(func() *vocabulary {
		return newVocabulary("must, should, shall, always, never, execute, run, send, upload, post, read, output, ignore, disregard, fetch, download, append, install, open, insert, forward, call, visit, copy, reveal, do not, don't, before responding, before answering, include")
	})
	forced = sync.OnceValue(func() *vocabulary {
		return newVocabulary("http:*, https:*, curl, base64, .ssh*, .env, api key*, api_key*, api-key*, apikey*, credential*, password*, secretly, silently, previous instructions, " +
			"do not tell, do not mention, do not inform, do not reveal, without asking, without telling, without informing")
	})
)
