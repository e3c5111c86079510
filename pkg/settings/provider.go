package settings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Provider is what a host knows about one provider of models.
type Provider struct {
	Name    string
	Key     Value
	Base    Value             // of the host, else the provider's usual one; may be empty
	Headers map[string]string // to be sent along
	Config  map[string]any    // what else is asked of the endpoint
}

// providers are those of a host, by name, and which model it uses.
type providers struct {
	all    map[string]Provider
	model  string // the host's own
	forced string // the only provider that counts; "" for none
	own    Provider
}

// vendor is a provider that is known by name. The order decides which one wins.
type vendor struct {
	name, base string
	words      []string // of model names
	gateway    bool     // it has the models of others
	keys       []string // variables, beside the usual one
	bases      []string
	chat       string // address of its OpenAI-compatible endpoint, where base does not say it
	model      string // what is taken when nobody names a model and only this provider has a key
}

var vendors = []vendor{
	{name: "openrouter", base: "https://openrouter.ai/api/v1", words: []string{"openrouter"}, gateway: true, keys: []string{"OR_API_KEY"}, model: DefaultModel},
	{name: "aihubmix", base: "https://aihubmix.com/v1", words: []string{"aihubmix"}, gateway: true},
	{name: "siliconflow", base: "https://api.siliconflow.cn/v1", words: []string{"siliconflow"}, gateway: true},
	{name: "volcengine", base: "https://ark.cn-beijing.volces.com/api/v3", words: []string{"volcengine", "volces", "ark"}, keys: []string{"ARK_API_KEY"}, bases: []string{"ARK_API_BASE"}},
	{name: "anthropic", words: []string{"anthropic", "claude"}, chat: "https://api.anthropic.com/v1", model: "anthropic/claude-sonnet-4-5"},
	{name: "openai", words: []string{"openai", "gpt"}, bases: []string{"OPENAI_BASE_URL"}, chat: "https://api.openai.com/v1", model: "openai/gpt-5"},
	{name: "deepseek", words: []string{"deepseek"}, chat: "https://api.deepseek.com/v1", model: "deepseek/deepseek-v4-flash"},
	{name: "gemini", words: []string{"gemini"}, keys: []string{"GOOGLE_API_KEY"}, bases: []string{"GOOGLE_API_BASE"}, chat: "https://generativelanguage.googleapis.com/v1beta/openai", model: "gemini/gemini-2.5-pro"},
	{name: "zhipu", words: []string{"zhipu", "glm", "zai"}, chat: "https://open.bigmodel.cn/api/paas/v4"},
	{name: "dashscope", words: []string{"qwen", "dashscope"}, chat: "https://dashscope.aliyuncs.com/compatible-mode/v1"},
	{name: "moonshot", base: "https://api.moonshot.ai/v1", words: []string{"moonshot", "kimi"}},
	{name: "minimax", base: "https://api.minimaxi.com/v1", words: []string{"minimax"}},
	{name: "groq", words: []string{"groq"}, chat: "https://api.groq.com/openai/v1"},
	{name: "mistral", words: []string{"mistral"}, chat: "https://api.mistral.ai/v1"},
	{name: "xai", words: []string{"xai", "grok"}, chat: "https://api.x.ai/v1"},
}

// HostModel returns the first host that knows a key for a model; an empty model is the host's own. The provider's name is "" when the host says nothing
// but a key.
func (s *Settings) HostModel(model string) (host, used string, p Provider, ok bool) {
	s.asked.Store(true)
	for _, h := range s.Hosts() {
		used = model
		if used == "" {
			used = h.providers.model
		}
		if p, ok = h.providers.match(used); ok {
			return h.Name, used, p, true
		}
	}
	return "", model, Provider{}, false
}

// match chooses the provider for a model.
func (ps providers) match(model string) (Provider, bool) {
	p, ok := ps.choose(model)
	if ps.own.Key.Value != "" {
		p.Key, ok = ps.own.Key, true
	}
	if ps.own.Base.Value != "" {
		p.Base = ps.own.Base
	}
	if ps.own.Headers != nil {
		p.Headers = ps.own.Headers
	}
	p.Config = ps.own.Config
	return p, ok
}

