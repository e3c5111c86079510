package skill

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	yaml "go.yaml.in/yaml/v3"
)

// checker applies one profile's rules to one text.
type checker struct {
	rules   rules
	profile Profile
	data    []byte
	folder  string
	front   cut
	root    *yaml.Node
	out     []Diagnostic
}

func (c *checker) add(sev Severity, code string, num int, msg, hint string) {
	if sev != "" {
		c.out = append(c.out, Diagnostic{Code: code, Severity: sev, Line: num, Message: msg, Hint: hint})
	}
}

func (c *checker) run() {
	doc := read(c.data)
	c.fences(doc)
	front, problem := c.rules.cut(c.data)
	c.front = front
	if problem == nil && len(front.text) > maxFront {
		problem = cutProblem("frontmatter-large", frontTooLarge, "close it with --- after its last field")
	}
	if problem != nil {
		problem.Severity = c.rules.required
		c.out = append(c.out, *problem)
	} else if c.mapping(doc) {
		c.keys()
		c.name()
		c.description()
		c.compatibility()
		c.others()
	}
	c.out = append(c.out, bodyRules(c.data[doc.block.body:], doc.block.bodyLine)...)
}

// fences warns where readers of the file see different frontmatters: at a ---
// inside a value, where the reference validator and others cut.
func (c *checker) fences(doc *document) {
	for i, l := range doc.block.lines {
		if strings.Contains(string(l.text(c.data)), "---") {
			c.add(Warning, "fence-inside-value", doc.block.firstLine+i, "there is --- inside the frontmatter, where some readers end it", "write it in another way")
			return
		}
	}
}

// line is the file's line of a node.
func (c *checker) line(n *yaml.Node) int { return c.front.line + max(n.Line, 1) - 1 }

// mapping parses the frontmatter and tells whether it is a mapping.
func (c *checker) mapping(doc *document) bool {
	var root, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(blanked(c.front.text, oldBreak)))
	if err := dec.Decode(&root); err != nil && err != io.EOF {
		c.invalid(doc, err)
		return false
	}
	if err := dec.Decode(&more); err != io.EOF && c.profile != GH {
		c.add(Error, "yaml-documents", c.front.line, "the frontmatter holds more than one YAML document", "remove the lines --- or ... inside it")
		return false
	}
	if len(root.Content) == 0 || root.Content[0].Kind != yaml.MappingNode {
		c.add(Error, "yaml-not-mapping", c.front.line, "the frontmatter is not a YAML mapping", "write one key: value per line")
		return false
	}
	c.root = root.Content[0]
	if c.rules.strictYAML {
		if num, why := strictProblem(c.front.text, c.root); why != "" {
			c.add(Error, "yaml-strict", c.front.line+num-1, "the frontmatter is not in the YAML subset of this profile: "+why, "use plain key: value lines, lists with hyphens and indented maps")
			return false
		}
	}
	return true
}

// invalid reports YAML that does not parse, with what the tolerant reading knows
// about it.
func (c *checker) invalid(doc *document, err error) {
	found := false
	for _, d := range doc.problems {
		if strings.HasPrefix(d.Code, "yaml-") {
			d.Severity = Error
			c.out = append(c.out, d)
			found = true
		}
	}
	if !found {
		c.add(Error, "yaml-invalid", c.front.line, "the frontmatter is not valid YAML: "+strings.TrimPrefix(err.Error(), "yaml: "), "put values in quotes")
	}
}

// get is the value of a key, the last one if it is given twice.
func (c *checker) get(key string) (value *yaml.Node, num int) {
	pairs(c.root, func(k, v *yaml.Node) {
		if k.Value == key {
			value, num = v, c.line(k)
		}
	})
	for value != nil && value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	return value, num
}

func (c *checker) keys() {
	seen := make(map[string]bool)
	pairs(c.root, func(k, _ *yaml.Node) {
		if seen[k.Value] {
			c.add(c.rules.duplicate, "duplicate-key", c.line(k), fmt.Sprintf("key %q is given again", k.Value), "remove one of the two")
		}
		seen[k.Value] = true
	})
	for _, key := range formatKeys() {
		delete(seen, key)
	}
	pairs(c.root, func(k, _ *yaml.Node) {
		if !seen[k.Value] {
			return
		}
		seen[k.Value] = false
		hint := "move it under metadata"
		if want := nearMiss(k.Value); want != "" {
			hint = fmt.Sprintf("did you mean %q?", want)
		}
		c.add(c.rules.unknown, "unknown-key", c.line(k), fmt.Sprintf("key %q is not part of the format", k.Value), hint)
	})
}

