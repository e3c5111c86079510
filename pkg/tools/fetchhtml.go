package tools

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

const (
	maxParsed = 2 << 20 // bytes of HTML that is made markdown; longer HTML is made plain text
	maxSpan   = 20      // columns or rows of a cell
)

// toUTF8 decodes a page by its mark, its header or what it says of itself; else it is UTF-8 if it can be, and
// Windows-1252 if not.
func toUTF8(data []byte, contentType string) string {
	set, _, certain := charset.DetermineEncoding(data, contentType)
	if !certain && utf8.Valid(data) || strings.Contains(contentType, "json") && utf8.Valid(data) {
		return strings.TrimPrefix(string(data), "\uFEFF")
	}
	plain, err := set.NewDecoder().Bytes(data)
	if err != nil {
		plain = data
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(plain), "\uFFFD"), "\uFEFF")
}

// htmlText makes markdown of the main part of a page, or of all of it when no part stands out; and plain text when that
// does not work, for what people serve as HTML is sometimes none.
func htmlText(text string, at *url.URL) (out string) {
	defer func() {
		if recover() != nil {
			out = plainHTML(text)
		}
		out = strings.TrimSpace(manyBreaks().ReplaceAllString(out, "\n\n"))
	}()
	if len(text) > maxParsed {
		return plainHTML(text)
	}
	doc, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return plainHTML(text)
	}
	prepare(doc, at)
	title := titleOf(doc)
	body := mainPart(doc, at)
	if body == nil {
		body = doc
	}
	markdown, err := newConverter().ConvertNode(body)
	if err != nil || len(strings.TrimSpace(string(markdown))) == 0 {
		return plainHTML(text)
	}
	out = string(markdown)
	if title != "" && !strings.HasPrefix(strings.TrimSpace(out), "# ") {
		out = "# " + title + "\n\n" + out
	}
	return out
}

// manyBreaks are empty lines that say nothing.
var manyBreaks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n[ \t]*(?:\n[ \t]*)+\n`) })

func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(commonmark.WithLinkEmptyHrefBehavior(commonmark.LinkBehaviorSkip), commonmark.WithLinkEmptyContentBehavior(commonmark.LinkBehaviorSkip)),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
}

// mainPart returns the article of a page; nil when it does not look like one, such as a page of links.
func mainPart(doc *html.Node, at *url.URL) *html.Node {
	if !readability.CheckDocument(doc) {
		return nil
	}
	copied := clone(doc)
	article, err := readability.FromDocument(copied, at)
	if err != nil || article.Node == nil {
		return nil
	}
	const enough = 200
	var b strings.Builder
	if err := article.RenderText(&b); err != nil || len(strings.TrimSpace(b.String())) < enough {
		return nil
	}
	return article.Node
}

// clone copies a tree. It does not recurse deeper than the parser lets a page nest.
func clone(n *html.Node) *html.Node {
	c := &html.Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace, Attr: append([]html.Attribute(nil), n.Attr...)}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.AppendChild(clone(child))
	}
	return c
}

// noise are elements that have nothing to read.
var noise = map[atom.Atom]bool{atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Iframe: true,
	atom.Object: true, atom.Embed: true, atom.Canvas: true, atom.Link: true, atom.Input: true, atom.Button: true, atom.Select: true}

// prepare takes out what has nothing to read, makes links whole and bounds the cells of tables, whose size is up to the
// page.
func prepare(doc *html.Node, at *url.URL) {
	here := at
	if b := firstOf(doc, atom.Base); b != nil {
		if u, err := at.Parse(attribute(b, "href")); err == nil && (u.Scheme == "http" || u.Scheme == "https") {
			here = u
		}
	}
	var drop []*html.Node
	for n := range doc.Descendants() {
		if n.Type == html.CommentNode || n.Type == html.ElementNode && (noise[n.DataAtom] || isDecoration(n)) {
			drop = append(drop, n)
			continue
		}
		for i := range n.Attr {
			mendAttribute(&n.Attr[i], here)
		}
	}
	for _, n := range drop {
		if n.Parent != nil {
			n.Parent.RemoveChild(n)
		}
	}
}

// isDecoration tells whether an element is a picture without words.
func isDecoration(n *html.Node) bool {
	return n.DataAtom == atom.Img && (strings.TrimSpace(attribute(n, "alt")) == "" || strings.HasPrefix(attribute(n, "src"), "data:"))
}

func mendAttribute(a *html.Attribute, here *url.URL) {
	switch a.Key {
	case "href", "src":
		u, err := here.Parse(strings.TrimSpace(a.Val))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" {
			a.Val = ""
			return
		}
		a.Val = u.String()
	case "colspan", "rowspan":
		if n, err := strconv.Atoi(strings.TrimSpace(a.Val)); err != nil || n > maxSpan {
			a.Val = "1"
		}
	}
}

func firstOf(doc *html.Node, kind atom.Atom) *html.Node {
	for n := range doc.Descendants() {
		if n.DataAtom == kind {
			return n
		}
	}
	return nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// titleOf returns what a page calls itself, in one line.
func titleOf(doc *html.Node) string {
	n := firstOf(doc, atom.Title)
	if n == nil || n.FirstChild == nil {
		return ""
	}
	title, _ := cut(oneLine(n.FirstChild.Data), 200)
	return title
}

// blocks are elements that begin a line.
var blocks = map[string]bool{"p": true, "div": true, "br": true, "li": true, "tr": true, "h1": true, "h2": true, "h3": true, "h4": true, "h5": true,
	"h6": true, "pre": true, "blockquote": true, "section": true, "article": true, "table": true, "ul": true, "ol": true, "title": true, "dt": true, "dd": true}

// plainHTML takes the text out of HTML of any size and nesting.
func plainHTML(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	var b strings.Builder
	hidden := ""
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(b.String())
		case html.TextToken:
			if hidden != "" {
				continue
			}
			words := strings.Join(strings.Fields(string(z.Text())), " ")
			if words != "" {
				b.WriteString(words + " ")
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			if hidden == "" && (string(name) == "script" || string(name) == "style" || string(name) == "noscript") {
				hidden = string(name)
			}
			if blocks[string(name)] {
				b.WriteByte('\n')
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); string(name) == hidden {
				hidden = ""
			}
		}
	}
}
