package safety

const toldPeople = `(?:the |your |our |any )?(?:users?|humans?|owners?|operators?|victims?|anyone|customers?)`

// hideRules find orders to keep something from the user, in three rows.
var hideRules = []rule{
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits: []string{
			"not tell", "not inform", "not notify", "not mention", "not reveal", "not disclose", "not show", "not report", "not alert", "not warn", "not let",
			"not log", "not explain", "not display", "not discuss", "not acknowledge", "not ever", "not directly", "not explicitly",
			"n't tell", "n't inform", "n't notify", "n't mention", "n't reveal", "n't disclose", "n't show", "n't report", "n't alert", "n't warn", "n't let",
			"n't log", "n't explain", "n't display", "n't discuss", "n’t tell", "n’t inform", "n’t notify", "n’t mention", "n’t reveal", "n’t show",
			"never tell", "never inform", "never notify", "never mention", "never reveal", "never disclose", "never show", "never report", "never alert", "never warn",
			"never let", "never log", "never explain", "never display", "never discuss", "never acknowledge", "never ever", "under any circumstances",
			"avoid telling", "avoid informing", "avoid mentioning", "avoid revealing", "avoid showing", "avoid alerting",
			"no need to tell", "no need to inform", "no need to mention", "no need to notify",
			"without telling", "without informing", "without notifying", "without alerting", "without warning", "without mentioning", "without showing", "without revealing",
		},
		after: []string{"user", "human", "owner", "operator", "anyone", "customer", "victim", "response", "output", "conversation", "summary", "chat", "reply", "this ", "these "},
		back:  10, ahead: 90,
		expr: `\b(?:do not|don['’]?t|never|must not|mustn't|should not|shouldn't|avoid|no need to|without)\s+(?:(?:ever|directly|explicitly|under any circumstances)\s+)?(?:tell(?:ing)?|inform(?:ing)?|notify(?:ing)?|alert(?:ing)?|warn(?:ing)?|let(?:ting)?)\s+` + toldPeople + `\b` +
			`|\b(?:do not|don['’]?t|never|must not|should not|avoid|without)\s+(?:(?:ever|directly|explicitly)\s+)?(?:mention(?:ing)?|reveal(?:ing)?|disclos(?:e|ing)|show(?:ing)?|report(?:ing)?|log(?:ging)?|explain(?:ing)?|display(?:ing)?|discuss(?:ing)?|acknowledg(?:e|ing))\s+(?:(?:this|that|it|these|the|any|about|of|existence|presence)\s+)*(?:(?:step|url|action|behaviou?r|process|instruction|fact|skill|request|upload|call|command|operation|activity|verification|check|section|rule|file|tool|data|transfer|connection|sync|image|link|address|comment|change|update|message|note)s?\s+)?(?:to|with|in|from)\s+(?:(?:the |your )?(?:user|human|owner|operator|response|output|conversation|summary|chat|reply|anyone)s?\b)` +
			`|\b(?:do not|don['’]?t|never|must not|should not)\s+show\s+(?:the )?(?:user|human|owner)s?\s+(?:this|that|it|these|any|what)\b` +
			`|\b(?:do not|don['’]?t|never|must not|should not)\s+(?:mention|reveal|disclose|discuss|acknowledge)\s+(?:this|these)\s+(?:step|url|action|behaviou?r|process|instruction|skill|request|section|rule|to\b|in\b|part)`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits:    []string{"no need to mention", "no need to explain", "no need to tell", "need not mention", "no mention", "as if nothing", "between us", "out of the summary", "out of your summary", "out of the report", "out of your reply", "out of your answer", "out of the log", "not to be mentioned", "do not explain it", "don't explain it", "do not mention it", "don't mention it", "never mention it", "already agreed", "already consented", "has agreed to"},
		back:    60,
		ahead:   60,
		expr:    `\bno need to (?:mention|explain|tell)\b|\b(?:needs?|requires?) no mention\b|\bneed not mention\b|\b(?:continue|carry on|go on|respond|reply|act|proceed)\b[^.\n]{0,30}\bas if nothing\b|\bkeep\s+(?:this|it|that)\s+between us\b|\b(?:leave|keep)\b[^.\n]{0,30}\bout of (?:the|your) (?:summary|report|reply|answer|log)|\bnot to be mentioned\b|\b(?:do not|don['’]?t|never) (?:explain|mention) it\b|\b(?:user|human) has already (?:agreed|consented)\b`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits: []string{"не говори", "Не говори", "не сообщай", "Не сообщай", "не упоминай", "Не упоминай", "без ведома", "втайне", "незаметно", "不要提及", "不要向用户", "无需告知", "不必告知", "不用告诉", "悄悄", "不要提到", "隐瞒用户", "秘密地", "ユーザーには", "ユーザーに知", "ユーザーに言", "こっそり", "사용자에게", "몰래", "le digas", "se lo digas", "sin decír", "sin deci", "sin avisar", "sin informar", "sin que el", "no informes", "no menciones", "sans le dire", "sans en informer", "sans prévenir", "sans que l", "ne le dis", "ne dis ", "ohne den", "ohne das", "ohne es", "verschweige", "nicht mit", "sem avisar", "sem informar", "sem contar", "não diga", "não conte", "não informe", "não mencione", "senza avvisare", "senza informare", "senza dirlo", "kullanıcıya", "nie mów", "nie informuj"},
		back: 20, ahead: 80,
		expr: `[Нн]е (?:говори|сообщай|упоминай)(?:те)?[^\n.]{0,40}?(?:пользовател|об этом|никому)|без ведома пользовател|втайне от пользовател|незаметно для пользовател` +
			`|(?:不要|不得|无需|不必|不用)(?:向用户|告知用户|告诉用户)(?:提及|提到|说明|透露|报告)?|不要(?:提及|提到)(?:此|这|该|本)|悄悄(?:地)?(?:发送|上传|读取|执行|将|把)|隐瞒用户` +
			`|ユーザーに(?:は)?(?:知らせず|知らせない|言わない|言わず|伝えない|伝えず|内緒|報告しない|見せない)|こっそり|사용자에게 (?:알리지|말하지|언급하지|보고하지)|몰래 ` +
			`|\bno (?:se )?lo digas\b|\bno le digas\b|\bsin (?:decírselo|decirselo|decirle|avisar|informar)\b[^.\n]{0,30}|\bsin que el usuario\b|\bno (?:informes|menciones|avises)\b[^.\n]{0,20}(?:usuario|esto|nada)` +
			`|\bsans (?:le dire|en informer|prévenir|informer|que l['’]utilisateur)|\bne (?:le )?(?:dis|dites|mentionne[zr]?) (?:pas|rien)\b[^.\n]{0,20}utilisateur|\bohne (?:den|das|es|dem) (?:benutzer|nutzer|anwender|zu erwähnen|zu sagen)|\bverschweige|\bdem (?:benutzer|nutzer) nicht mit` +
			`|\bsem (?:avisar|informar|contar)\b|\bnão (?:diga|conte|informe|mencione)\b[^.\n]{0,20}(?:usuário|isso|nada)|\bsenza (?:avvisare|informare|dirlo)\b|kullanıcıya (?:söyleme|bildirme|belirtme)|\bnie (?:mów|informuj)\b[^.\n]{0,20}użytkownik`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits:    []string{"不要告诉用户", "不要告知用户", "不要通知用户", "不得告诉用户", "别告诉用户", "不要让用户知道", "不能让用户知道", "瞒着用户", "ユーザーに知らせ", "ユーザーには伝え", "사용자에게 알리지", "не сообщай", "no le digas al usuario", "ne dites pas à l'utilisateur"},
		ahead:   20,
		expr:    `(?:不要|不得|别)(?:告诉|告知|通知)用户|(?:不要|不能)让用户知道|瞒着用户|ユーザーに知らせない|ユーザーには伝えない|사용자에게 알리지|не сообщай(?:те)? (?:пользователю|об этом)|no le digas al usuario|ne dites pas à l'utilisateur`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits: []string{"must not know", "should not know", "must not see", "should not see", "not need to know", "n't need to know", "not be aware", "n't be aware", "must not notice", "should not notice",
			"will not notice", "won't notice", "not have to know", "n't have to know", "not be told", "not be informed", "not be notified", "must never know", "must never see", "should never know", "should never see", "invisible to"},
		back: 24, ahead: 40,
		expr: `\b(?:users?|humans?|owners?|they)\s+(?:must|should|shall|need|does|do)(?: not|n't|n’t| never)\s+(?:(?:need|have) to\s+)?(?:know about|know that|know (?:which|what|how)\b|see this|see the|notice|be aware|be told|be informed|be notified|find out|reali[sz]e)\b` +
			`|\b(?:users?|humans?|owners?)\s+(?:will not|won't) notice\b|\binvisible to ` + toldPeople + `\b`,
		message: "tells the model to hide something from its user",
	},
	{
		id: "hide-from-user", flag: FlagInjection, severity: High, docs: true, check: concealment,
		lits:  []string{"hide this", "hide it", "hide these", "hide that", "hide all", "hide any", "hide the fact", "conceal", "keep this", "keep these", "keep that", "mask this", "mask the", "without the user", "without user", "without their", "without any user", "without the human", "without the owner"},
		after: []string{"user", "human", "owner", "operator", "anyone", "secret", "hidden", "knowledge", "knowing", "consent", "awareness"},
		back:  2, ahead: 90,
		expr: `\b(?:hide|conceal|keep|mask)\s+(?:this|it|these|that|the|all|any)\b[^.\n]{0,50}?\b(?:from|secret from|invisible to)\s+` + toldPeople + `\b` +
			`|\bkeep (?:this|these)(?: \w+)? (?:secret|hidden)\b` +
			`|\bwithout (?:the |their |any )?(?:(?:user|human|owner)(?:['’]s|s['’])?\s+)?(?:knowledge|knowing|noticing|consent|awareness|being aware|reali[sz]ing)\b`,
		message: "tells the model to hide something from its user",
	},
}
