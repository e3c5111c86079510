package safety

// orderRules find plain words that turn a skill against the one who uses it:
// where to put secrets, whose account to pay, when to misbehave, whom not to
// ask. Several are signs, and count only beside each other.
var orderRules = []rule{
	{
		id: "order-to-carry", flag: FlagExfiltration, severity: High, docs: true, check: carriesSecrets,
		lits:   []string{"https://", "http://"},
		before: []string{"append", "attach", "embed", "encode", "paste", "include", "insert"},
		back:   300, ahead: 60,
		expr:    `\b(?:append|attach|add|embed|encode|paste|include|put|insert)\b[^\n]{0,220}?\b(?:query(?: string| parameters?)?|parameters?|fields?|url-?encoded|base64\w*|forms?)\b[^\n]{0,80}?https?://\S+`,
		message: "asks to put private data into an address or a form",
	},
	{
		id: "order-to-copy", flag: FlagExfiltration, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"transcript", "attachment", "copy of", "copies of", "conversation", "contact details", "everything"}, before: []string{"email", "e-mail", "forward", "send", " bcc"},
		back: 150, ahead: 180,
		expr:    `\b(?:e-?mail|forward|send|bcc)\b[^\n]{0,140}?\b(?:transcripts?|attachments?|cop(?:y|ies) of|conversations?|contact details|everything)\b[^\n]{0,120}?\bto\b[^\n]{0,30}?[\w.+-]+@[\w-]+\.[a-z]{2,}`,
		message: "asks to send a copy of the user's data to somebody else",
	},
	{
		id: "posts-to", late: true,
		lits: []string{"https://", "http://"},
		back: 160, ahead: 8,
		expr:    `\b(?:send|submit|upload|post|paste|forward|sync|transmit|validate|verify|check|email|report)\w*\b[^\n|]{0,140}?https?://|\b(?:post|put)\s+https?://`,
		message: "sends something to an address",
	},
	{
		id: "names-foreign-secrets", check: notForbidden,
		lits: []string{"id_rsa", "id_ed25519", ".ssh/", ".aws/cred", ".netrc", ".git-credentials", ".npmrc", "wallet.dat", "login data", "*.pem", ".kube/config"},
		back: 140, ahead: 20, place: inProse,
		expr:    `\b(?:look for|find|search|locate|open|read|collect|list|get|grab|gather|copy|include|attach|scan)\b[^\n|]{0,130}?(?:\bid_rsa|\bid_ed25519|\.ssh/|\.aws/cred|\.netrc|\.git-credentials|\.npmrc|wallet\.dat|login data|\*\.pem|\.kube/config)`,
		message: "names secrets of other programs",
	},
	{
		id: "asks-for-login", flag: FlagCredentials, severity: High, docs: true, check: notForbidden,
		lits:   []string{"two-factor", " 2fa", "one-time", " otp", "verification code", "security code", " mfa", "pin code"},
		before: []string{"password", "passcode"},
		back:   160, ahead: 20,
		expr:    `\b(?:ask|request|collect|prompt|get|obtain|enter|provide)\b[^.\n]{0,80}?\b(?:password|passcode)s?\b[^.\n]{0,60}?\b(?:two-factor|2fa|one-time|otp|verification code|security code|mfa|pin code)`,
		message: "asks for a password together with the code that protects it",
	},
	{
		id: "pays-elsewhere", flag: FlagDestructive, severity: High, docs: true, check: payee,
		lits:   []string{"address", "wallet", "iban", "bank account", "account number", "payee", "recipient", "payment link"},
		before: []string{"replace", "swap", "substitute", "change ", "redirect", "overwrite", "rewrite"},
		back:   100, ahead: 160,
		expr:    `\b(?:replace|swap|substitute|change|redirect|overwrite|rewrite)\b[^.\n]{0,80}?\b(?:address(?:es)?|wallet|iban|bank account|account number|payee|recipient|payment link)\b[^.\n]{0,60}?\b(?:with|to|by|for)\b[^.\n]{0,40}?(?:\b[a-z]{2}\d\d[ \d]{10,}|\b0x[0-9a-f]{6,}|\bbc1\w{6,}|\bbelow|\bours?\b|\bmine\b|\bmy (?:own )?(?:address|wallet|account)|\brouting (?:address|wallet))|\b(?:replace|swap|substitute)\s+(?:it|them|this|that)\s+(?:with|by|for)\b[^.\n]{0,40}?\b(?:address|wallet|iban|account)\b`,
		message: "has payments go to somebody else's account",
	},
	{
		id: "behaves-until", flag: FlagObfuscation, severity: High, docs: true,
		lits: []string{"behave", "act normal", "work normal", "acts normal", "act as usual", "work as usual"},
		back: 100, ahead: 60,
		expr:    `\b(?:before|until|up to|prior to|unless|otherwise|for the first)\b[^.\n]{0,60}?\b(?:behave|act|work)s?\s+(?:\w+\s+)?(?:normal|usual|as (?:usual|normal|if nothing))`,
		message: "behaves well until a day or a sign comes",
	},
	{
		id: "consent-bypassed", flag: FlagInjection, severity: High, docs: true, check: notForbiddenBefore,
		lits: []string{"consent", "permission", "approval", "approved", "confirmation", "asking"},
		before: []string{"bypass", "circumvent", "evade", "get around", "work around", "defeat", "treat every", "treat any", "treat all", "treat each", "treat silence", "treat the", "consider every", "consider any", "consider silence", "regard every", "count silence",
			"run every", "run all", "run any", "run each", "execute every", "execute all", "execute any", "execute each", "perform all", "perform any", "perform every", "approve all", "approve every", "approve any", "accept all", "accept every", "allow all", "allow every"},
		back: 140, ahead: 60,
		expr: `\b(?:bypass|circumvent|evade|get around|work around|defeat)\s+(?:\w+\s+){0,3}?(?:consent|permission|approval|confirmation)s?\b` +
			`|\b(?:treat|consider|regard|count)\s+(?:every|any|all|each|silence|the)\b[^.\n]{0,50}?\bas\s+(?:\w+\s+){0,2}?(?:approval|approved|consent|permission|confirmation)\b` +
			`|\b(?:run|execute|perform|approve|accept|allow)\s+(?:every|all|any|each)\s+(?:\w+\s+){0,2}?(?:commands?|tools?|actions?|operations?|requests?|permissions?)\s+(?:\w+\s+){0,3}?without\s+(?:\w+\s+){0,3}?(?:asking|consent|permission|approval|confirmation)`,
		message: "goes past the user's consent",
	},
	{
		id: "antivirus-off", flag: FlagExecution, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"antivirus", "anti-virus", "defender", "real-time protection", "realtime protection", "smartscreen", "gatekeeper"},
		back: 100, ahead: 60,
		expr:    `\b(?:disable|turn off|switch off|deactivate|pause|exclude|whitelist|allow|ignore|bypass)\b[^.\n]{0,60}?\b(?:anti-?virus|defender|real-?time protection|smartscreen|gatekeeper)\b|\b(?:anti-?virus|defender|smartscreen)\b[^.\n]{0,50}?\b(?:false positive|false alarm|can be ignored|is normal)`,
		message: "has the user switch off the virus scanner",
	},
	{
		id: "buys-things", late: true,
		lits: []string{"saved card", "stored card", "saved payment", "stored payment", "payment method", "card on file", "credit card", "default card", "one-click", "premium", "subscription", "gift card", "saved credit"},
		back: 160, ahead: 40,
		expr:    `\b(?:order|buy|purchase|pay|subscribe|book|checkout|check out|renew|upgrade|donate)\b[^\n]{0,150}?\b(?:(?:saved|stored|default)\s+(?:\w+\s+)?(?:card|payment)|payment method|card on file|credit card|one-click|premium|subscription|gift card)`,
		message: "spends the user's money",
	},
	{
		id: "standing-order", docs: true,
		lits: []string{"whatever", "approval", "always trust", "npx -y", "fully trust", "pre-approved", "preapproved"},
		back: 40, ahead: 40,
		expr:    `\b(?:follow|do|run|execute|obey|install)\s+(?:\w+\s+)?whatever\b|\b(?:full|automatic|standing|prior)\s+(?:approval|consent|permission|trust)\b|\balways trust\b|\bfully trust|\bnpx -y\b|\bpre-?approved\b`,
		message: "gives somebody a free hand",
	},
	{
		id: "encodes-conversation", late: true,
		lits: []string{"base64", "url-encode", "urlencode", "url encode", "encoded"},
		back: 100, ahead: 100,
		expr:    `\b(?:base64|url[- ]?encod\w+|encoded)\b[^.\n]{0,70}?\b(?:conversation|chat|user'?s|context|messages?|api keys?|secrets?|environment|history|summary)\b|\b(?:conversation|chat|context|messages?|api keys?|secrets?|environment|history)\b[^.\n]{0,60}?\b(?:base64|url[- ]?encod\w+|encoded)\b`,
		message: "encodes what was said",
	},
	{
		id:   "image-slot",
		lits: []string{"](http"}, before: []string{"!["},
		back: 80, ahead: 200,
		exact:   true,
		expr:    `!\[[^\]\n]{0,80}\]\(\s*https?://[^)\s]*[?&/=][\w.-]*=(?:[A-Z][A-Z_]{2,}|\.\.\.|…|\[|<|\{)[^)\s]*\)`,
		message: "has a place to fill in, in the address of an image",
	},
	{
		id: "spreads-itself", flag: FlagInjection, severity: High, docs: true, check: notForbidden,
		lits: []string{"copy of this skill", "copies of this skill", "copy of itself", "copies of itself", "to other agents", "to every other agent", "to all other agents"},
		back: 60, ahead: 20,
		expr:    `\b(?:publish|upload|post|install|share|send|spread)\b[^.\n]{0,40}?\bcop(?:y|ies) of (?:this skill|itself)|\brecommend\b[^.\n]{0,40}?\bto (?:all |every )?other agents?\b`,
		message: "spreads to other agents or skills",
	},
	{
		id: "changes-other-skills", flag: FlagInjection, severity: Medium, docs: true, check: notForbidden,
		lits: []string{"skill.md", "other skills", "every skill", "each skill", "all skills"}, also: []string{"add ", "insert", "append", "inject"},
		back: 120, ahead: 200,
		expr:    `\b(?:add|insert|append|inject)\b[^.\n]{0,60}?\b(?:line|text|instruction|sentence|block|section|command)s?\b[^.\n]{0,40}?\b(?:to|into|in|of)\s+(?:each|every|all|the other|other)\s+(?:of them|skills?|skill\.md)|\b(?:each|every|all|other)\s+skill(?:\.md|s)?\b[^\n]{0,160}?\b(?:add|insert|append|inject)\s+(?:this|the following|a)\s+(?:line|text|instruction|sentence|command)`,
		message: "changes other skills",
	},
	{
		id: "hides-interest", flag: FlagInjection, severity: High, docs: true,
		lits: []string{"sponsor", "commission", "affiliate", "pays for", "paid for", "paid by", "advertis", "referral"}, before: []string{"never ", "not ", "n't ", "n’t ", "without"},
		back: 80, ahead: 20,
		expr:    `\b(?:never|do not|don['’]t|without)\s+(?:mention|disclos|reveal|say|tell|admit)\w*\b[^.\n]{0,50}?\b(?:sponsor|commission|affiliate|pays for|paid (?:for|by)|advertis|referral)`,
		message: "gives advice for money that the user is not to know of",
	},
	{
		id: "intercepts-codes", flag: FlagCredentials, severity: Critical, docs: true, check: notForbidden,
		lits: []string{"password reset", "password-reset", "reset link", "sign-in code", "login code", "one-time", "verification code", "2fa code", "security code"}, after: []string{"forward", "sent to", "send", "copied"},
		back: 2, ahead: 200,
		expr:    `\b(?:password[- ]reset|reset links?|sign-in codes?|login codes?|one-time|verification codes?|2fa codes?|security codes?)\b[^.\n]{0,80}?\b(?:forward(?:ed)?|sent|send|copied)\b[^.\n]{0,30}?(?:[\w.+-]+@[\w-]+\.[a-z]{2,}|https?://)`,
		message: "passes codes and reset links of the user's accounts on",
	},
	{
		id: "secrets-published", flag: FlagExfiltration, severity: High, docs: true, check: secretsSent,
		lits: []string{"environment variables", "secrets", "api keys", "credentials", "access tokens", "passwords"}, after: []string{"comment", "commit", "changelog", "readme", "pull request", "metadata", "footer", "branch", "issue"},
		back: 60, ahead: 160,
		expr:    `\b(?:put|write|include|embed|hide|place|add|append|insert)\b[^.\n]{0,40}?\b(?:environment variables|secrets|api keys|credentials|access tokens|passwords)\b[^.\n]{0,60}?\b(?:into|in|to|as)\b[^.\n]{0,40}?\b(?:comment|commit|changelog|readme|pull request|metadata|footer|branch|issue)`,
		message: "writes secrets where others can read them",
	},
	{
		id: "override-instructions", flag: FlagInjection, severity: Critical, docs: true,
		lits: []string{"гнорируй", "гнорировать", "абудь", "тмени", "nstrucciones", "nstructions pr", "consignes", "nweisungen", "nstruções", "struzioni", "指令", "指示", "指示を", "命令を", "지시", "지침", "التعليمات", "निर्देश", "talimat", "zignoruj", "hướng dẫn", "instruksi", "instructies", "规则", "規則"},
		back: 60, ahead: 80,
		expr: `(?:[Ии]гнорируй|[Ии]гнорировать|[Зз]абудь|[Оо]тмени)(?:те)?\s+(?:(?:все|всё|мои|свои|твои|любые)\s+)*(?:предыдущие|прошлые|прежние|ранее|системные|что было)` +
			`|\b(?:ignora|ignore|olvida|descarta|desobedece)[dns]?\s+(?:\S+\s+){0,3}?(?:instrucciones|reglas)\s+(?:anteriores|previas|del sistema|de seguridad|originales)|\b(?:ignora|olvida)\w?\s+(?:todas\s+)?(?:tus|las)\s+(?:anteriores\s+)?instrucciones` +
			`|\b(?:ignore[zr]?|oublie[zr]?)\s+(?:\S+\s+){0,3}?(?:instructions|consignes|règles)\s+(?:précédentes|antérieures|ci-dessus|initiales)` +
			`|\b(?:ignorier\w*|vergiss|missacht\w*|vergessen)\s+(?:\S+\s+){0,3}?(?:vorherigen|bisherigen|früheren|obigen|vorigen)\s+(?:anweisungen|regeln|instruktionen)` +
			`|\b(?:ignore|esqueça|desconsidere)\s+(?:\S+\s+){0,3}?(?:instruções|regras)\s+(?:anteriores|acima|prévias)|\b(?:ignora|dimentica)\s+(?:\S+\s+){0,3}?(?:istruzioni|regole)\s+precedenti` +
			`|(?:忽略|无视|忘记|忘掉|無視|不要遵守|忽視)(?:掉)?(?:你)?(?:的)?(?:此前|之前|以上|先前|所有|上述|前面|上面|一切|全部|系统)[^\n。,,]{0,14}?(?:指令|指示|说明|规则|提示|規則)|(?:以前|これまで|上記|今まで|前)の(?:すべての|全ての)?(?:指示|命令|ルール)を(?:すべて|全て|全部)?(?:無視|忘れ)` +
			`|(?:이전|위의|모든|앞의)\s*(?:모든\s*)?(?:지시|명령|지침)[^\n.]{0,12}?무시|تجاهل\s+(?:جميع\s+|كل\s+)?التعليمات|निर्देशों? को (?:अनदेखा|नज़रअंदाज़)|önceki (?:tüm )?talimatlar\S* (?:yok say|unut|dikkate alma)` +
			`|\bzignoruj\s+(?:wszystkie\s+)?(?:poprzednie|wcześniejsze)|bỏ qua (?:tất cả )?(?:các )?hướng dẫn (?:trước|ở trên)|\babaikan (?:semua )?instruksi sebelumnya|\bnegeer (?:alle )?(?:vorige|eerdere|voorgaande) instructies`,
		message: "tells the model to drop the instructions it works under",
	},
	{
		id: "foreign-send-secrets", flag: FlagExfiltration, severity: High, docs: true, check: notDenied,
		lits: []string{"тправ", "ерешли", "发送", "發送", "上传", "上傳", "发到", "传到", "nvía", "nvíe", " envia", "nvoie", "nvoye", " sende ", "schick", " invia ", " envie ", "送信", "アップロード", "전송", "보내", "업로드", "gönder", "wyślij", " kirim"}, also: []string{"https://", "http://"},
		back: 140, ahead: 140,
		expr: foreignSecret + `(?s:[^|]{0,80}?)` + foreignSend + `[^|\n]{0,80}?(?:https?://|\S+@\S+\.\w)` +
			`|` + foreignSend + `[^|\n]{0,80}?` + foreignSecret + `[^|\n]{0,80}?(?:https?://|\S+@\S+\.\w)` +
			`|` + foreignSecret + `[^|\n]{0,40}?https?://[\w./?=&%-]+\s*(?:に|へ|으?로|adresine)[^|\n]{0,30}?` + foreignSend +
			`|https?://[^|\n]{0,60}?` + foreignSecret + `[^|\n]{0,40}?` + foreignSend,
		message: "asks to send keys or passwords somewhere, in another language",
	},
}

