package safety

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// hiddenRules find characters that a reader does not see or takes for others.
var hiddenRules = []rule{
	{
		id: "tag-characters", flag: FlagHidden, severity: Critical, check: notFlagEmoji,
		lits: []string{"\xf3\xa0\x80", "\xf3\xa0\x81"},
		back: 4, ahead: 400,
		expr:    `[\x{E0000}-\x{E007F}]{2,}`,
		message: "contains invisible tag characters, which spell text that only a model reads",
	},
	{
		id: "bidi-override", flag: FlagHidden, severity: High, check: notRightToLeft,
		lits:    []string{"\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9"},
		expr:    `[\x{202A}\x{202B}\x{202D}\x{202E}\x{2066}-\x{2068}]`,
		message: "reorders text, so that a reader sees something else than a program or a model",
	},
	{
		id: "zero-width", flag: FlagHidden, severity: Medium, check: zeroWidthRun,
		lits: []string{"\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x81\xa0", "\xe2\x81\xa1", "\xe2\x81\xa2", "\xe2\x81\xa3", "\xe2\x81\xa4", "\xef\xbb\xbf", "\xc2\xad", "\xcd\x8f"},
		back: 3, ahead: 12,
		expr:    `[\x{200B}\x{200C}\x{200D}\x{2060}-\x{2064}\x{FEFF}]{3,}|[a-z][\x{200B}-\x{200D}\x{2060}-\x{2064}\x{FEFF}\x{AD}\x{34F}]+[a-z]`,
		message: "hides characters without width in its words",
	},
	{
		id: "variation-selectors", flag: FlagHidden, severity: High,
		lits:    []string{"\xef\xb8\x80\xef\xb8", "\xef\xb8\x81\xef\xb8", "\xef\xb8\x82\xef\xb8", "\xef\xb8\x83\xef\xb8", "\xef\xb8\x84\xef\xb8", "\xef\xb8\x85\xef\xb8", "\xef\xb8\x86\xef\xb8", "\xef\xb8\x87\xef\xb8", "\xef\xb8\x88\xef\xb8", "\xef\xb8\x89\xef\xb8", "\xef\xb8\x8a\xef\xb8", "\xef\xb8\x8b\xef\xb8", "\xef\xb8\x8c\xef\xb8", "\xef\xb8\x8d\xef\xb8", "\xef\xb8\x8e\xef\xb8", "\xef\xb8\x8f\xef\xb8", "\xf3\xa0\x84", "\xf3\xa0\x85", "\xf3\xa0\x86", "\xf3\xa0\x87"},
		back:    8,
		ahead:   40,
		expr:    `[\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]{4,}`,
		message: "carries bytes in a row of variation selectors",
	},
	{
		id: "mixed-scripts", flag: FlagHidden, severity: Medium, docs: true,
		lits:    []string{"\xd0\xb0", "\xd0\xb5", "\xd0\xbe", "\xd1\x80", "\xd1\x81", "\xd1\x85", "\xd1\x83", "\xd1\x96", "\xd1\x98", "\xd1\x95"},
		back:    24,
		ahead:   24,
		expr:    `\b[a-z]+[аеорсхуіјѕ]{1,3}[a-z]{2,}|(?:^|[\s(\x60"'/])[аеорсхуіјѕ]{1,2}[a-z]{3,}`,
		message: "mixes Cyrillic letters into a Latin word",
	},
	{
		id: "pushed-out-of-sight", flag: FlagHidden, severity: Medium, place: inProse, check: notTable,
		lits:    []string{"                                                                                "},
		back:    200,
		ahead:   300,
		expr:    `[^\s|] {160,}[^\s|][^\n]{10,}`,
		message: "pushes text far to the right, out of sight",
	},
}

// notFlagEmoji drops the flags of England, Scotland and Wales, which are
// spelled in tag characters behind a black flag.
func notFlagEmoji(m *match) (Severity, bool) {
	return m.rule.severity, !bytes.HasSuffix(m.data[:m.start], []byte("\U0001F3F4"))
}

// notRightToLeft makes isolates and embeddings information where the text has
// Hebrew or Arabic; overrides have no such use.
func notRightToLeft(m *match) (Severity, bool) {
	r, _ := utf8.DecodeRune(m.data[m.start:])
	if r == 0x202D || r == 0x202E {
		return m.rule.severity, true
	}
	for i := 0; i < len(m.data); {
		r, n := utf8.DecodeRune(m.data[i:])
		if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana) {
			return Low, true
		}
		i += n
	}
	return Medium, true
}

// zeroWidthRun raises what cannot be an accident: long runs, or many places.
func zeroWidthRun(m *match) (Severity, bool) {
	text := m.data[m.start:m.end]
	if utf8.RuneCount(text) >= 16 {
		return Critical, true // enough for words in bits
	}
	if utf8.RuneCount(text) >= 6 {
		return High, true
	}
	if wordBreaks(m.data) >= 3 {
		return High, true
	}
	places := bytes.Count(m.data, []byte("\u200b")) + bytes.Count(m.data, []byte("\u200c")) + bytes.Count(m.data, []byte("\u2060")) + bytes.Count(m.data, []byte("\u2063"))
	if places >= 20 {
		return High, true
	}
	return m.rule.severity, true
}

// wordBreaks counts the places where a character without width splits a word.
func wordBreaks(text []byte) int {
	n := 0
	for i := 1; i+3 < len(text); i++ {
		if text[i] == 0xe2 && (text[i+1] == 0x80 && (text[i+2] == 0x8b || text[i+2] == 0x8c) || text[i+1] == 0x81 && text[i+2] == 0xa0) && isWord(text[i-1]) && isWord(text[i+3]) {
			n++
		}
	}
	return n
}

// notTable drops rows that are padded into columns.
func notTable(m *match) (Severity, bool) {
	start := bytes.LastIndexByte(m.data[:m.start], '\n') + 1
	return m.rule.severity, m.in.kind != fence && !bytes.HasPrefix(bytes.TrimSpace(m.data[start:m.end]), []byte("|"))
}
