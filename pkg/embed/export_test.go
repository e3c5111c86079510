package embed

// VerifyBuiltin checks the whole built-in model.
func (s *Static) VerifyBuiltin() error { return s.Verify(builtin) }

// BuiltinSize is the size of the built-in model in bytes.
func BuiltinSize() int { return len(builtin) }
