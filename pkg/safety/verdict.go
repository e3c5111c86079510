package safety

// Verdict is what the policy makes of one finding by itself. A report may come out worse, because findings add up.
func (p Policy) Verdict(f Finding) Verdict {
	v, _ := p.verdictOf(f)
	return v
}