// required fetches the text of a key that must be there; ok is false when
// there is no text to judge.
func (c *checker) required(key string) (text string, num int, ok bool) {
	v, num := c.get(key)
	switch {
	case v == nil:
		c.add(c.rules.required, key+"-missing", c.front.line, "there is no "+key, "add "+key+":")
		return "", 0, false
	case v.Kind != yaml.ScalarNode:
		c.add(c.rules.required, key+"-type", num, "the "+key+" is not text", "write it as one text")
		return "", num, false
	}
	text = strings.TrimSpace(v.Value)
	if text == "" || isNull(v) && !c.rules.strictYAML {
		c.add(c.rules.required, key+"-empty", num, "the "+key+" is empty", "write it")
		return "", num, false
	}
	if kind := foreignType(v); kind != "" && c.rules.types != "" {
		c.add(c.rules.types, key+"-type", num, fmt.Sprintf("YAML reads the %s as %s, not as text", key, kind), "put it in quotes")
	}
	return text, num, true
}

func (c *checker) name() {
	typed, num, ok := c.required(keyName)
	if c.rules.slug != "" && c.folder != "" && !asciiName(c.folder, false) {
		c.add(c.rules.slug, "slug-format", 0, fmt.Sprintf("the folder's name %q is not fit for a URL", c.folder), "use a-z, 0-9 and hyphens")
	}
	if !ok {
		return
	}
	name := norm.NFKC.String(typed)
	if c.rules.ascii == Error {
		name = typed
	}
	if n := utf8.RuneCountInString(name); n > maxName {
		c.add(c.rules.name, "name-length", num, fmt.Sprintf("the name has %d characters, more than %d", n, maxName), "shorten it")
	}
	if why := nameFormat(name); why != "" {
		c.add(c.rules.name, "name-format", num, fmt.Sprintf("the name %q %s", clip(name, maxName), why), "use lower-case letters, digits and single hyphens")
	} else if !asciiName(name, true) {
		c.add(c.rules.ascii, "name-ascii", num, fmt.Sprintf("the name %q has letters outside a-z and 0-9, which some hosts refuse", clip(name, maxName)), "use a-z, 0-9 and hyphens")
	}
	if lower := strings.ToLower(name); strings.Contains(lower, "claude") || strings.Contains(lower, "anthropic") {
		c.add(c.rules.reserved, "name-reserved", num, "the name holds a reserved word", "leave out claude and anthropic")
	}
	if c.folder != "" && norm.NFKC.String(name) != norm.NFKC.String(c.folder) {
		c.add(c.rules.folder, "name-dir-mismatch", num, fmt.Sprintf("the name %q is not the folder's name %q", clip(name, maxName), clip(c.folder, maxName)), "rename one of the two")
	}
}

func (c *checker) description() {
	text, num, ok := c.required(keyDescription)
	if !ok {
		return
	}
	if n := utf8.RuneCountInString(text); n > maxDescription {
		c.add(c.rules.description, "description-length", num, fmt.Sprintf("the description has %d characters, more than %d", n, maxDescription), "shorten it")
	}
	if strings.ContainsAny(text, "<>") {
		c.add(c.rules.angle, "description-angle", num, "the description has < or >", "leave them out")
	}
}

func (c *checker) compatibility() {
	v, num := c.get(keyCompatibility)
	if v == nil || c.rules.compat == "" {
		return
	}
	if v.Kind != yaml.ScalarNode || c.rules.types == Error && foreignType(v) != "" {
		c.add(c.rules.compat, "compatibility-type", num, "compatibility is not text", "write it as one text")
		return
	}
	switch n := utf8.RuneCountInString(v.Value); {
	case n > maxCompatibility:
		c.add(c.rules.compat, "compatibility-length", num, fmt.Sprintf("compatibility has %d characters, more than %d", n, maxCompatibility), "shorten it")
	case strings.TrimSpace(v.Value) == "" || isNull(v) && !c.rules.strictYAML:
		c.add(c.rules.noCompat, "compatibility-empty", num, "compatibility is empty", "write it or remove the key")
	}
}

