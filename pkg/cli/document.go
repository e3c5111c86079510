package cli

import "io"

// document is the format of a command that writes something other than records.
const document Format = "document"

// Document hands stdout to a command that writes one document of a format of its own. From then on no record and no
// summary is written, and errors about inputs go to stderr.
func (p *Printer) Document() io.Writer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.format = document
	return p.out
}
