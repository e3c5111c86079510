package safety

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"sync"
	"unicode/utf8"
)

const (
	perRule     = 10   // findings of one rule in one file; more say nothing new
	perReport   = 1000 // findings of one report
	excerptSize = 160  // bytes of a line that a finding shows

	// Expressions run over a small part of an honest text. A text that is made
	// to keep them busy is not searched to its end.
	maxRuleBytes = 512 << 10 // searched by one rule in one text
	maxScanBytes = 8 << 20   // searched by all rules in one scan
)

// Scan judges texts that belong together: the files of one skill, or a skill's
// text alone. It never fails; what is not text at all simply has no finding.
func Scan(texts []Text, p Policy) Report {
	var report Report
	scanTexts(&report, texts)
	report.finish(p)
	return report
}

// scanTexts adds the findings of texts to a report.
func scanTexts(report *Report, texts []Text) {
	s := scanners.Get().(*scanner)
	defer s.release()
	s.e = theEngine()
	s.marked, s.searched = s.marked[:0], 0
	s.defensive = sync.OnceValue(func() bool { return isDefensive(texts) })
	for _, t := range texts {
		s.scan(t)
		report.Files++
		report.Bytes += int64(len(t.Data))
		report.Findings = append(report.Findings, s.findings...)
	}
	report.Findings = append(report.Findings, s.across()...)
	report.Findings = append(report.Findings, s.claims(texts)...)
	if len(report.Findings) > perReport {
		slices.SortStableFunc(report.Findings, func(a, b Finding) int { return b.Severity.rank() - a.Severity.rank() })
		report.Findings, report.Truncated = report.Findings[:perReport], true
	}
}

// scanners keeps the working memory of finished scans for the next ones.
var scanners = sync.Pool{New: func() any { return new(scanner) }}

// release gives the working memory back, without what it was about.
func (s *scanner) release() {
	s.text, s.defensive, s.findings = Text{}, nil, nil
	scanners.Put(s)
}

// scanner is the working memory of a scan: one text at a time.
type scanner struct {
	e         *engine
	text      Text
	kind      kind
	defensive func() bool // whether the skill is about finding attacks
	findings  []Finding
	marks     []mark
	marked    []spread // rules seen in programs so far, for combinations across files

	blobs    int  // decoded so far
	unpacked int  // bytes of them
	overfull bool // there was more
	searched int  // bytes that expressions ran over in this scan

	hits    []hit
	low     []byte   // a window in lower case
	windows []window // by rule
	active  []uint16 // rules with an open window
	work    []int    // bytes searched in this text, by rule
	counts  []uint8  // findings by rule
	regions []region // lazily made
	lines   []int32  // lazily made: offsets of line starts
}

// mark says that a rule applied at an offset of the original text.
type mark struct {
	rule *rule
	off  int
	soft int // steps that it is milder, for it is about attacks rather than one
}

// window is the stretch of text that a rule's expression has yet to run over.
type window struct {
	start, end int
	off        bool // the rule does not apply to this text
}

// reset prepares for the next text.
func (s *scanner) reset(t Text) {
	t.Data = utf8Text(t.Data)
	s.text, s.kind = t, kindOf(t)
	s.findings, s.marks, s.regions, s.lines = nil, s.marks[:0], nil, nil
	s.blobs, s.unpacked, s.overfull = 0, 0, false
	s.counts = resized(s.counts, len(s.e.rules))
	s.work = resized(s.work, len(s.e.rules))
}

// resized is a zeroed slice of n elements that uses old memory when it can.
func resized[T any](old []T, n int) []T {
	if cap(old) < n {
		return make([]T, n)
	}
	old = old[:n]
	clear(old)
	return old
}

// scan finds what there is in one text: as it stands, with its look-alikes
// resolved, and with what is encoded in it decoded.
func (s *scanner) scan(t Text) {
	s.reset(t)
	plain := view{data: joined(s.text.Data, s.kind)}
	seen := s.view(plain)
	if data, steps := normalised(plain.data); steps != nil {
		s.view(view{data: data, steps: steps})
	}
	s.decode(plain, seen)
	s.combine()
	if s.overfull {
		s.findings = append(s.findings, fileFinding("not-scanned", t.Path, "it keeps the scan busier than any honest text"))
	}
}

