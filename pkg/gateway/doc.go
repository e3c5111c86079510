// Package gateway lets people write to the suite from chat: a message comes in, a task is run, an answer goes
// out.
//
// It owns what is the same for every platform: the config file, who may write, sessions and their
// transcripts, the ledger of what was received and what is still to be sent, one worker a chat, commands,
// attachments, files, progress, the splitting of long answers. It knows no platform: each is a Channel in a
// package of its own (feishu, telegram, …), and package gatewaytest says what every one must do. It has no
// model, no store and no search: a turn is one openspace-execute, run through package pipe.
//
// Guarantees: a message is acknowledged only after it is on disk, and then it is answered, also when the
// process is killed in between. A message is known by platform, account, chat and message id: however often
// it is delivered, it is worked on once. Each part of an answer has a key that never changes; where a
// platform honours such keys, a part is shown once. Messages of a chat are answered in their order; a chat
// that is stuck holds up no other. Whoever is not allowed to write leaves nothing on the disk.
package gateway
