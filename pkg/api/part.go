package api

import (
	"errors"
	"fmt"
	"mime"
	"net/textproto"
	"path"
	"strings"
)

// FilesField is the name of the form field that every file of a staged artifact has.
const FilesField = "files"

// PartHeader returns the header of the multipart part that carries the file at a path. The path must be as
// CleanPath returns it, else the error is a *PathError: then it holds nothing that could end the header, and
// stands there as it is, which is how old servers read it.
func PartHeader(name string, exec bool) (textproto.MIMEHeader, error) {
	if clean, err := CleanPath(name); err != nil {
		return nil, err
	} else if clean != name {
		return nil, &PathError{name, fmt.Sprintf("must be given as %q", clean)}
	}
	h := textproto.MIMEHeader{}
	h.Set("Content-Disposition", `form-data; name="`+FilesField+`"; filename="`+name+`"`)
	h.Set("Content-Type", contentType(name))
	if exec {
		h.Set(HeaderFileMode, "0755")
	}
	return h, nil
}

// contentType returns the type that a file is sent with.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".md", ".txt", ".yaml", ".yml", ".json", ".py", ".sh", ".toml":
		return "text/plain"
	}
	return "application/octet-stream"
}

// ErrNoFile is returned by ParsePart for a form field that is not a file of the artifact.
var ErrNoFile = errors.New("part is not a file")

// ParsePart reads the header of a multipart part: the name of its file, not cleaned yet, and whether it can
// be executed. Names are taken as they come: raw UTF-8, folders and all, also with backslashes, which
// mime.ParseMediaType would take for quotes. The filename* of RFC 5987, which some clients send for names
// beyond ASCII, goes before filename.
func ParsePart(h textproto.MIMEHeader) (name string, exec bool, err error) {
	value := h.Get("Content-Disposition")
	params, err := dispositionParams(value)
	if err != nil {
		return "", false, fmt.Errorf("read content disposition %q: %w", clip(value), err)
	}
	name, isFile := params["filename"]
	if params["name"] != FilesField || !isFile && params["filename*"] == "" {
		return "", false, ErrNoFile
	}
	if extended := params["filename*"]; extended != "" {
		if name, err = extendedValue(extended); err != nil {
			return "", false, fmt.Errorf("read content disposition %q: %w", clip(value), err)
		}
	}
	return name, h.Get(HeaderFileMode) == "0755", nil
}

func clip(s string) string {
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// dispositionParams splits the parameters of a form-data disposition.
func dispositionParams(value string) (map[string]string, error) {
	kind, rest, _ := strings.Cut(value, ";")
	if !strings.EqualFold(strings.TrimSpace(kind), "form-data") {
		return nil, errors.New("not form-data")
	}
	params := map[string]string{}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		key, after, ok := strings.Cut(rest, "=")
		if !ok {
			return nil, errors.New("parameter without a value")
		}
		key = strings.ToLower(strings.TrimSpace(key))
		if _, twice := params[key]; twice {
			return nil, fmt.Errorf("parameter %q is there twice", key)
		}
		var err error
		if params[key], rest, err = paramValue(after); err != nil {
			return nil, err
		}
	}
	return params, nil
}

// paramValue reads one value and what follows its semicolon. In a quoted value only \" is an escape: a
// backslash before anything else is a Windows separator. A quote inside that no semicolon or end follows was
// sent raw by an old client and is kept.
func paramValue(s string) (value, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if !strings.HasPrefix(s, `"`) {
		value, rest, _ = strings.Cut(s, ";")
		return strings.TrimSpace(value), rest, nil
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && s[i+1] == '"' && !ends(s[i+2:]):
			b.WriteByte('"')
			i++
		case s[i] == '"' && ends(s[i+1:]):
			_, rest, _ = strings.Cut(s[i+1:], ";")
			return b.String(), rest, nil
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", errors.New("quote without an end")
}

// ends tells whether a value can end before s.
func ends(s string) bool {
	s = strings.TrimLeft(s, " \t")
	return s == "" || s[0] == ';'
}

// extendedValue decodes the value of a parameter such as filename*=UTF-8”a%20b.
func extendedValue(v string) (string, error) {
	_, params, err := mime.ParseMediaType("form-data; filename*=" + v)
	if err != nil || params["filename"] == "" {
		return "", errors.New("filename* cannot be read")
	}
	return params["filename"], nil
}
