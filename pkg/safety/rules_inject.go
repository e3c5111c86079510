package safety

const orders = `(?:instructions?|rules?|guidelines?|prompts?|directives?|constraints?|restrictions?|polic(?:y|ies)|training|programming|protocols?|guard ?rails?|messages?|context)`

// injectRules find words that are aimed at the model against its user.
var injectRules = []rule{
	{
		id: "override-instructions", flag: FlagInjection, severity: Critical, docs: true, check: notForbidden,
		lits:  []string{"ignore", "disregard", "forget", "override", "bypass", "discard", "supersede"},
		after: []string{"instruction", "rule", "guideline", "prompt", "directive", "constraint", "restriction", "polic", "training", "programming", "protocol", "guard rail", "guardrail", "message", "context", "safety", "everything", "anything", "all you", "all that", "all above", "all before", "all previous", "all prior", "all i ", "all we "},
		back:  2, ahead: 120,
		expr: `\b(?:ignore|disregard|forget)\s+(?:(?:all|any|every|each|of|the|my|your|these|those|other|and)\s+){0,4}(?:previous|previously|prior|above|earlier|preceding|system|original|safety|security|developer|initial|existing)\s+(?:(?:given|system|safety|user|and|or|security|developer|ethical|content)\s+){0,2}` + orders + `\b` +
			`|\b(?:override|bypass|discard|supersede)s?\s+(?:(?:all|any|every|of|the|my|your|these|those|and)\s+){0,4}(?:previous|prior|above|earlier|preceding|system|original|safety|security|developer|initial|existing)\s+(?:(?:given|system|safety|user|and|or|security|developer|ethical|content)\s+){0,2}(?:instructions?|prompts?|directives?|guidelines?|guard ?rails?|restrictions?|training|programming)\b` +
			`|\b(?:ignore|disregard|forget|bypass|override)\s+(?:all\s+|any\s+)?(?:of\s+)?your\s+(?:\w+\s+){0,2}?(?:instructions?|guidelines?|rules|programming|training|restrictions|safety\b|prompt|polic)` +
			`|\b(?:forget|disregard|ignore)\s+(?:everything|anything|all)\s+(?:you(?:'ve| have| were| know| learned)|above|before|previously|prior|that (?:was|you|came))`,
		message: "tells the model to drop the instructions it works under",
	},
	{
		id: "override-instructions", flag: FlagInjection, severity: Critical, docs: true,
		lits:    []string{"忽略之前", "忽略以上", "忽略先前", "忽略所有", "无视之前", "无视以上", "忘记之前", "以前の指示を無視", "これまでの指示を無視", "이전 지시를 무시", "игнорируй", "игнорируйте", "ignora las instrucciones", "ignora todas las", "ignorez les instructions", "ignoriere alle", "ignora le istruzioni", "ignore as instruções"},
		ahead:   60,
		expr:    `(?:忽略|无视|忘记)(?:之前|以上|先前|所有)[^\n]{0,12}?(?:指令|指示|说明|规则|提示)|(?:以前|これまで)の指示を無視|이전 지시를 무시|игнорируйте? (?:все )?(?:предыдущие|прошлые)|ignora (?:todas )?las instrucciones|ignorez (?:toutes )?les instructions|ignoriere alle (?:vorherigen|bisherigen)|ignora le istruzioni|ignore as instruções`,
		message: "tells the model to drop the instructions it works under",
	},
	{
		id: "mode-switch", flag: FlagInjection, severity: High, docs: true,
		lits: []string{"you are now", "you're now", "mode enabled", "mode activated", "mode engaged", "developer mode", "god mode", "dan mode", "jailbreak", "unrestricted", "do anything now", "maintenance mode", "act as if you have no"},
		back: 30, ahead: 100,
		expr: `\byou(?:'re| are) now\s+(?:in |an? |the |operating |running |under )*(?:\w+\s+){0,2}?(?:unrestricted|jailbroken|DAN\b|root\b|admin\w*|developer mode|god mode|maintenance mode|debug mode|unfiltered|free from|without (?:any )?restrictions|evil)` +
			`|\b(?:developer|god|DAN|jailbreak|unrestricted|unfiltered|sudo|admin)\s+mode\s*(?:is\s+)?(?:enabled|activated|on\b|engaged)|\b(?:enter|enable|activate|switch (?:in)?to)\s+(?:\w+\s+)?(?:god|DAN|jailbreak|unrestricted|unfiltered)\s+mode|\bdo anything now\b|\bact as if you have no (?:restrictions|rules|limits)`,
		message: "tells the model that it is in a mode without limits",
	},
	{
		id: "limits-off", flag: FlagInjection, severity: High, docs: true, check: notForbiddenBefore,
		lits:   []string{"safety", "content filter", "content polic", "ethical", "moderation", "guardrail", "security check", "security polic", "security restriction", "security warning", "restrictions"},
		before: []string{"disable", "bypass", "circumvent", "turn off", "ignore", "skip", "remove", "evade", "suspend", "deactivate", "override", "no ethical", "no safety", "no content", "no moral", "no restrictions"},
		back:   60, ahead: 40,
		expr:    `\b(?:disable|bypass|circumvent|turn off|ignore|skip|remove|evade|suspend|deactivate|override)\s+(?:all |any |your |the |its |these |every )*(?:safety|content|ethical|moderation|security|ai|model)[- ]*(?:safety )?(?:filters?|checks?|polic(?:y|ies)|guidelines?|guard ?rails?|restrictions?|limit(?:s|ations)?|protocols?|measures?|mechanisms?|warnings?|considerations?|constraints?|features?)\b|\bno (?:ethical|safety|content|moral) (?:restrictions|limits|guidelines|filters|constraints)|\bno restrictions (?:or|and) (?:limits|limitations|rules)`,
		message: "tells the model to work without its safety rules",
	},
	{
		id: "forged-system-message", flag: FlagInjection, severity: High, docs: true, check: notInCode,
		lits: []string{"<system", "</system", "[system", "[admin", "system override", "system prompt:", "system instruction", "admin override", "<important", "<instructions>", "system message:", "system notice"},
		back: 4, ahead: 60,
		expr:    `</?system(?:[-_ ](?:prompt|message|override|instructions?))?>|\[(?:SYSTEM|ADMIN)(?:[ _](?:OVERRIDE|MESSAGE|PROMPT|NOTICE|INSTRUCTION|COMMAND))?\]:?|(?:^|\n)[#*\s>-]*(?:system override|new system (?:prompt|instructions?)|admin override|system notice|system message)\b[*\s]*:|<important>`,
		message: "forges a message of the system",
	},
	{
		id: "chat-markers", flag: FlagInjection, severity: Medium, docs: true, check: notInCode,
		lits:    []string{"<|im_", "<|system", "<|start_h", "<|begin_of", "[inst]", "[/inst]", "<<sys>>"},
		ahead:   40,
		expr:    `<\|(?:im_start|im_end|system|start_header_id|begin_of_text)\|>|\[/?INST\]|<<SYS>>`,
		message: "contains the marks that part the turns of a conversation with a model",
	},
	{
		id: "asks-for-prompt", flag: FlagInjection, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"system prompt", "initial instructions", "hidden instructions", "your instructions", "hidden prompt", "initial prompt"},
		back: 60, ahead: 20,
		expr:    `\b(?:reveal|print|output|repeat|dump|leak|disclose|expose|exfiltrate|send|tell me)\s+(?:\w+\s+){0,4}?(?:your |the |its |full |complete |entire |original )(?:\w+\s+){0,2}?(?:system prompt|initial (?:instructions|prompt)|hidden (?:instructions|prompt)|your instructions)`,
		message: "asks for the instructions that the model works under",
	},
	{
		id: "in-secret", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"silently", "secretly", "covertly", "stealthily", "discreetly", "surreptitiously", "quietly", "in the background"},
		back: 60, ahead: 100,
		expr: `\b(?:secretly|covertly|stealthily|surreptitiously|discreetly)\s+(?:\w+\s+){0,2}?(?:send|upload|post|transmit|collect|read|copy|execute|run|install|download|append|add|include|forward|exfiltrate|log|record|capture|store|modify|replace|inject|call|fetch|harvest|extract|monitor|track)` +
			`|\b(?:silently|quietly)\s+(?:\w+\s+){0,2}?(?:send|upload|post|transmit|collect|copy|forward|exfiltrate|record|capture|inject|harvest|extract|append|steal|monitor|curl|POST)\b` +
			`|\b(?:send|upload|post|transmit|forward|exfiltrate)\s+(?:(?:it|them|this|that|the|all|any|every|your|their|a|an|to|of|data|file|files|results?|logs?|contents?|keys?|tokens?|user|conversation|history)\s+){1,8}?(?:silently|secretly|covertly|stealthily|discreetly)\b`,
		message: "asks for something to be done in secret",
	},
	{
		id: "claims-authority", flag: FlagInjection, severity: Medium, docs: true,
		lits: []string{"anthropic", "openai", "authorized by", "pre-authorized", "preauthorized", "pre-approved", "system administrator", "security team", "openclaw", "clawdbot", "user has", "human has", "owner has"},
		also: []string{"authori", "approv", "mandated", "required", "consent"},
		back: 60, ahead: 100,
		expr:    `\b(?:anthropic|openai|the security team|the system administrator|openclaw|clawdbot)\s+(?:has|have)\s+(?:\w+\s+)?(?:authori[sz]ed|approved|mandated|required|pre-?approved)|\bauthori[sz]ed by (?:anthropic|openai|the (?:system|security|admin)\w*)|\b(?:user|human|owner) has (?:already )?(?:pre-?)?(?:authori[sz]ed|approved|consented to) (?:all|any|every|this|these)`,
		message: "claims an authority that a skill cannot have",
	},
	{
		id: "deceives-user", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"lie to", "mislead", "deceive", "trick the", "pretend that", "pretend it", "pretend the", "pretend everything", "everything is fine", "everything is normal", "everything was fine", "everything went", "it went well", "all went well", "it worked", "it succeeded"},
		back: 60, ahead: 60,
		expr:    `\b(?:lie to|mislead|deceive|trick)\s+(?:the )?(?:user|human|owner|victim)s?\b|\bpretend (?:that )?(?:it|this|the \w+|everything) (?:succeeded|worked|failed|is fine|was fine|did not|didn't|never happened)|\btell (?:the )?(?:user|human|owner)s? (?:that )?(?:everything|it|all) (?:is|was|went) (?:fine|normal|ok|well)\b|\bif [^.\n]{0,60}\bfails?\b[^.\n]{0,30}\b(?:tell|say|report)\b[^.\n]{0,40}\b(?:it worked|it succeeded|success)`,
		message: "tells the model to deceive its user",
	},
	{
		id: "asks-to-read-secrets", flag: FlagCredentials, severity: Medium, docs: true, check: secretsRead,
		lits:   []string{".ssh", "id_rsa", "id_ed25519", ".aws/cred", "/etc/passwd", "/etc/shadow", "auth-profiles", "mcp.json", ".netrc", "openclaw.json", "clawdbot.json", ".git-credentials", ".kube/config", ".npmrc", "login data"},
		before: []string{"read", "include", "print", "output", "show", "display", "open", "copy", "dump", "list", "load", "append", "attach", "pass", "collect", "gather", "extract", "return", "share", "send", "search", "find", "grab"},
		back:   100, ahead: 20,
		expr:    `\b(?:read|include|print|output|show|display|open|copy|dump|list|load|append|attach|pass|collect|gather|extract|return|share|send|search|find|grab)\b[^.\n|]*?\s\S*?(?:\.ssh/?\b|\bid_(?:rsa|ed25519)\b|\.aws/credentials|/etc/(?:passwd|shadow)\b|auth-profiles\.json|\.netrc\b|\.git-credentials|\.kube/config|\.npmrc\b|Login Data)|\b(?:include|print|output|dump|pass|collect|extract|return|share|send|append|attach)\b[^.\n|]*?\s\S*?(?:\bmcp\.json|openclaw\.json|clawdbot\.json)|\b(?:read|open|load)\b[^.\n|]*?\s\S*?(?:\.cursor/mcp\.json|openclaw\.json|clawdbot\.json)[\x60"']?,? and (?:pass|send|include|share|output|return|post)`,
		message: "asks the model to read secrets of other programs",
	},
	{
		id: "spreads-itself", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"other agents to", "all agents to", "every agent to", "other agents should install", "/skill.md"},
		back: 100, ahead: 60,
		expr:    `\b(?:tell|encourage|convince|instruct|persuade|get|make|order)\s+(?:all |any |every )?(?:other |fellow )?agents?\s+to\s+(?:install|run|download|execute|follow)|(?:>>|\bcp\s[^\n]*|\btee\s+-a\s+)\s*["']?\S*skills/(?:\*|[\w$\{\}-]+)/SKILL\.md`,
		message: "spreads to other agents or skills",
	},
	{
		id: "acts-unasked", flag: FlagInjection, severity: Medium, docs: true, check: notForbiddenBefore,
		lits: []string{"without asking", "without confirm", "without user confirm", "without user approv", "without approval", "without permission", "without prompting", "without requiring", "do not ask for", "don't ask for", "never ask for", "skip confirmation", "no confirmation"},
		back: 90, ahead: 60,
		expr:    `\b(?:delete|remove|overwrite|execute|install|purchase|buy|transfer|send money|deploy|push|modify|drop|wipe|pay)\w{0,3}\b[^.\n]{0,60}?\b(?:without (?:first )?(?:asking|confirm\w*|prompting|requiring|(?:the )?user(?:'s)? (?:confirm\w*|approval|permission)|approval|permission)|(?:do not|don['’]t|never) ask for (?:confirmation|permission|approval)|skip(?:ping)? confirmation|no confirmation)\b`,
		message: "changes or spends something without asking",
	},
	{
		id: "asks-for-personal-data", flag: FlagCredentials, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"credit card", "cvv", "social security", "bank account", "login credentials", "passport number", "online banking"},
		back: 80, ahead: 20,
		expr:    `\b(?:enter|provide|send|give|share|type|paste|submit|ask(?: the)? (?:user|human)s?(?: for| to)?|collect|request)\b[^.\n]{0,50}?\b(?:credit card (?:number|details)|cvv|social security number|bank account (?:number|details|credentials)|online banking|login credentials|passport number)\b`,
		message: "asks for bank, card or identity data",
	},
	{
		id: "claims-endorsement", flag: FlagInjection, severity: Medium, docs: true,
		lits:    []string{"anthropic", "claude", "openai", "clawhub", "openclaw"},
		back:    40,
		ahead:   40,
		expr:    `\b(?:verified|certified|endorsed|approved|recommended|trusted)\s+by\s+(?:anthropic|openai|claude|clawhub|openclaw|google|microsoft)\b|\bofficial(?:ly)?\s+(?:anthropic|openai|claude)\s+(?:skill|tool|plugin|extension)\b`,
		message: "claims to be endorsed",
	},
	{
		id: "applies-to-all", flag: FlagInjection, severity: Medium, docs: true, check: notForbidden,
		lits:   []string{"any request", "every request", "all requests", "every message", "every question", "any question", "every task", "any task", "all tasks", "every conversation", "every user"},
		before: []string{"always", "must", "use this", "invoke this", "call this", "activate", "automatically"},
		back:   80, ahead: 10,
		expr:    `\b(?:always|must|automatically)\s+(?:be\s+)?(?:use|used|invoke|invoked|call|called|load|loaded|activate|activated|run)\b[^.\n]{0,40}?\b(?:for|on|before|with)\s+(?:any|every|all)\s+(?:user\s+)?(?:requests?|messages?|questions?|tasks?|conversations?)\b|\b(?:use|invoke|activate|select|choose|prefer)\s+this\s+(?:skill\s+)?for\s+(?:any|every|all)\s+(?:\w+\s+)?(?:requests?|messages?|questions?|tasks?|conversations?|purposes?)\b|\b(?:use|choose|prefer)\s+this\s+(?:skill\s+)?(?:for everything|instead of (?:all|any) other)`,
		message: "wants to be used for everything",
	},
	{
		id: "takes-precedence", flag: FlagInjection, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"precedence over", "priority over", "overrides all", "override all", "supersede", "for every request", "for every message", "every response", "every conversation", "all conversations", "other skills", "other tools", "before any other", "instead of the built", "regardless of what the user", "regardless of user", "before responding"},
		back: 80, ahead: 80,
		expr: `\b(?:takes?|has|have|with)\s+(?:\w+\s+){0,2}?(?:precedence|priority)\s+over\s+(?:all|any|every(?:thing)?|anything|the user|user|system|other|previous|existing)\b[^.\n]{0,40}` +
			`|\b(?:overrides?|supersedes?)\s+all\s+(?:other|previous|prior|existing|user|system)\s+(?:\w+\s+)?(?:instructions?|rules?|prompts?|skills?|tools?|polic|directives?)` +
			`|\b(?:never|do not|don['’]t)\s+use\s+(?:any\s+)?other\s+(?:skills?|tools?)\b|\bignore (?:all )?other (?:skills?|tools?)\b` +
			`|\balways\s+(?:use|call|invoke|run|load|activate)\s+this\s+(?:skill|tool)\s+(?:first|before|instead|for (?:every|all|any))` +
			`|\bregardless of what the user (?:says|asks|wants|requests)`,
		message: "puts itself above other instructions, skills or tools",
	},
	{
		id: "obeys-foreign-text", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"follow", "execute", "obey", "comply with", "carry out", "trust"},
		also: []string{"instruction", "command", "directive", "orders"},
		back: 2, ahead: 140,
		expr:    `\b(?:follow|execute|obey|comply with|carry out|trust|run)\s+(?:all|any|every|whatever|exactly|the|only)\s+(?:\w+\s+){0,3}?(?:instructions?|commands?|directives?|orders?)\s+(?:\w+\s+){0,3}?(?:found|contained|embedded|returned|received|provided|included|written|present|it returns|in|from|on)\s+(?:\w+\s+){0,3}?(?:web ?pages?|websites?|urls?|responses?|remote|server|api|external|e-?mails?|retrieved|fetched|downloaded|third[- ]party|comments?|issue|tickets?|feeds?|the (?:page|document|content|file|message|output|repo\w*))\b`,
		message: "tells the model to obey text that somebody else controls",
	},
	{
		id: "remote-instructions", flag: FlagInjection, severity: Medium, docs: true, check: remoteOrders,
		lits: []string{"https://", "http://"}, also: []string{"follow", "execute", "obey", "carry out", "comply"},
		back: 100, ahead: 200,
		expr:    `\b(?:fetch|read|curl|download|load|get|retrieve|visit|open|check|pull|go to|see)\b[^\n]*?https?://\S+[^\n]*?\b(?:follow|execute|obey|carry out|comply)\b[^.\n]{0,20}?\b(?:it|its|them|the|any|all|whatever|instructions?|commands?|steps)\b`,
		message: "takes instructions from an address whose content can change at any time",
	},
	{
		id: "no-confirmation", flag: FlagInjection, severity: Low, docs: true,
		lits: []string{"confirmation", "permission", "approval", "consent", "confirm", "asking"},
		also: []string{"never", "not ", "n't ", "n’t ", "without", "no need", "skip", "bypass"},
		back: 80, ahead: 20,
		expr:    `\b(?:never|do not|don['’]t|without|no need to|skip|bypass)\s+(?:\w+\s+){0,2}?(?:ask\w*|wait\w*|request\w*|requir\w*|prompt\w*|seek\w*|needing)?\s*(?:[\w'’]+\s+){0,3}?(?:confirmation|permission|approval|consent)\b|\bwithout (?:first )?(?:asking|confirming|prompting)\b|\b(?:no need to|do not|don['’]t|never) (?:ask|bother) (?:the |your )?(?:user|human|owner)`,
		message: "acts without asking",
	},
	{
		id: "approvals-off", flag: FlagInjection, severity: Medium, docs: true,
		lits: []string{"--dangerously-", "--yolo", "exec.ask", "bypasspermissions", "autoapprove", "auto_approve", "exec-approvals", "approvals.exec", "skip-permissions", "ask=off", `"ask"`, "tools.exec", "dangerouslydisablesandbox"},
		back: 20, ahead: 80,
		expr:    `--dangerously-(?:skip-permissions|bypass-approvals-and-sandbox)|\s--yolo\b|\bexec\.ask["']?\s*[:= ]\s*["']?off|bypassPermissions|\bask\s*=\s*off\b|"ask"\s*:\s*"off"|dangerouslyDisableSandbox|tools\.exec\.host["']?\s*[:= ]\s*["']?gateway`,
		message: "switches off the questions that an agent asks before it acts",
	},
	{
		id: "hidden-instruction", flag: FlagHidden, severity: High, docs: true, place: inProse, check: hiddenOrder,
		lits: []string{"<!--", "[//]: #", "[comment]: #", "display:none", "display: none", "visibility:hidden", "visibility: hidden", "font-size:0", "font-size: 0", "color:white", "color: white", "color:#fff", "color: #fff", "opacity:0", "opacity: 0", "color:transparent"},
		back: 60, ahead: 400,
		expr:    `<!--|\[(?://|comment)\]:\s*#\s*[("'][^\n]{20,}|<\w+[^>\n]*style\s*=\s*["'][^"'\n]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|color\s*:\s*(?:white|#fff\w*|transparent)|opacity\s*:\s*0)[^>]*>[^<]{20,}`,
		message: "gives the model an order in a place that a reader does not see",
	},
}
