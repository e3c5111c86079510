package settings

import "github.com/xrash/smetrics"

// Known returns the names of all settings of the suite, sorted: the flags of its commands and what has no
// flag. The suite's test compares it with the commands.
func Known() []string {
	return []string{
		"addr_file", "all", "allow_host", "allow_origin", "allow_private_addresses", "allow_read", "allow_write",
		"api_base", "api_key", "auth_token_file", "body", "browser", "capture_dir", "change_summary", "color",
		"command_rules", "config", "conversation", "created_by", "data", "direction", "dot", "dry_run", "embedding",
		"errors", "evolution", "exact", "explain", "format", "graph", "group", "home", "host_skill_dirs", "import",
		"insecure", "jobs", "json", "jsonl", "keep", "learn", "learn_from", "limit", "listen", "llm_api_base",
		"llm_api_key", "llm_config", "llm_extra_headers", "log_level", "max_bytes", "max_cost", "max_files",
		"max_iterations", "max_skills", "max_tasks", "max_tokens", "max_tools", "mcp_hosts", "min_score", "model",
		"no_discovery", "no_mcp", "no_recording", "no_refresh", "no_sidecar", "no_write_back", "older_than",
		"origin", "output_dir", "owner", "parent_ids", "pass_env", "phone", "plain", "policy", "prefix", "profile", "rate",
		"reason", "require_signature", "sandbox", "scope", "search_scope", "share", "sign_key", "signed_by",
		"skill_dirs", "source", "strict", "tags", "timeout", "tls_cert", "tls_key", "tools", "unlink", "verify",
		"visibility", "vision", "vision_model", "wait", "web_search", "web_search_key", "web_search_model", "web_search_url",
		"workspace_dir",
	}
}

// Nearest returns the word that was probably meant: the one with the fewest changed letters, at most a
// third of the longer word, rounded up. It is "" when none is near.
func Nearest(word string, among []string) string {
	best, res := 0, ""
	for _, w := range among {
		d := smetrics.WagnerFischer(word, w, 1, 1, 1)
		if d <= (max(len(word), len(w))+2)/3 && (res == "" || d < best) {
			best, res = d, w
		}
	}
	return res
}
