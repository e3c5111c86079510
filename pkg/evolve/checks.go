package evolve

import "context"

// Checker runs the checks of a skill: files, by slash path, in dir, a copy that may be written to.
type Checker func(ctx context.Context, dir string, files []string) (Checked, error)

// Checked is what came of checks.
type Checked struct {
	Passed bool
	Output string // of the one that failed
}
