package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// Profile names a set of rules: who is asked whether a skill is right.
type Profile string

// The profiles. docs/skill-format.md lists the rules of each.
const (
	Lenient   Profile = "lenient"    // what this suite needs to load the skill
	Spec      Profile = "spec"       // the text of the Agent Skills format
	SkillsRef Profile = "skills-ref" // verdicts of the format's reference validator
	GH        Profile = "gh"         // what gh skill publish accepts
	Anthropic Profile = "anthropic"  // Anthropic's validator and API
	ClawHub   Profile = "clawhub"    // the ClawHub registry
)

// Profiles lists all profiles, the most tolerant first.
func Profiles() []Profile {
	return []Profile{Lenient, Spec, SkillsRef, GH, Anthropic, ClawHub}
}

// ErrProfile is returned for a profile that does not exist.
var ErrProfile = errors.New("no such profile")

// maxBody is the number of body lines above which detail belongs elsewhere.
const maxBody = 500

// rules says how severe the breach of each rule is; "" turns the rule off.
type rules struct {
	cut         func(data []byte) (front cut, problem *Diagnostic)
	strictYAML  bool     // the YAML subset of the reference validator
	unknown     Severity // a key that the format does not have
	duplicate   Severity // a key given twice
	required    Severity // name or description missing or empty
	name        Severity // form and length of the name
	ascii       Severity // letters of the name outside ASCII
	reserved    Severity // names that claim to be Anthropic's
	folder      Severity // name and folder differ
	slug        Severity // folder name not fit for a URL
	description Severity // length of the description
	angle       Severity // < or > in the description
	types       Severity // a scalar that YAML takes for something else than text
	compat      Severity // form and length of compatibility
	noCompat    Severity // compatibility present and empty
	license     Severity // license missing
	toolsList   Severity // allowed-tools as a list
	textual     Severity // license not a text, metadata not a flat map of texts
	metadata    Severity // metadata not a map
}

func rulesOf(p Profile) (rules, bool) {
	switch p {
	case Spec:
		return rules{cut: cutTolerant, unknown: Warning, duplicate: Error, required: Error, name: Error, ascii: Warning, folder: Error,
			description: Error, types: Warning, compat: Error, noCompat: Error, toolsList: Error, textual: Error}, true
	case SkillsRef:
		return rules{cut: cutReference, strictYAML: true, unknown: Error, required: Error, name: Error, ascii: Warning, folder: Error,
			description: Error, compat: Error}, true
	case GH:
		return rules{cut: cutGH, duplicate: Error, required: Error, name: Error, ascii: Error, folder: Error,
			description: Warning, license: Warning, toolsList: Error, metadata: Error}, true
	case Anthropic:
		return rules{cut: cutAnthropic, unknown: Error, duplicate: Warning, required: Error, name: Error, ascii: Error, reserved: Error,
			description: Error, angle: Error, types: Error, compat: Error, noCompat: Error}, true
	case ClawHub:
		return rules{cut: cutTolerant, duplicate: Warning, required: Warning, slug: Error, metadata: Error}, true
	}
	return rules{}, false
}

// Check applies a profile's rules about the text of a SKILL.md. The folder's
// base name is compared with the name; "" turns that rule off. A skill passes
// when no diagnostic is an Error. Diagnostics carry no Path.
func Check(data []byte, folder string, p Profile) ([]Diagnostic, error) {
	known, ok := rulesOf(p)
	if !ok && p != Lenient {
		return nil, fmt.Errorf("check skill with profile %q: %w", p, ErrProfile)
	}
	if d := unusable(data); d != nil {
		return []Diagnostic{*d}, nil
	}
	if p == Lenient {
		s, problems := Parse(data, folder)
		return append(problems, bodyRules(s.Body, s.BodyLine)...), nil
	}
	c := &checker{rules: known, profile: p, data: data, folder: folder}
	c.run()
	return c.out, nil
}

// Validate applies all rules of a profile to a skill folder (or to the skill
// file itself): those of Check, and those about the files in the folder. The
// error is an I/O error, or ErrProfile. Diagnostics carry a path.
func Validate(dir string, p Profile) ([]Diagnostic, error) {
	if _, ok := rulesOf(p); !ok && p != Lenient {
		return nil, fmt.Errorf("validate %q with profile %q: %w", dir, p, ErrProfile)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("validate skill: %w", err)
	}
	if !info.IsDir() && (info.Name() == FileName || info.Name() == altFileName) {
		dir = filepath.Dir(dir)
	}
	file, problems := findFor(dir, p)
	if file == "" {
		if len(problems) == 0 {
			problems = append(problems, missingFile(dir))
		}
		return problems, nil
	}
	data, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if data == nil {
		return []Diagnostic{tooLarge(file)}, nil
	}
	text, err := Check(data, FolderName(dir), p)
	if err != nil {
		return nil, err
	}
	rest, err := folderRules(dir, file, data, p)
	return append(withPath(text, file), rest...), err
}

