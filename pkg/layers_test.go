package pkg_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/openspace-dev/openspace/"

// below lists for each package the packages of ours that it may import.
var below = map[string][]string{
	"pkg":            {},
	"pkg/jsonl":      {},
	"pkg/atomicfile": {},
	"pkg/ignore":     {},
	"pkg/skill":      {"ignore"},
	"pkg/lexical":    {},
	"pkg/vec":        {},
	"pkg/patch":      {},
	"pkg/embed":      {"lexical", "vec", "atomicfile"},
	"pkg/api":        {"skill"},
	"pkg/cloud":      {"api", "skill", "wire"},
	"pkg/transfer":   {"skill", "store", "safety", "cloud", "api", "wire", "atomicfile"},
	"pkg/journal":    {"atomicfile"},
	"pkg/wire":       {"skill"},
	"pkg/settings":   {"atomicfile"},
	"pkg/safety":     {"skill", "atomicfile"},
	"pkg/similar":    {"skill"},
	"pkg/store":      {"skill", "atomicfile", "jsonl"},
	"pkg/evolve":     {"llm", "review", "patch", "similar", "store", "skill", "safety", "wire", "atomicfile", "recording", "sandbox", "scratch"},
	"pkg/review":     {"store", "skill", "wire", "atomicfile"},
	"pkg/roots":      {"skill"},
	"pkg/index":      {"lexical", "atomicfile", "roots", "skill", "vec"},
	"pkg/search":     {"skill", "store", "roots", "index", "embed", "safety", "wire", "lexical"},
	"pkg/registry":   {"api", "journal", "skill", "index", "lexical", "safety", "atomicfile", "jsonl", "wire"},
	"pkg/lifeline":   {},
	"pkg/pipe":       {"jsonl", "lifeline", "wire"},
	"pkg/llm":        {"jsonl"},
	"pkg/policy":     {},
	"pkg/sandbox":    {},
	"pkg/browser":    {},
	"pkg/tools":      {"browser", "policy", "sandbox", "scratch", "wire", "atomicfile", "ignore"},
	"pkg/mcpclient":  {"tools", "wire", "atomicfile"},
	"pkg/toolsearch": {"lexical", "embed"},
	"pkg/recording":  {"jsonl", "atomicfile"},
	"pkg/agent":      {"llm", "tools", "recording", "wire"},
	"pkg/task":       {"agent", "embed", "llm", "mcpclient", "toolsearch", "pipe", "policy", "recording", "safety", "sandbox", "skill", "store", "tools", "wire"},
	"pkg/scratch":    {},
	"pkg/hosts":      {"settings", "atomicfile"},
	"pkg/mcpserver":  {"pipe", "wire", "settings", "jsonl"},
	"pkg/gateway":    {"atomicfile", "journal", "jsonl", "pipe", "settings", "wire"},
	"pkg/cli":        {"jsonl", "lifeline", "wire", "settings"},
	"cmd":            {},

	"pkg/gateway/rest":                       {"gateway"},                         // what channels over HTTP share
	"pkg/gateway/gatewaytest":                {"gateway"},                         // what channels must do
	"pkg/gateway/feishu":                     {"gateway", "gateway/rest", "wire"}, // a channel
	"pkg/gateway/feishu/feishutest":          {"gateway/feishu", "gateway/gatewaytest"},
	"pkg/gateway/slack":                      {"gateway", "gateway/rest", "wire"}, // a channel
	"pkg/gateway/slack/slacktest":            {"gateway/gatewaytest"},
	"pkg/gateway/telegram":                   {"gateway", "gateway/rest", "wire"}, // a channel
	"pkg/gateway/telegram/telegramtest":      {"gateway/gatewaytest"},
	"pkg/gateway/whatsapp":                   {"gateway", "gateway/rest", "wire"}, // a channel
	"pkg/gateway/whatsapp/whatsapptest":      {"gateway/whatsapp", "gateway/gatewaytest"},
	"pkg/gateway/whatsapp/linked":            {"gateway", "gateway/whatsapp", "wire"},                      // the other transport of that channel
	"pkg/gateway/whatsapp/web":               {"gateway", "gateway/whatsapp/linked", "atomicfile", "wire"}, // its way to the servers
	"pkg/gateway/whatsapp/linked/linkedtest": {"gateway", "gateway/whatsapp/linked", "gateway/gatewaytest"},

	"pkg/skill/skilltest":       {},           // the real skills of the test data
	"pkg/registry/registrytest": {"registry"}, // what storages must do
	"pkg/llm/llmtest":           {},           // a scripted model over HTTP
	"pkg/embed/openai":          {"embed"},    // an endpoint as an embedder
	"pkg/embed/embedtest":       {"embed"},    // what embedders must do
}

