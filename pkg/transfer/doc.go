// Package transfer moves skills between folders, archives and registries: what of a folder goes up and under
// which description, what of an archive may come down, and how a skill that came gets its place.
//
// It owns the rules of docs/transfer.md. It does not talk HTTP (package cloud), judge texts (safety) or keep
// versions (store); it brings them together. Nothing reaches a place where an agent could load it before it
// was checked as a whole, nothing is sent that was not scanned, and a local edit is never lost. Archives are
// hostile until read: every size is bounded, every name checked, nothing is written outside the folder that
// was meant.
//
// A Downloader and an Uploader may be used by many goroutines.
package transfer
