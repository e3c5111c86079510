//go:build unix

package main

import "syscall"

// apart puts a process into a session of its own: no terminal and no signal to our group ends it.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
