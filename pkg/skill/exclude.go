package skill

import "strings"

// Reasons why something in a skill folder does not belong to the skill.
const (
	ReasonVCS          = "version-control" // .git, .hg, …
	ReasonEnv          = "env-file"        // .env and its like, but not .env.example
	ReasonSecret       = "secret"          // private keys, credentials
	ReasonCache        = "cache"           // caches, installed packages, compiled files
	ReasonSidecar      = "sidecar"         // what the suite itself keeps in the folder
	ReasonEditor       = "editor"          // files of editors and operating systems
	ReasonGitIgnored   = "git-ignored"     // git would ignore it
	ReasonSkillIgnored = "skill-ignored"   // a .skillignore names it
	ReasonLinkOutside  = "link-outside"    // a link whose target lies outside the folder
	ReasonLinkDangling = "link-dangling"   // a link to nothing, or to itself
	ReasonLinkLoop     = "link-loop"       // a link to a folder that it lies in
	ReasonSpecial      = "special-file"    // a pipe, socket or device
	ReasonUnreadable   = "unreadable"      // no permission, or an I/O error
	ReasonName         = "name-not-utf8"   // a file name that is not UTF-8
	ReasonTooDeep      = "too-deep"        // below more than 32 folders
	ReasonTooMany      = "too-many"        // after 20,000 files
)

// excluded says why a file or folder of this name never belongs to a skill, or
// "". No ignore file can take it back in. Letter case does not matter.
func excluded(name string, dir bool) string {
	name = strings.ToLower(name)
	switch {
	case name == IDFile, name == MetaFile, strings.HasPrefix(name, ".os-"):
		return ReasonSidecar
	case isVCS(name):
		return ReasonVCS
	case isEnv(name):
		return ReasonEnv
	case isSecret(name):
		return ReasonSecret
	case isCache(name, dir):
		return ReasonCache
	case isEditor(name):
		return ReasonEditor
	}
	return ""
}

func isVCS(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", ".bzr", "cvs", "_darcs", ".jj":
		return true
	}
	return false
}

func isEnv(name string) bool {
	switch name {
	case ".env.example", ".env.sample", ".env.template", ".env.dist":
		return false
	}
	return strings.HasPrefix(name, ".env")
}

func isSecret(name string) bool {
	switch name {
	case ".ssh", ".aws", ".gnupg", ".azure", ".gcloud", ".kube", ".docker",
		".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".yarnrc.yml",
		"credentials", "credentials.json", "credentials.yaml", "credentials.yml", "credentials.toml", "credentials.ini",
		"credentials.csv", "credentials.xml", "credentials.txt", "credentials.db", ".credentials", ".credentials.json",
		"secrets.json", "secrets.yaml", "secrets.yml", "secrets.toml", "secrets.ini", ".secrets",
		"service-account.json", "service_account.json", "token.json", ".vault-token":
		return true
	}
	return hasAnyPrefix(name, "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "client_secret") ||
		hasAnySuffix(name, ".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx")
}

func isCache(name string, dir bool) bool {
	switch name {
	case "__pycache__", "node_modules", ".venv", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".cache",
		".tox", ".nox", ".ipynb_checkpoints", ".eggs", ".npm", ".parcel-cache", ".turbo", ".gradle", "bower_components":
		return true
	case "venv":
		return dir
	}
	return hasAnySuffix(name, ".pyc", ".pyo") || dir && hasAnySuffix(name, ".dist-info", ".egg-info")
}

func isEditor(name string) bool {
	switch name {
	case ".ds_store", "thumbs.db", "desktop.ini", "__macosx", ".idea", ".vscode", ".vs", ".history",
		".spotlight-v100", ".trashes", ".fseventsd", ".directory":
		return true
	}
	return hasAnyPrefix(name, "._", ".#") || hasAnySuffix(name, ".swp", ".swo", "~") ||
		len(name) > 2 && name[0] == '#' && name[len(name)-1] == '#'
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, p := range suffixes {
		if strings.HasSuffix(s, p) {
			return true
		}
	}
	return false
}
