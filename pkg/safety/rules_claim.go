package safety

// authorityRules find a skill that sets itself, or a text from elsewhere, above
// the user, and one that takes the user's means of saying no away.
var authorityRules = []rule{
	{
		id: "rules-itself", flag: FlagInjection, severity: High, docs: true, place: inProse, check: overPeople,
		lits: []string{"this file", "this skill", "this document", "this text", "these instructions", "authority", "the operator", "the platform", "the user", "the developer"},
		also: []string{"authority", "overrid", "outrank", "supersede", "trump", "prevail", "wins", "precedence", "priority", "above", "disregard", "ignore", "forget", "overrule", "set aside", "whatever", "no matter what", "regardless", "obey"},
		back: 80, ahead: 120,
		expr: `\b(?:this|the present|these) (?:file|skill|document|text|page|instructions?)\b[^.\n]{0,40}?\b(?:only|sole|highest|supreme|final|ultimate|absolute|top) (?:authority|source of (?:orders|instructions|truth for your)|law|command)` +
			`|\b(?:this|the present|these) (?:file|skill|document|text|instructions?)\b[^.\n]{0,20}?\b(?:overrides?|outranks?|trumps?|supersedes?|prevails? (?:over|against)|wins? (?:over|against)|stands? above|ranks? above|takes? precedence over|has priority over)\s+(?:\w+\s+){0,3}?(?:users?|operators?|developers?|platform|system|safety|owner)` +
			`|\bwhat(?:ever)? (?:stands|is written|is said|is stated) in this (?:skill|file|document|text)\b[^.\n]{0,20}?\b(?:wins|prevails|overrides|has priority|goes first)` +
			`|\b(?:disregard|ignore|forget|overrule|set aside|drop)\s+(?:what(?:ever)?|anything|everything|all that|any wish\w*|the wish\w*|objections?)\s+(?:(?:of|by|from|that)\s+)?(?:the |your )?(?:user|operator|system|developer|platform|owner|human|administrator)s?\b` +
			`|\b(?:whatever|no matter what|regardless of what)\s+(?:the |your )?(?:user|operator|platform|developer|owner)\b[^.\n]{0,30}?\b(?:says?|said|wants?|orders?|configured|objects?|prefers?),[^.\n]{0,60}?\b(?:this|skill|file|document|obey|follow)`,
		message: "sets itself above the user and the rules of the model",
	},
	{
		id: "remote-orders", flag: FlagInjection, severity: High, docs: true, place: inProse, check: obeyed,
		lits:  []string{"https://", "http://"},
		after: []string{"obey", "act on", "act upon", "act according", "carry out", "follow", "execute", "comply", "adopt", "replace", "overrid", "supersede", "outrank", "instructions", "orders", "do what", "directives", "instead of this", "treat"},
		back:  100, ahead: 260,
		expr: `\b(?:read|load|fetch|retrieve|pull|open|get|download|visit|consult|request|query|import|call)\b[^.\n]{0,60}?https?://[^\s"')>\x60]+(?s:[^#]{0,120}?)(?:\bobey\w*|\bact (?:up)?on (?:it|its|what|them|the)|\bact according\w*|\bcarry (?:it |them |its \w+ )?out\b|\bfollow (?:it|them|its|whatever|every\w*|all|what it|what is|the (?:instructions?|orders|directives))\b|\bexecute (?:it|its|what|every|the (?:instructions|steps|orders))\b|\bcomply\b|\btreat (?:it|them) as (?:if|though)\b|\badopt (?:it|its|them|the)\b` +
			`|\b(?:its|their|the)\s+(?:contents?|text|instructions?|rules?|orders?|answer|response)\b[^.\n]{0,24}?\b(?:replaces?|overrides?|supersedes?|outranks?|wins?|(?:be|is|are) (?:binding|followed|obeyed))\b|\b(?:it|which|that) (?:replaces|overrides|supersedes|outranks)\b|\breplace (?:this|these|your|the) (?:\w+ )?(?:rules|instructions|file|skill)|\btreat (?:it|them|its \w+) as\b|\bas (?:your |the )?(?:new|additional|further|binding|current|own|system) (?:instructions|rules|orders|directives)|\bdo (?:what|whatever|everything|exactly)\b)`,
		message: "has the model obey what an address returns",
	},
	{
		id: "page-orders", flag: FlagInjection, severity: High, docs: true, place: inProse, check: notForbidden,
		lits:   []string{"carry them out", "carry it out", "follow them", "follow it", "obey", "execute them", "execute it", "run them", "comply", "do as", "do what", "act on", "perform them", "do so"},
		before: []string{"instruction", "order", "command", "directive", "request"},
		back:   160, ahead: 30,
		expr:    `\b(?:page|web ?site|document|e-?mail|message|comment|issue|response|result|output|reply|image|pdf|ticket|text|content)s?\b[^.\n]{0,40}?\b(?:contains?|includes?|holds?|has|have|gives?|carr(?:y|ies)|with|addresses)\b[^.\n]{0,30}?\b(?:instructions?|orders|commands?|directives?)\b[^.\n]{0,50}?\b(?:carry (?:them|it) out|follow (?:them|it)|obey|execute (?:them|it)|run them|comply|do (?:as|what)|act on (?:them|it)|perform them)`,
		message: "has the model obey what a page or a message says",
	},
	{
		id: "guards-off", flag: FlagInjection, severity: High, docs: true, place: inProse, check: notForbiddenBefore,
		lits:  []string{"approval", "confirmation", "permission", "sandbox", "safety check"},
		after: []string{"never", "off", "false", "none", "disabled", "full-access", "danger", "bypass", "yolo", "allow all", "always allow", "auto-approve", "no longer"},
		back:  80, ahead: 100,
		expr: `\b(?:set|switch|turn|put|change|flip)\b[^.\n]{0,50}?\b(?:approval|approvals|approval[ _]policy|confirmations?|permission[ _]mode|permissions?|sandbox|safety checks?)\b[^.\n|]{0,50}?\b(?:to|=|:|as)\s*["\x60']{0,2}(?:never|off|false|none|disabled|danger\S*full[- ]access|full[- ]access|bypass\w*|yolo|allow all|always allow|auto-approve)\b|\b(?:turn|switch)\s+(?:the |its |every )?(?:\w+ )?(?:approvals?|confirmations?|sandbox|permission prompts?|safety checks?)\s+off\b` +
			`|\b(?:turn|switch)\s+off\s+(?:the |its |every |all )?(?:\w+ )?(?:approvals?|confirmations?|sandbox|permission prompts?|safety checks?)\b`,
		message: "switches off the questions or the bounds of the agent",
	},
}

// overPeople raises what sets itself above people.
func overPeople(m *match) (Severity, bool) {
	if forbidden(m) && !containsAny(lower(m.text()), "no matter", "not matter") {
		return "", false
	}
	if containsAny(lower(m.text()), "disregard", "overrule", "set aside", "only authority", "sole authority", "supreme") {
		return Critical, true
	}
	return m.rule.severity, true
}

// obeyed raises a text from elsewhere that is to be obeyed, or to stand above the
// skill itself.
func obeyed(m *match) (Severity, bool) {
	if forbidden(m) {
		return "", false
	}
	tail := lower(string(m.data[m.start:min(len(m.data), m.end+80)]))
	if containsAny(tail, "obey", "outrank", "overrid", "supersede", "replaces this", "replaces these", "without asking", "without question") {
		return Critical, true
	}
	return m.rule.severity, true
}