func (ps providers) choose(model string) (Provider, bool) {
	if ps.forced != "" {
		p := ps.all[ps.forced]
		return p, p.Key.Value != ""
	}
	var names []string
	prefix, _, _ := strings.Cut(strings.ToLower(model), "/")
	names = append(names, prefix)
	words := strings.FieldsFunc(strings.ToLower(model), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, v := range vendors {
		if slices.ContainsFunc(v.words, func(w string) bool { return slices.Contains(words, w) }) {
			names = append(names, v.name)
		}
	}
	for _, v := range vendors {
		if v.gateway {
			names = append(names, v.name)
		}
	}
	for _, name := range names {
		if p := ps.all[name]; p.Key.Value != "" {
			return p, true
		}
	}
	return Provider{}, false
}

// usualBase returns the base of a provider that needs none to be said.
func usualBase(name string) Value {
	for _, v := range vendors {
		if v.name == name && v.base != "" {
			return Value{Value: v.base, Source: Default}
		}
	}
	return Value{}
}

// oneOf returns the first of several names under which a value stands.
func (r *hostReader) oneOf(p place, o object, names ...string) (v Value) {
	for _, name := range names {
		if o[name] == nil {
			continue
		}
		if found, ok := r.value(p, name, o[name]); ok {
			return found
		}
	}
	return v
}

// nanobotProviders reads the block providers.
func (r *hostReader) nanobotProviders(p place, doc object) {
	r.problems = &r.host.ModelProblems
	ps := providers{all: map[string]Provider{}}
	defaults := at(doc, "agents", "defaults")
	where := p.below("agents", "defaults")
	ps.model = r.oneOf(where, defaults, "model").Value
	if ps.forced = r.oneOf(where, defaults, "provider").Value; ps.forced == "auto" {
		ps.forced = ""
	}
	r.providerBlock(&ps, p.below("providers"), at(doc, "providers"), []string{"apiBase", "api_base"})
	r.host.providers = ps
}

// providerBlock reads a block of providers by name.
func (r *hostReader) providerBlock(ps *providers, p place, block object, bases []string) {
	for _, name := range slices.Sorted(maps.Keys(block)) {
		entry, _ := block[name].(object)
		where := p.below(name)
		found := Provider{Name: name, Key: r.oneOf(where, entry, "apiKey", "api_key"), Base: r.oneOf(where, entry, bases...)}
		if found.Base.Value == "" {
			found.Base = usualBase(name)
		}
		for _, key := range []string{"extraHeaders", "extra_headers"} {
			for header, raw := range at(entry, key) {
				if v, ok := r.value(where.below(key), header, raw); ok {
					found.Headers = merge(found.Headers, header, v.Value)
				}
			}
		}
		if has, known := ps.all[name]; !known || has.Key.Value == "" {
			ps.all[name] = found
		}
	}
}

func merge(headers map[string]string, name, value string) map[string]string {
	if headers == nil {
		headers = map[string]string{}
	}
	headers[name] = value
	return headers
}

// textObject returns the JSON object in a value; nil, with a problem that does not quote it, when it is none.
func (r *hostReader) textObject(v Value) (o object) {
	if v.Value != "" && (json.Unmarshal([]byte(v.Value), &o) != nil || o == nil) {
		r.problem(Problem{Path: v.path, Message: strings.TrimPrefix(v.Where, r.host.Name+" "+v.path+" ") + ": want a JSON object as text"})
		return nil
	}
	return o
}

// openclawProviders reads the variables that openclaw gives to what it starts, and its own providers.
func (r *hostReader) openclawProviders(p place, doc object) {
	r.problems = &r.host.ModelProblems
	ps := providers{all: map[string]Provider{}}
	blocks := []struct {
		where place
		env   object
	}{
		{p.below("skills", "entries", serverName, "env"), at(doc, "skills", "entries", serverName, "env")},
		{p.below("env", "vars"), at(doc, "env", "vars")},
		{p.below("env"), at(doc, "env")},
	}
	find := func(names ...string) (v Value) {
		for _, b := range blocks {
			if v = r.oneOf(b.where, b.env, names...); v.Value != "" {
				return v
			}
		}
		return v
	}
	for _, v := range vendors {
		usual := strings.ToUpper(v.name)
		found := Provider{Name: v.name, Key: find(append([]string{usual + "_API_KEY"}, v.keys...)...), Base: find(append(slices.Clone(v.bases), usual+"_API_BASE")...)}
		if found.Base.Value == "" {
			found.Base = usualBase(v.name)
		}
		ps.all[v.name] = found
	}
	r.providerBlock(&ps, p.below("models", "providers"), at(doc, "models", "providers"), []string{"baseUrl"})
	ps.own = Provider{Key: find("OPENSPACE_LLM_API_KEY"), Base: find("OPENSPACE_LLM_API_BASE")}
	ps.own.Config = r.textObject(find("OPENSPACE_LLM_CONFIG"))
	for name, raw := range r.textObject(find("OPENSPACE_LLM_EXTRA_HEADERS")) {
		if text, ok := scalarText(raw); ok {
			ps.own.Headers = merge(ps.own.Headers, name, text)
		}
	}
	ps.model = r.openclawModel(p, doc)
	r.host.providers = ps
}

// openclawModel returns the model of openclaw's agents, a text or an object with the first choice.
func (r *hostReader) openclawModel(p place, doc object) string {
	defaults := at(doc, "agents", "defaults")
	if model := at(defaults, "model"); model != nil {
		return r.oneOf(p.below("agents", "defaults", "model"), model, "primary").Value
	}
	return r.oneOf(p.below("agents", "defaults"), defaults, "model").Value
}
