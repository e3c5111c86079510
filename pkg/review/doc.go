/*
Package review puts a prepared change of a skill in place: at once, or when somebody has said yes.

It owns the proposals that wait in $OPENSPACE_HOME/proposals, the pins that keep a skill as it is, and the last step of every change: a version
after the head of a folder, or a new folder under a name that is free. It does not make changes and asks no model; package evolve does.

A change holds all files of the new version and the head that it was made for. When the head is another by then, or the folder was edited
since, nothing is done (ErrStale). What is done is one commit of the store: whole or not at all. docs/evolution.md has the format of a proposal.
*/
package review
