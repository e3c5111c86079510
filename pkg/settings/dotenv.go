package settings

import (
	"bytes"
	"fmt"

	"github.com/joho/godotenv"
)

// parseDotEnv reads a .env file. Lines that are not understood are left out, and their numbers returned, from 1; only
// when the rest cannot be read either is there an error. The parser's own messages quote the file, which may hold
// secrets, so they go no further.
func parseDotEnv(data []byte) (values map[string]string, bad []int, err error) {
	if values, err = godotenv.UnmarshalBytes(data); err == nil {
		return values, nil, nil
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	var good []byte
	for at := 0; at < len(lines); {
		n := assignment(lines[at:])
		if n == 0 {
			bad = append(bad, at+1)
			n = 1
		} else {
			good = append(good, bytes.Join(lines[at:at+n], nil)...)
		}
		at += n
	}
	// All at once, because a value may name a variable above it.
	values, err = godotenv.UnmarshalBytes(good)
	return values, bad, err
}

// maxValueLines bounds how far the end of a quoted value is looked for.
const maxValueLines = 200

// assignment returns how many lines from the first on make an assignment, a comment or nothing: more than one when a
// quoted value goes over several; 0 when they are none of these.
func assignment(lines [][]byte) int {
	if understood(lines[0]) {
		return 1
	}
	_, value, _ := bytes.Cut(lines[0], []byte("="))
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] != '"' && value[0] != '\'' {
		return 0
	}
	for n := 2; n <= min(len(lines), maxValueLines); n++ {
		if bytes.IndexByte(lines[n-1], value[0]) < 0 {
			continue
		}
		if understood(bytes.Join(lines[:n], nil)) {
			return n
		}
		return 0
	}
	return 0
}

func understood(text []byte) bool {
	values, err := godotenv.UnmarshalBytes(text)
	return err == nil && len(values) <= 1
}

// badShown is how many lines of a file are named that are not understood: a private key has many.
const badShown = 3

// badLines names lines of a file that are not understood, without their text.
func badLines(path string, bad []int) (out []string) {
	for i, num := range bad {
		if i == badShown {
			return append(out, fmt.Sprintf("%s: %d more lines are not of the form NAME=value and are ignored", path, len(bad)-i))
		}
		out = append(out, fmt.Sprintf("%s:%d: ignored: not of the form NAME=value", path, num))
	}
	return out
}
