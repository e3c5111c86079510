package tools

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// passed are the variables that commands get of the parent. What is not on the list stays away: keys and tokens stand
// in variables whose names nobody can list.
var passed = []string{"PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "SHELL", "SYSTEMROOT", "COMSPEC", "PATHEXT", "WINDIR",
	"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "GIT_SSL_CAINFO", "PIP_CERT",
	"PIP_INDEX_URL", "UV_INDEX_URL", "GOPROXY", "GONOSUMDB", "GOSUMDB", "GOROOT", "GOTOOLCHAIN", "NPM_CONFIG_REGISTRY", "npm_config_registry",
	"JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_ROOT", "PYENV_VERSION", "RBENV_ROOT", "NVM_DIR", "RUSTUP_HOME", "SDKMAN_DIR",
	"LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CC", "CXX", "SOURCE_DATE_EPOCH"}

// fixed are set for every command: nothing waits for a person, and nothing is coloured. Git fails where it would open an
// editor or ask for a password; it is never told to go on without, which would change history.
var fixed = []string{"TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat", "MANPAGER=cat", "SYSTEMD_PAGER=cat", "LESS=-FRX",
	"EDITOR=false", "VISUAL=false", "GIT_EDITOR=false", "GIT_SEQUENCE_EDITOR=false", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=false", "SSH_ASKPASS=false",
	"GCM_INTERACTIVE=never", "DEBIAN_FRONTEND=noninteractive", "PYTHONUNBUFFERED=1", "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_INPUT=1",
	"NPM_CONFIG_UPDATE_NOTIFIER=false", "NPM_CONFIG_FUND=false", "NPM_CONFIG_YES=true", "HOMEBREW_NO_AUTO_UPDATE=1", "GOFLAGS=-modcacherw", "TAR_OPTIONS=--no-same-owner"}

// toolRoots are the folders in which managers of programming languages look for what they installed, by the variable that
// names them. They are below the user's home, and commands have another one.
var toolRoots = map[string]string{"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "RBENV_ROOT": ".rbenv", "NODENV_ROOT": ".nodenv", "GOENV_ROOT": ".goenv",
	"NVM_DIR": ".nvm", "VOLTA_HOME": ".volta", "ASDF_DATA_DIR": ".asdf", "SDKMAN_DIR": ".sdkman", "DOTNET_ROOT": ".dotnet", "MISE_DATA_DIR": ".local/share/mise",
	"UV_PYTHON_INSTALL_DIR": ".local/share/uv/python"}

// childEnviron returns the environment of a command: what is passed of the parent's, with the locale, what the user
// named, what is fixed, and a home and a folder for temporary files of the task's own.
func childEnviron(e *Env, home, tmp string) []string {
	vars := map[string]string{}
	for _, v := range e.Environ {
		name, value, ok := strings.Cut(v, "=")
		if ok && (slices.Contains(passed, name) || strings.HasPrefix(name, "LC_")) {
			vars[name] = value
		}
	}
	for name, dir := range toolRoots {
		path := filepath.Join(e.home(), dir)
		if _, err := os.Stat(path); err == nil && vars[name] == "" && e.home() != "" {
			vars[name] = path
		}
	}
	if vars["LANG"] == "" && vars["LC_ALL"] == "" {
		vars["LANG"] = "C.UTF-8"
	}
	for _, v := range append(slices.Clone(fixed), "HOME="+home, "TMPDIR="+tmp, "TMP="+tmp, "TEMP="+tmp,
		"XDG_CACHE_HOME="+filepath.Join(home, ".cache"), "PWD="+e.Workspace) {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	for _, v := range e.Environ { // last: the user's word counts
		if name, value, ok := strings.Cut(v, "="); ok && slices.Contains(e.PassEnv, name) {
			vars[name] = value
		}
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}
