package slack

import (
	"strings"

	"github.com/openspace-dev/openspace/pkg/gateway"
)

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// Marks turns Markdown into Slack's marks. What would mention somebody is escaped before.
func Marks(text string) string {
	m := gateway.Marks{Bold: "*", Italic: "_", Struck: "~", Bullet: "•", Link: "<$2|$1>", Quote: "&gt; ", Escape: escape.Replace}
	return m.Text(text)
}
