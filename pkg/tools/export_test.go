package tools

import "errors"

// HTMLText is for the fuzz target of pages.
var HTMLText = htmlText

// ToUTF8 is for the fuzz target of pages.
var ToUTF8 = toUTF8

// Between finds a place, lets something happen, and then reads or writes there.
func (e *Env) Between(path string, write bool, happens func()) ([]byte, error) {
	s, problem := e.locate(path, write)
	if problem != nil {
		return nil, errors.New(problem.Error)
	}
	defer s.Close()
	happens()
	if write {
		return nil, s.replace([]byte("written"), nil)
	}
	data, _, err := s.read(e.Limits.Read)
	return data, err
}

// MaskWhole applies the patterns to a whole text.
func MaskWhole(s string) string {
	for _, k := range shapes() {
		s = k.pattern.ReplaceAllString(s, k.by)
	}
	return s
}