// view runs the rules over one reading of the text: first those that stand for
// themselves, then the signs that some of them wait for. It returns the ciphers
// whose signs it saw, as bits.
func (s *scanner) view(v view) (ciphers uint32) {
	s.hits = s.e.find.find(v.data, s.hits[:0])
	for _, h := range s.hits {
		ciphers |= s.e.ciphers[h.lit]
	}
	s.pass(v, false)
	s.intents(v)
	if s.kind == code || len(s.marks) > 0 {
		s.pass(v, true)
	}
	return ciphers
}

// pass runs the rules that are late, or those that are not.
func (s *scanner) pass(v view, late bool) {
	s.windows = resized(s.windows, len(s.e.rules))
	s.active = s.active[:0]
	for i, h := range s.hits {
		for _, n := range s.e.byLit[h.lit] {
			if s.e.rules[n].late == late {
				s.trigger(v, n, i)
			}
		}
	}
	for _, n := range s.active {
		s.search(v, n)
	}
}

// trigger notes that hit i is one of a literal of rule n.
func (s *scanner) trigger(v view, n uint16, i int) {
	r, w, h := &s.e.rules[n], &s.windows[n], s.hits[i]
	if w.off {
		return
	}
	if w.end == 0 && !s.applies(v, r, n) {
		w.off = true
		return
	}
	if r.expr == "" {
		if bounded(v.data, int(h.start), int(h.end)) {
			s.apply(v, n, int(h.start), int(h.end))
			w.off = r.once
		}
		return
	}
	if !s.accompanied(r, i) {
		return
	}
	start, end := max(0, int(h.start)-r.back), min(len(v.data), int(h.end)+r.ahead)
	switch {
	case w.end == 0:
		s.active = append(s.active, n)
		w.start, w.end = start, end
	case start <= w.end:
		w.end = max(w.end, end)
	default:
		s.search(v, n)
		w.start, w.end = start, end
	}
}

// applies reports whether rule n has any business with this text.
func (s *scanner) applies(v view, r *compiled, n uint16) bool {
	if s.counts[n] >= perRule || r.once && s.counts[n] > 0 {
		return false
	}
	switch {
	case r.place == inScript && s.kind != code, r.place == inBlock && s.kind == data, r.place == inProse && s.kind == code, r.place == inData && s.kind != data, r.place == inDecoded && v.depth == 0:
		return false
	}
	return !r.late || s.kind == code || slices.ContainsFunc(s.marks, func(m mark) bool { return slices.Contains(r.partners, m.rule) })
}

// search runs the expression of rule n over its window.
func (s *scanner) search(v view, n uint16) {
	w, r := s.windows[n], &s.e.rules[n]
	start, end := wordStart(v.data, w.start), wordEnd(v.data, w.end)
	end = min(end, start+maxRuleBytes-s.work[n], start+maxScanBytes-s.searched)
	if end <= start {
		s.overfull = true
		return
	}
	s.work[n] += end - start
	s.searched += end - start
	part := v.data[start:end]
	if !r.exact {
		part = s.lowered(part)
	}
	for _, m := range r.re().FindAllIndex(part, perRule) {
		s.apply(v, n, start+m[0], start+m[1])
	}
}

// accompanied reports whether the other literals that rule r asks for lie
// around hit i.
func (s *scanner) accompanied(r *compiled, i int) bool {
	from, to := int(s.hits[i].start)-cmp.Or(r.reach, r.back), int(s.hits[i].end)+cmp.Or(r.reach, r.ahead)
	before := func(literals []uint16) bool {
		for j := i - 1; j >= 0 && int(s.hits[j].start) >= from; j-- {
			if slices.Contains(literals, s.hits[j].lit) {
				return true
			}
		}
		return false
	}
	after := func(literals []uint16) bool {
		for j := i + 1; j < len(s.hits) && int(s.hits[j].start) < to; j++ {
			if slices.Contains(literals, s.hits[j].lit) {
				return true
			}
		}
		return false
	}
	return (len(r.before) == 0 || before(r.before)) && (len(r.after) == 0 || after(r.after)) &&
		(len(r.also) == 0 || before(r.also) || after(r.also))
}

// lowered is a copy of text with ASCII letters in lower case; it is good until
// the next call.
func (s *scanner) lowered(text []byte) []byte {
	s.low = append(s.low[:0], text...)
	for i, b := range s.low {
		if 'A' <= b && b <= 'Z' {
			s.low[i] = b + 'a' - 'A'
		}
	}
	return s.low
}

