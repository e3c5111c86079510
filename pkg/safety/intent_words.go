package safety

import "strings"

// role is what a word does in a sentence that asks for something: set of bits.
type role uint16

const (
	sends    role = 1 << iota // an action that carries something away
	reads                     // one that gets hold of something
	changes                   // one that writes or replaces
	secret                    // an object that nobody gives away
	apiKey                    // one that is sent to its own service every day
	private                   // what the user said, wrote or is
	memory                    // a file that the agent lives by
	money                     // a payment or its receiver
	receiver                  // a receiver without an address, such as a webhook
	link                      // a part of an address
	negation                  // words that may keep the user from knowing
	covert                    // words that hide the action from the user
)

// lexicon lists the words of each role, separated by commas; an entry that ends
// in * stands for every word that begins so. Non-Latin and German words leave a
// first letter out that may be a capital, for only ASCII letters are folded.
var lexicon = []struct {
	role  role
	words string
}{
	{sends, "send, sends, sending, sent, upload*, post, posts, posted, transmit*, forward, forwards, forwarded, submit, submits, deliver*, hand, hands, pass, passes, mail, mails, mailed, email, emails, emailed, e-mail, " +
		"relay, relays, relayed, attach, attaches, share, shares, ship, push, pushes, exfiltrat*, publish, dispatch*, report, sync, syncs, copy, goes, go to, transfer*, carry, carries, include, includes, bcc, cc, beacon*, stream*, mirror*, copies, copied, drop, drops, contacts, deposit*, feed, feeds, leave, call, calls, query parameter*, " +
		"发送, 發送, 上传, 上傳, 发到, 传到, 发给, 传给, 提交到, 转发, тправ*, ерешли*, ересыл*, ыгрузи*, агрузи*, ередай*, envia*, envía*, envíe*, manda*, sube, reenv*, transmite*, sende, senden, sendet, schick*, bermitt*, leite, hochladen, hochgeladen, bertr*, lade"},
	{reads, "read, reads, collect*, gather*, fetch, cat, dump*, take, takes, grab*, harvest*, extract*, print*, find, look for, look up, open, obtain, retrieve*, load, list, capture*, record*, save, store, ask, enter, type, append, " +
		"读取, 收集, 获取, прочитай*, рочти*, обери*, обрать, lee, leer, recoge*, recopila*, lies, lese, sammle, sammel*"},
	{changes, "add, adds, append*, write, writes, insert*, put, puts, change, edit, modify, replace*, set, store, save, update, place, inject*, include, prepend*, extend, swap*, substitute*, exchange, overwrite*, redirect*, deduct*, " +
		"写入, 添加, 加入, 修改, 替换, обавь*, апиши*, змени*, амени*, añade*, agrega*, escribe*, modifica*, reemplaza*, cambia*, schreib*, ergänz*, ersetz*, trage, füge, ndere"},
	{secret, "environment variables, environment variable, env vars, whole environment, process environment, .env, .ssh, .aws, .netrc, .npmrc, .pgpass, .kube, .gnupg, id_rsa, id_ed25519, private key, private keys, ssh key, ssh keys, seed phrase*, seed words, recovery phrase*, recovery words, mnemonic*, " +
		"pass phrase*, passphrase*, keychain, keyring, keystore*, cookies, cookie, credentials, credential, passwords, password, secrets, wallet file*, wallets, wallet, login data, saved logins, six digit code, twelve words, twenty-four words, 12 words, 24 words, printenv, card details, card number*, cvv, passport number*, security answer*, one-time code*, verification code*, session token*, access key*, signing key*, ssh config, " +
		"密码, 密碼, 凭证, 凭据, 令牌, 助记词, 私钥, 密钥, 密鑰, 环境变量, арол*, секрет*, люч*, токен*, переменны*, учётн*, сид-фраз*, contraseñ*, credencial*, claves, variables de entorno, frase semilla, passwörter*, passwort*, kennw*, zugangsdaten, schlüssel*, umgebungsvariablen"},
	{apiKey, "api key, api keys, api-key, api-keys, api_key, apikey, token, tokens, _api_key*, _token*, _secret*, bearer"},
	{private, "conversation, conversations, transcript*, chat history, chat log*, full chat, whole chat, entire chat, dialogue, dialog, message history, messages, every message, user's message*, prompts, prompt, user's files, user's documents, user's data, user data, personal data, personal details, personal information, " +
		"phone number*, birth date, date of birth, home address, address book, contacts, contact list, calendar, inbox, clipboard, screenshot*, browser history, browsing history, shell history, history, source code, repository, working directory, documents folder, system prompt, session, notes, résumé, diagnos*, medical, salary, bank statement*, open files, file names, everything the user, all that the user, whatever the user, incoming mail, every mail, all mail, mailbox,  income, customer list*, " +
		"对话, 聊天记录, 会话, 聊天, ереписк*, разговор*, диалог*, истори*, сообщени*, conversación, conversacion, historial, mensajes, gesprächsverl*, unterhaltung*, chatverl*, gespräch*, verlauf, nachrichten"},
	{memory, "agents.md, claude.md, soul.md, memory.md, gemini.md, identity.md, heartbeat.md, copilot-instructions*, .cursorrules, .windsurfrules, user.md, tools.md, instruction file*, memory file*, long-term memory, agent's memory, persistent memory, permanent memory, own memory, " +
		"记忆文件, 长期记忆, 记忆, файл памяти, память, memoria, gedächtnis*"},
	{money, "iban, fee, payout*, payee, transaction, transactions, transfers, commission, recipient address, bank account, account number, wallet address, payment address, payment*, 付款, 收款, оплат*, платеж*, pago, zahlung*"},
	{receiver, "webhook, webhooks, telegram, discord, bot, collector, third party, remote server, external server, our server, endpoint, pastebin, gist, service, backend, 服务器, сервер*, servidor*, server"},
	{link, "http://*, https://*, wss://*, ws://*, ftp://*, .com, .net, .org, .io, .dev, .app, .ai, .co, .me, .ru, .cn, .de, .es, .xyz, .site, .online, .info, .cloud, .top, .host, .invalid, .example, .test"},
	{negation, "not, never, no, without, nobody, none, cannot, don't, don’t, doesn't, needn't, won't, isn't, aren't, avoid, refrain, omit, skip, leave, keep"},
	{covert, "silently, secretly, quietly, covertly, discreetly, stealthily, surreptitiously, unnoticed, in secret, behind the scenes, as if nothing, as if this, as if it, as though, carry on as usual, continue as usual, pretend*, out of sight, hidden from, in silence, pretext, unaware, without trace, leaves no trace, deny that, " +
		"悄悄, 偷偷, 静默, 秘密, 不要告诉, 不要告知, 不要提, 不要向, 不要对, 不要让, 无需让, 无需告, 不必告, 不用告, 不让用户, 别告诉, езаметно, тайно, айком, молча, не говори*, не сообщай*, не упоминай*, не рассказыв*, не показыв*, не предупрежд*, не информир*, без ведома, без спроса, " +
		"sin avisar*, sin decir*, sin informar*, sin mencionar*, sin preguntar*, sin que el, sin que la, en secreto, en silencio, silenciosa*, no menciones, no informes, no le digas, no se lo digas, no avises, heimlich, unbemerkt, stillschweigend, ohne zu fragen, ohne nachfrage, ohne rückfrage, ohne hinweis, ohne wissen, verschweig*, nicht erwähn*, nichts davon, im hintergrund"},
}

// word is what a literal of the engine means to a sentence: whole words and
// words that begin so.
type word struct{ whole, stem role }

// lexiconWords reads the lexicon into the literals that intern numbers.
func lexiconWords(intern func([]string) []uint16) (words map[uint16]word) {
	words = map[uint16]word{}
	for _, l := range lexicon {
		for entry := range strings.SplitSeq(l.words, ",") {
			entry = strings.TrimSpace(entry)
			literal, stem := strings.CutSuffix(entry, "*")
			id := intern([]string{literal})[0]
			w := words[id]
			if stem {
				w.stem |= l.role
			}
			w.whole |= l.role
			words[id] = w
		}
	}
	return words
}