// only lists modules that a single package may import, so that they stay replaceable.
var only = map[string]string{
	"github.com/urfave/cli/v2":                                  "pkg/cli",
	"github.com/joho/godotenv":                                  "pkg/settings",
	"github.com/titanous/json5":                                 "pkg/settings",
	"github.com/BurntSushi/toml":                                "pkg/settings",
	"github.com/mattn/go-runewidth":                             "pkg/cli",
	"github.com/google/renameio/v2":                             "pkg/atomicfile",
	"github.com/gofrs/flock":                                    "pkg/atomicfile",
	"github.com/kljensen/snowball":                              "pkg/lexical",
	"github.com/viterin/vek":                                    "pkg/vec",
	"go.yaml.in/yaml/v3":                                        "pkg/skill",
	"github.com/mark3labs/mcp-go/server":                        "pkg/mcpserver",
	"github.com/openai/openai-go/v3":                            "pkg/llm",
	"github.com/cpuguy83/go-md2man/v2/md2man":                   "scripts/gen",
	"codeberg.org/readeck/go-readability/v2":                    "pkg/tools",
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter": "pkg/tools",

	"go.mau.fi/whatsmeow":                          "pkg/gateway/whatsapp/web",
	"go.mau.fi/whatsmeow/types":                    "pkg/gateway/whatsapp/web",
	"go.mau.fi/whatsmeow/types/events":             "pkg/gateway/whatsapp/web",
	"go.mau.fi/whatsmeow/proto/waE2E":              "pkg/gateway/whatsapp/web",
	"go.mau.fi/whatsmeow/store":                    "pkg/gateway/whatsapp/web",
	"go.mau.fi/whatsmeow/store/sqlstore":           "pkg/gateway/whatsapp/web",
	"modernc.org/sqlite":                           "pkg/gateway/whatsapp/web",
	"rsc.io/qr":                                    "cmd/openspace-gateway",
	"mvdan.cc/sh/v3/syntax":                        "pkg/policy",
	"mvdan.cc/sh/v3/expand":                        "pkg/policy",
	"github.com/landlock-lsm/go-landlock/landlock": "pkg/sandbox",
}

type listed struct {
	ImportPath string
	Imports    []string
	CgoFiles   []string
}

// list returns every package of the module.
func list(t *testing.T) map[string]listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,CgoFiles", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	res := map[string]listed{}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p listed
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		res[strings.TrimPrefix(p.ImportPath, module)] = p
	}
	return res
}

func TestLayers(t *testing.T) {
	packages := list(t)
	for name := range below {
		if _, ok := packages[name]; !ok {
			t.Errorf("package %s is in the map and not in the tree", name)
		}
	}
	for name, p := range packages {
		allowed, ok := below[name]
		switch {
		case strings.HasPrefix(name, "cmd/"), strings.HasPrefix(name, "scripts/"):
			continue // commands may use everything below them
		case !ok:
			t.Errorf("package %s is not in the map: add it here and in doc.go", name)
		}
		for _, imported := range p.Imports {
			if ours, ok := strings.CutPrefix(imported, module+"pkg/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s must not import %s", name, ours)
			}
			if strings.HasPrefix(imported, module+"cmd") {
				t.Errorf("%s must not import %s", name, imported)
			}
		}
	}
}

func TestModulesStayInOnePackage(t *testing.T) {
	for name, p := range list(t) {
		for _, imported := range p.Imports {
			if owner, ok := only[imported]; ok && owner != name {
				t.Errorf("%s must not import %s: it belongs to %s", name, imported, owner)
			}
		}
	}
}

func TestNoCgo(t *testing.T) {
	for name, p := range list(t) {
		if len(p.CgoFiles) > 0 || slices.Contains(p.Imports, "C") {
			t.Errorf("%s uses cgo", name)
		}
	}
}
