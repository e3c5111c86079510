package cli

import "runtime/debug"

// version may be set when the program is linked: -ldflags "-X …/pkg/cli.version=v1.2.3".
var version string

// Version returns the version of the program: set at link time, else that of the main module, else the
// commit it was built from.
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}
