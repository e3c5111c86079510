package tools

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/policy"
	"github.com/openspace-dev/openspace/pkg/sandbox"
)

// Env is where the built-in tools of one task work: its folders, its rules and its limits. Fill it in, hand it to
// Builtin, and call Close when the task is over. It must not be copied or changed after that.
type Env struct {
	Workspace string   // absolute: relative paths start here, commands run here
	WriteDirs []string // absolute: may be written as well
	ReadDirs  []string // absolute: may be read as well, such as the folders of skills

	Environ []string // of the parent; what commands get of it is chosen by name
	PassEnv []string // names of variables that commands get although they are not on the list

	Policy  *policy.Policy // what may be done; nil: the default one for these folders
	Sandbox sandbox.Level  // what commands run in

	// Confined is told, when the first command runs, how much of the sandbox there is on this machine; it may be nil.
	Confined func(sandbox.Report)

	OutputDir    string // where the whole of long outputs is kept; empty: nowhere
	Mask         *Mask  // takes secrets out of everything that a model reads; nil: the known shapes only
	Limits       Limits
	AllowPrivate bool // fetch_url may go to addresses of this machine and of private networks
	Vision       bool // the model sees pictures

	setup  sync.Once
	base   string   // the workspace, resolved
	roots  []folder // that may be read, resolved, the innermost first
	pages  pageCache
	writes sync.Mutex // one change of a file at a time
	shell  shellState
}

// Limits bound what tools take and give. A zero is the default.
type Limits struct {
	Time    time.Duration // of a command that names none; 2 minutes
	MaxTime time.Duration // of any command; 10 minutes

	Output int   // characters of a result that a model reads; 30,000
	Shell  int   // of them, of what a command wrote, and at most Output; 20,000: what is long is seldom read whole, and all of it is in a file
	Read   int64 // bytes of a file that is read or searched; 10 MiB
	Image  int64 // bytes of a picture that is shown; 3 MiB

	Fetch     int64         // bytes of a web page; 5 MiB
	FetchTime time.Duration // of getting it, from the name to the last byte; 30 seconds

	Command sandbox.Limits // of the processes of a command; 4 GiB of memory, 1,024 processes, files of 4 GiB; below 0: none
}

// filled returns the limits with the defaults put in.
func (l Limits) filled() Limits {
	l.Time = cmp.Or(l.Time, 2*time.Minute)
	l.MaxTime = cmp.Or(l.MaxTime, 10*time.Minute)
	l.Output = cmp.Or(l.Output, 30_000)
	l.Shell = min(cmp.Or(l.Shell, 20_000), l.Output)
	l.Read = cmp.Or(l.Read, 10<<20)
	l.Image = cmp.Or(l.Image, 3<<20)
	l.Fetch = cmp.Or(l.Fetch, 5<<20)
	l.FetchTime = cmp.Or(l.FetchTime, 30*time.Second)
	return l
}

// ready fills in what was left open and returns the environment.
func (e *Env) ready() *Env {
	e.setup.Do(func() {
		e.Limits = e.Limits.filled()
		if e.Policy == nil {
			e.Policy = policy.Default(policy.Paths{Workspace: e.Workspace, Write: e.WriteDirs, Read: e.readable(), Home: e.home()})
		}
		e.base = resolved(e.Workspace)
		e.roots = folders(e.Workspace, e.WriteDirs, e.readable())
	})
	return e
}

// readable are the folders that may be read besides those that may be written: also that of long outputs.
func (e *Env) readable() []string {
	if e.OutputDir == "" {
		return e.ReadDirs
	}
	return append(slices.Clone(e.ReadDirs), e.OutputDir)
}

// home is the user's home; empty when it is not known.
func (e *Env) home() string { return variable(e.Environ, "HOME") }

// Builtin returns the tools of the suite that work in an environment: those of the shell and of files, and fetch_url.
func Builtin(e *Env) []Tool {
	e.ready()
	return append(shellTools(e), readFile(e), writeFile(e), editFile(e), listDir(e), searchFiles(e), fetchURL(e))
}

// NewSet puts the built-in tools and others together, with the mask and the bound of this environment for all of them.
func (e *Env) NewSet(others ...Tool) (*Set, error) {
	s, err := NewSet(append(Builtin(e), others...)...)
	if err != nil {
		return nil, err
	}
	s.Mask, s.Output = e.Mask, e.Limits.Output+e.Limits.Output/10 // the tools' own bounds leave room for what they say of it
	return s, nil
}
