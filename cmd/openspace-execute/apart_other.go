//go:build !unix

package main

import "syscall"

// apart is for systems without sessions.
func apart() *syscall.SysProcAttr { return nil }
