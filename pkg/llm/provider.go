package llm

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// provider is what one endpoint wants otherwise than others. Differences are rows here and not branches
// elsewhere; docs/models.md shows the table.
type provider struct {
	name     string
	hosts    []string // or ends of hosts
	maxField string   // how a limit of output tokens is called
	usage    bool     // stream_options.include_usage must be sent to get usage
	echo     []string // fields of its answers that go back with the message, all that are there
	noImages bool
	billed   bool // usage.cost is in US dollars
	cache    bool // cache marks for models of Anthropic
	local    bool // costs nothing
}

const (
	oldMax = "max_tokens"
	newMax = "max_completion_tokens"
)

// reasoning are the fields in which endpoints send what a model thought. They are kept with a message
// wherever they occur.
var reasoning = []string{"reasoning_content", "reasoning_details", "reasoning", "thinking_blocks", "extra_content"}

var providers = []provider{
	{name: "openai", hosts: []string{"api.openai.com"}, maxField: newMax, usage: true},
	{name: "openrouter", hosts: []string{"openrouter.ai"}, maxField: oldMax, echo: []string{"reasoning_details"}, billed: true, cache: true},
	{name: "anthropic", hosts: []string{"api.anthropic.com"}, maxField: oldMax, usage: true},
	{name: "gemini", hosts: []string{"generativelanguage.googleapis.com"}, maxField: oldMax, usage: true, echo: []string{"extra_content"}},
	{name: "deepseek", hosts: []string{"api.deepseek.com"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "moonshot", hosts: []string{"api.moonshot.ai", "api.moonshot.cn"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "minimax", hosts: []string{"api.minimax.io", "api.minimaxi.com"}, maxField: newMax, usage: true, echo: []string{"reasoning_details", "reasoning_content"}},
	{name: "zhipu", hosts: []string{"open.bigmodel.cn", "api.z.ai"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "dashscope", hosts: []string{"aliyuncs.com"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "volcengine", hosts: []string{"volces.com"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "siliconflow", hosts: []string{"api.siliconflow.cn", "api.siliconflow.com"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "aihubmix", hosts: []string{"aihubmix.com"}, maxField: oldMax, usage: true, echo: []string{"reasoning_content"}},
	{name: "groq", hosts: []string{"api.groq.com"}, maxField: newMax, usage: true, noImages: true},
}

// unknown is any other endpoint: a gateway, vLLM, LM Studio, Ollama. What it sent back as reasoning it also
// takes back, mostly.
var unknown = provider{maxField: oldMax, usage: true, echo: []string{"reasoning_content", "reasoning_details"}}

// providerAt returns the row of the host of an address.
func providerAt(base *url.URL) provider {
	host := strings.ToLower(base.Hostname())
	for _, p := range providers {
		if slices.ContainsFunc(p.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) }) {
			return p
		}
	}
	p := unknown
	p.local = onThisMachine(host)
	return p
}

// onThisMachine tells whether a host name is this machine.
func onThisMachine(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// family is what models want wherever they run, by words of their names.
type family struct {
	words     []string
	oneSystem bool // one system message, first; what comes later is said as the user
}

var families = []family{
	{words: []string{"minimax"}, oneSystem: true},
}

// familyOf returns what a model wants.
func familyOf(model string) family {
	model = strings.ToLower(model)
	for _, f := range families {
		if slices.ContainsFunc(f.words, func(w string) bool { return strings.Contains(model, w) }) {
			return f
		}
	}
	return family{}
}