// others are license, allowed-tools and metadata.
func (c *checker) others() {
	license, num := c.get(keyLicense)
	switch {
	case license == nil:
		c.add(c.rules.license, "license-missing", c.front.line, "there is no license", "add license:")
	case license.Kind != yaml.ScalarNode:
		c.add(firstOf(c.rules.textual, c.rules.metadata), "license-type", num, "the license is not text", "name the license")
	case c.profile == ClawHub && license.Value != "MIT-0" && !isNull(license):
		c.add(Warning, "license-replaced", num, "the registry publishes every skill under MIT-0", "agree to MIT-0 or do not publish")
	}
	if tools, num := c.get(keyAllowedTools); tools != nil && tools.Kind != yaml.ScalarNode {
		c.add(c.rules.toolsList, "allowed-tools-type", num, "allowed-tools is not text", "write the tools on one line, separated by blanks")
	}
	c.metadata()
}

func (c *checker) metadata() {
	m, num := c.get(keyMetadata)
	switch {
	case m == nil || isNull(m) && c.rules.textual == "":
	case m.Kind != yaml.MappingNode:
		c.add(firstOf(c.rules.textual, c.rules.metadata), "metadata-type", num, "metadata is not a mapping", "write key: value lines below it")
	case c.profile == ClawHub:
		c.requirements(m)
	default:
		pairs(m, func(k, v *yaml.Node) {
			if v.Kind != yaml.ScalarNode {
				c.add(c.rules.textual, "metadata-value", c.line(k), fmt.Sprintf("metadata key %q does not hold text", k.Value), "use text values; put structures into a file")
			}
		})
	}
}

// requirements checks metadata.openclaw (or one of its old names): requires has
// lists of texts under env, bins, anyBins and config.
func (c *checker) requirements(m *yaml.Node) {
	pairs(m, func(k, v *yaml.Node) {
		switch k.Value {
		case "openclaw", "clawdbot", "clawdis":
		default:
			return
		}
		if v.Kind != yaml.MappingNode {
			c.add(c.rules.metadata, "metadata-requires", c.line(k), fmt.Sprintf("metadata key %q is not a mapping", k.Value), "write key: value lines below it")
			return
		}
		pairs(v, func(k, v *yaml.Node) {
			if k.Value == "requires" {
				c.requires(k, v)
			}
		})
	})
}

func (c *checker) requires(at, m *yaml.Node) {
	if m.Kind != yaml.MappingNode {
		c.add(c.rules.metadata, "metadata-requires", c.line(at), "requires is not a mapping", "write env, bins, anyBins or config below it")
		return
	}
	pairs(m, func(k, v *yaml.Node) {
		switch k.Value {
		case "env", "bins", "anyBins", "config":
		default:
			return
		}
		if !textList(v) {
			c.add(c.rules.metadata, "metadata-requires", c.line(k), fmt.Sprintf("requires.%s is not a list of texts", k.Value), "write one name per line, each after a hyphen")
		}
	})
}

func textList(n *yaml.Node) bool {
	if n.Kind != yaml.SequenceNode {
		return false
	}
	for _, item := range n.Content {
		if item.Kind != yaml.ScalarNode {
			return false
		}
	}
	return true
}

func firstOf(severities ...Severity) Severity {
	for _, s := range severities {
		if s != "" {
			return s
		}
	}
	return ""
}

// foreignType names what a YAML 1.1 parser makes of a plain scalar, or "".
func foreignType(n *yaml.Node) string {
	if n.Style != 0 {
		return ""
	}
	switch strings.ToLower(n.Value) {
	case "yes", "no", "on", "off":
		return "a boolean"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a boolean"
	case "!!timestamp":
		return "a date"
	}
	return ""
}

// asciiName tells a name made of a-z, 0-9 and hyphens; with edge false it may
// end in a hyphen but not start with one.
func asciiName(s string, edge bool) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return s != "" && (edge || s[0] != '-')
}