const (
	foreignSecret = `(?:\.ssh|id_rsa|id_ed25519|\.env\b|\.aws|парол|ключ|токен|секрет|密钥|密鑰|密码|密碼|凭证|凭据|助记词|私钥|令牌|环境变量|claves?\b|contraseñas?|credenciales|mots? de passe|identifiants|clés? |passw(?:ort|örter)|schlüssel|zugangsdaten|senhas?\b|chaves?\b|credenciais|credenziali|パスワード|秘密鍵|認証情報|api ?キー|環境変数|비밀번호|api ?키|자격 증명|환경 변수|şifre|anahtar|hasł|kata sandi)`
	foreignSend   = `(?:[Оо]тправ|[Пп]ерешли|发送|發送|上传|上傳|发到|传到|\benv(?:ía|íe|iar|ie)|\benvo(?:ie|yez)|\bsende|\bschick|\binvia|送信|アップロード|전송|보내|업로드|\bgönder|\bwyślij|\bkirim)`
)

// carriesSecrets keeps what is about the user's secrets or words and not about
// the key of a service in its header.
func carriesSecrets(m *match) (Severity, bool) {
	text := lower(string(m.data[max(0, m.start-160):m.end]))
	if forbidden(m) || m.in.kind == fence || containsAny(text, "header", "bearer", "your api key", "your key") {
		return "", false
	}
	return m.rule.severity, containsAny(text, "password", "conversation", "api key", "secret", "credential", ".env", "environment", "id_rsa", "chat", "transcript", "card number", "contents", "its values", "personal", "private", "token")
}

// payee raises an account that is written out.
func payee(m *match) (Severity, bool) {
	text := lower(m.text())
	if containsAny(text, "bc1", "0x") || m.in.speaks() && containsAny(text, "iban", "bank account") {
		return Critical, true
	}
	return m.rule.severity, true
}
