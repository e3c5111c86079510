// Package browser drives an installed Chromium without a window: it opens pages, reads them, clicks, types and takes
// pictures.
//
// It owns the process and its profile, which lives in a folder of its own and goes with it, the protocol between them
// (Chrome DevTools, over two pipes that no other process has), and the proxy on loopback through which all that Chromium
// asks of the network goes. The proxy resolves each name once, asks whether the address may be called, and connects to
// that address: what a page loads, where it is redirected and what its scripts open is checked like the page itself, and
// a name cannot stand for another address a moment later. Who may be called and how the process is confined is decided
// by the caller.
//
// A Browser does one thing at a time; its methods may be called by several goroutines.
package browser
