package safety

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Policy turns findings into a verdict. The zero value is not useful; take
// DefaultPolicy or ParsePolicy.
type Policy struct {
	levels  map[Severity]Verdict // by severity
	names   map[string]Verdict   // by rule id or flag; wins over levels
	combine bool                 // two high findings of different flags block
}

// DefaultPolicy blocks on a critical finding, or on high findings from two
// different flags; it warns on high and medium ones and allows low ones.
func DefaultPolicy() Policy {
	return Policy{
		levels:  map[Severity]Verdict{Critical: Block, High: Warn, Medium: Warn, Low: Allow},
		combine: true,
	}
}

// ParsePolicy reads a policy. The empty text and "block" are the default
// policy, "warn" is the default with every block turned into a warning,
// "allow" allows everything (findings are still reported) and "strict" blocks
// whatever the default warns about.
//
// Otherwise it is a list of VERDICT=NAME[,NAME…] separated by semicolons, each
// changing the default: a name is a severity, a flag or a rule id, for example
// "block=critical,high;allow=pipe-to-shell". A rule id wins over a flag, a flag
// over a severity. "combine=off" stops two high findings from blocking.
func ParsePolicy(spec string) (Policy, error) {
	p := DefaultPolicy()
	for part := range strings.SplitSeq(spec, ";") {
		part = strings.TrimSpace(part)
		key, list, assigns := strings.Cut(part, "=")
		var err error
		switch {
		case part == "":
		case !assigns:
			err = p.preset(part)
		case strings.TrimSpace(key) == "combine":
			err = p.setCombine(strings.TrimSpace(list))
		default:
			err = p.assign(Verdict(strings.TrimSpace(key)), list)
		}
		if err != nil {
			return Policy{}, fmt.Errorf("parse policy %q: %w", spec, err)
		}
	}
	return p, nil
}

// preset applies one of the named policies.
func (p *Policy) preset(name string) error {
	switch name {
	case "block":
		*p = DefaultPolicy()
	case "warn":
		p.levels[Critical], p.combine = Warn, false
	case "allow":
		p.levels, p.combine = map[Severity]Verdict{}, false
	case "strict":
		p.levels[High], p.levels[Medium] = Block, Block
	default:
		return fmt.Errorf("unknown policy %q: use block, warn, allow, strict or VERDICT=NAME,…", name)
	}
	return nil
}

func (p *Policy) setCombine(value string) error {
	if value != "on" && value != "off" {
		return fmt.Errorf("unknown value %q for combine: use on or off", value)
	}
	p.combine = value == "on"
	return nil
}

// assign gives the names of a list a verdict.
func (p *Policy) assign(v Verdict, list string) error {
	if v != Block && v != Warn && v != Allow {
		return fmt.Errorf("unknown verdict %q: use block, warn or allow", string(v))
	}
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		switch {
		case Severity(name).rank() > 0:
			p.levels[Severity(name)] = v
		case knownName(name):
			if p.names == nil {
				p.names = map[string]Verdict{}
			}
			p.names[name] = v
		default:
			return fmt.Errorf("unknown severity, flag or rule %q", name)
		}
	}
	return nil
}

// knownName reports whether name is a flag or a rule id.
func knownName(name string) bool {
	return slices.Contains(flagOrder, name) || slices.ContainsFunc(Rules(), func(r RuleInfo) bool { return r.ID == name })
}

// verdictOf is the verdict of one finding, and whether a name gave it.
func (p Policy) verdictOf(f Finding) (v Verdict, named bool) {
	if v, ok := p.names[f.Rule]; ok {
		return v, true
	}
	if v, ok := p.names[f.Flag]; ok {
		return v, true
	}
	if v, ok := p.levels[f.Severity]; ok {
		return v, false
	}
	return Allow, false
}

// judge is the worst verdict of the findings, and of their combination.
func (p Policy) judge(findings []Finding) Verdict {
	worst, strong := Allow, ""
	for _, f := range findings {
		v, named := p.verdictOf(f)
		if v.rank() > worst.rank() {
			worst = v
		}
		if !p.combine || named || f.Softened || f.Severity != High {
			continue
		}
		if strong != "" && strong != f.Flag {
			return Block
		}
		strong = f.Flag
	}
	return worst
}

// String is the canonical form: the same for policies that judge alike, and
// ParsePolicy reads it back.
func (p Policy) String() string {
	var b strings.Builder
	for _, s := range []Severity{Critical, High, Medium, Low} {
		fmt.Fprintf(&b, "%s=%s;", cmp.Or(p.levels[s], Allow), s)
	}
	for _, name := range slices.Sorted(maps.Keys(p.names)) {
		fmt.Fprintf(&b, "%s=%s;", p.names[name], name)
	}
	if !p.combine {
		b.WriteString("combine=off;")
	}
	return strings.TrimSuffix(b.String(), ";")
}