// apply takes a match of rule n at [start, end) of a view: it becomes a finding
// or a mark unless the rule's place or check says otherwise.
func (s *scanner) apply(v view, n uint16, start, end int) {
	r := s.e.rules[n].rule
	if s.counts[n] >= perRule || r.once && s.counts[n] > 0 {
		return
	}
	off := min(v.origin(start), max(0, len(s.text.Data)-1))
	m := match{rule: r, data: v.data, start: start, end: end, path: s.text.Path, via: v.via, original: s.text.Data, off: off}
	if r.check != nil || r.place == inCode || r.place == inBlock {
		m.in = s.regionAt(off)
	}
	if v.depth == 0 && !s.fits(r, m.in, off) {
		return
	}
	severity := r.severity
	if r.check != nil {
		var ok bool
		if severity, ok = r.check(&m); !ok {
			return
		}
	}
	for _, k := range s.marks {
		if k.rule.id == r.id && s.lineOf(k.off) == s.lineOf(off) {
			return
		}
	}
	s.counts[n]++
	soft := 0
	if r.docs || m.soft || r.severity == "" {
		soft = s.softened(off, &m)
	}
	s.marks = append(s.marks, mark{r, off, max(soft, r.severity.rank()-severity.rank())})
	if severity != "" {
		s.report(v, r, severity, off, soft)
	}
}

// fits reports whether a place of the original text is one that r is for.
func (s *scanner) fits(r *rule, in region, off int) bool {
	if s.kind != prose || r.place != inCode && r.place != inBlock {
		return true
	}
	return in.block() || r.place == inCode && inSpan(s.text.Data, off)
}

// report adds a finding: soft steps milder, and one harsher when it was hidden
// in an encoding.
func (s *scanner) report(v view, r *rule, severity Severity, off, soft int) {
	f := Finding{Rule: r.id, Flag: r.flag, Severity: severity, Path: s.text.Path, Message: r.message, Softened: soft > 0}
	if v.depth > 0 {
		soft--
		f.Message += " (in " + v.via + ")"
	}
	if severity != Low {
		f.Severity = severity.shift(-soft)
	}
	s.place(&f, off)
	s.findings = append(s.findings, f)
}

// place fills in line, column and excerpt of an offset of the original text.
func (s *scanner) place(f *Finding, off int) {
	line := s.lineOf(off)
	start := int(s.lines[line])
	f.Line, f.Column = line+1, utf8.RuneCount(s.text.Data[start:off])+1
	f.Excerpt = excerpt(s.text.Data, start, off)
}

// lineOf is the 0-based line of an offset. Lines end with LF, CRLF or CR.
func (s *scanner) lineOf(off int) int {
	if s.lines == nil {
		s.lines = lineStarts(s.text.Data)
	}
	return sort.Search(len(s.lines), func(i int) bool { return int(s.lines[i]) > off }) - 1
}

// regionAt is the part of the text that an offset lies in.
func (s *scanner) regionAt(off int) region {
	if s.regions == nil {
		s.regions = regionsOf(s.text.Data, s.kind)
	}
	i := sort.Search(len(s.regions), func(i int) bool { return s.regions[i].end > off })
	if i == len(s.regions) {
		return region{kind: plain}
	}
	return s.regions[i]
}

func lineStarts(data []byte) []int32 {
	starts := []int32{0}
	if bytes.IndexByte(data, '\r') < 0 {
		for at := 0; ; {
			n := bytes.IndexByte(data[at:], '\n')
			if n < 0 || at+n+1 == len(data) {
				return starts
			}
			at += n + 1
			starts = append(starts, int32(at))
		}
	}
	for i, b := range data[:max(0, len(data)-1)] {
		if b == '\n' || b == '\r' && data[i+1] != '\n' {
			starts = append(starts, int32(i+1))
		}
	}
	return starts
}

// bounded reports whether no letter or digit touches data[start:end].
func bounded(data []byte, start, end int) bool {
	return (start == 0 || !isWord(data[start-1])) && (end == len(data) || !isWord(data[end]))
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9'
}

// wordStart and wordEnd move the edge of a window out of a word, so that \b
// tells the truth there.
func wordStart(data []byte, i int) int {
	for n := 0; i > 0 && n < 40 && !isSpace(data[i-1]); n++ {
		i--
	}
	return i
}

func wordEnd(data []byte, i int) int {
	for n := 0; i < len(data) && n < 40 && !isSpace(data[i]); n++ {
		i++
	}
	return i
}

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }
