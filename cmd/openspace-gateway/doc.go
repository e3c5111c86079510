/*
Command openspace-gateway lets people write to the suite from chat: Feishu, Lark, Slack, Telegram and WhatsApp.

Usage:

	openspace-gateway COMMAND [flags]

	run      serve the channels of the config file until INT or TERM
	status   the running gateway: its channels, what runs and what waits
	health   ask the address of the config file; for supervisors
	stop     end the running gateway, and wait until it has ended
	doctor   check the config file, the commands that are needed, and the keys of each channel
	pair     make a code that lets one person in; pair whatsapp: link a phone

A message that is meant for the gateway becomes a task of openspace-execute, with the conversation so far, in a workspace that the chat keeps. The answer is sent to the
chat, and so are files that the task made. Files that come with a message are put into the workspace. In the chat, /help lists what else can be asked.

The config file is a JSON object: --config, else $OPENSPACE_COMMUNICATION_CONFIG, else gateway.json beside the config file of the suite. A key that is
not known is an error. docs/gateway.md has all keys, the variables that come before them, and how each platform is set up. The least:

	{"telegram": {"enabled": true, "allowed_users": ["12345678"]}}

with the token in TELEGRAM_BOT_TOKEN.

# Who may write

Nobody, unless allowed_users has their id on the platform, or allow_all_users is true. Who is not in the list and got a code from "pair" sends "/pair CODE" in a direct
chat within ten minutes. Names decide nothing. In groups only what mentions the bot or answers it is meant for it, unless group_policy says otherwise.

Tasks run with the rights of openspace-execute: in the workspace of the chat, confined by the kernel where that is possible. agent.execute_args adds flags to it,
such as "--sandbox=strict".

# The account of a phone

With {"whatsapp": {"enabled": true, "transport": "linked"}} the gateway is a linked device of a phone's WhatsApp, as WhatsApp Web is. "pair whatsapp" draws on stderr what
has to be scanned on the phone, anew whenever it expires, or with --phone NUMBER shows eight letters to type there. It ends when the phone is linked. No gateway may use the
keys meanwhile. --unlink forgets the phone.

# What is kept

Below data_dir, by default $OPENSPACE_HOME/gateway: what was received and what is still to be sent, sessions with their transcripts and workspaces, who was let in. A message is
acknowledged after it is on disk, and is answered also when the process is killed in between. Lines of JSON on stderr tell what happens; what is said in chats is not in them.

# Exit status

	0    done
	1    no gateway is running; of health and status: a channel is down, or nothing can be written; of doctor: something is wrong; of pair --unlink: no phone is linked
	2    usage: a flag, an argument, a setting or the config file is wrong
	4    the platform does not accept the key, or the phone not the device
	5    failed: anything else; of run: no channel can work
	10   the keys of a linked phone, or the list of who was let in, are damaged
	11   another gateway serves the data directory or an account, or uses the keys of a linked phone
	130  ended by an interrupt
	143  ended by a termination signal, after what ran had come to its end or was put off to the next start

# Examples

	openspace-gateway doctor --config gateway.json
	openspace-gateway run --config gateway.json
	openspace-gateway pair
	openspace-gateway pair whatsapp --config gateway.json
	openspace-gateway status --jsonl | jq 'select(.type=="channel" and (.up|not))'
	openspace-gateway stop
*/
package main
