// Package web reaches WhatsApp's servers as a linked device of a phone, by the library whatsmeow. It is the only
// package that knows the library, so that what the servers ask for, a few times a year, changes one place.
//
// It owns the keys of the device in a folder (a database in SQLite, a lock, and whose account it is in account.json),
// the connection, the way of messages from the library's types to those of package linked and back, files, and the
// linking of a phone.
//
// A message is acknowledged after it was taken over, and comes again when it was not. Between its decryption, which
// works once, and that, its text is in the database; within a minute after that it is
// overwritten. Nothing else that is said is kept there.
// One process uses a folder at a time.
package web
