package whatsapp

import "github.com/openspace-dev/openspace/pkg/gateway"

// Marks turns Markdown into what WhatsApp shows: *bold*, _italic_, ~struck through~, code as it is; headings
// become bold, links a text with its address.
func Marks(text string) string {
	return gateway.Marks{Bold: "*", Italic: "_", Struck: "~", Bullet: "-", Link: "$1 ($2)"}.Text(text)
}