// findFor is Find with the names that the profile knows besides.
func findFor(dir string, p Profile) (string, []Diagnostic) {
	file, problems := Find(dir)
	if file != "" || p != ClawHub {
		return file, problems
	}
	alt := filepath.Join(dir, "skills.md")
	if info, err := os.Stat(alt); err == nil && info.Mode().IsRegular() {
		return alt, nil
	}
	return "", problems
}

// folderRules are the rules about what lies beside the skill file.
func folderRules(dir, file string, data []byte, p Profile) ([]Diagnostic, error) {
	files, left, err := Files(dir)
	if err != nil {
		return nil, err
	}
	var out []Diagnostic
	total := int64(0)
	for _, f := range files {
		total += f.Size
		base := f.Path[strings.LastIndexByte(f.Path, '/')+1:]
		if base != f.Path && (base == FileName || base == altFileName) {
			out = append(out, Diagnostic{Code: "nested-skill", Severity: Warning, Path: filepath.Join(dir, f.Path),
				Message: "there is another skill inside this one; a host that stops at the first skill file does not see it", Hint: "move it out of the folder"})
		}
	}
	for _, l := range left {
		if d, ok := leftOutRule(dir, l); ok {
			out = append(out, d)
		}
	}
	if p == ClawHub && total > maxBundle {
		out = append(out, Diagnostic{Code: "bundle-size", Severity: Error, Path: dir,
			Message: fmt.Sprintf("the files have %d bytes together, more than %d", total, maxBundle), Hint: "leave large files out with a " + IgnoreFile})
	}
	if _, problem := ReadID(dir); problem != nil {
		out = append(out, *problem)
	}
	doc := read(data)
	return append(out, withPath(references(dir, data[doc.block.body:], doc.block.bodyLine), file)...), nil
}

const maxBundle = 50 << 20 // bytes that ClawHub takes

// leftOutRule reports files that are left out and that nobody asked to leave out.
func leftOutRule(dir string, l LeftOut) (Diagnostic, bool) {
	d := Diagnostic{Code: l.Reason, Severity: Warning, Path: filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(l.Path, "/")))}
	switch l.Reason {
	case ReasonLinkOutside:
		d.Message, d.Hint = "the link leads out of the skill folder and is not part of the skill", "copy the file into the folder"
	case ReasonLinkDangling:
		d.Message, d.Hint = "the link leads to nothing", "remove it or restore its target"
	case ReasonLinkLoop:
		d.Message, d.Hint = "the link leads to a folder that it lies in", "remove it"
	case ReasonSpecial:
		d.Message, d.Hint = "this is no plain file and not part of the skill", "remove it"
	case ReasonUnreadable:
		d.Message, d.Hint = "this cannot be read and is not part of the skill", "check its permissions"
	case ReasonName:
		d.Message, d.Hint = "the file's name is not UTF-8", "rename it"
	case ReasonTooDeep, ReasonTooMany:
		d.Message, d.Hint = "the folder holds more than a skill may; from here on it was not read", "leave folders out with a "+IgnoreFile
	default:
		return d, false
	}
	return d, true
}

func tooLarge(file string) Diagnostic {
	return Diagnostic{Code: "too-large", Severity: Error, Path: file,
		Message: fmt.Sprintf("%s has more than %d bytes", filepath.Base(file), maxFile), Hint: "move detail into files beside it"}
}

// bodyRules are the rules about the instructions.
func bodyRules(body []byte, first int) []Diagnostic {
	n := 0
	for off := 0; off < len(body); n++ {
		off = nextLine(body, off).next
	}
	if n <= maxBody {
		return nil
	}
	return []Diagnostic{{Code: "body-length", Severity: Warning, Line: first,
		Message: fmt.Sprintf("the instructions have %d lines, more than %d", n, maxBody), Hint: "move detail into files beside it and name them"}}
}

// exists tells whether a path below dir exists, without following links.
func exists(dir, rel string) bool {
	_, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(rel)))
	return err == nil || !errors.Is(err, fs.ErrNotExist)
}

// pairs walks the keys and values of a mapping node.
func pairs(m *yaml.Node, visit func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		visit(m.Content[i], m.Content[i+1])
	}
}
