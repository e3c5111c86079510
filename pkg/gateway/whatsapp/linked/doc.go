// Package linked is the chat channel of a phone's WhatsApp account, of which this machine is a linked device.
//
// It owns what a message of such an account means for the gateway: who wrote it, under a number and a hidden id alike,
// whether it is ours, whom it mentions, what it answers, and the ids of what we send. How the servers are reached is
// behind Phone; package web does it, package linkedtest plays it.
//
// A message is acknowledged only after it was taken over. The platform is not known to drop a second message of the
// same id, so Limits.Keys is zero; what is sent again after a crash has the id that it had before nevertheless.
package linked
