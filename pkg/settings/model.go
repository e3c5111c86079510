package settings

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// DefaultModel is asked when nobody names a model.
const DefaultModel = "openrouter/anthropic/claude-sonnet-4.5"

// ModelAccount is a chat model, where it is asked and with which key, and where each of these was found.
type ModelAccount struct {
	Model    Value  // as the user names it, with its provider
	Name     string // as the endpoint names it
	Provider string // "" for an endpoint that is not known
	Base     Value  // of an OpenAI-compatible endpoint
	Key      Value  // an empty Value means that there is none
	Headers  map[string]string
	Config   map[string]any // more fields of each request
	Timeout  time.Duration  // without a sign of life; 0: the default

	headers Value // where the headers come from
	own     bool  // the address is that of the provider whose variable has the key
	notes   []string
}

// Notes says what a user may not expect of the account, one sentence each.
func (a ModelAccount) Notes() []string {
	notes := slices.Clone(a.notes)
	if a.Key.Value != "" && !a.together() && a.Base.Source != Flag && a.Base.Source != Default {
		notes = append(notes, fmt.Sprintf("the key of %s goes to the model endpoint of %s: %s", a.Key.Place(), a.Base.Place(), Masked("base", a.Base.Value)))
	}
	if a.Key.Value != "" && strings.HasPrefix(strings.ToLower(a.Base.Value), "http://") && !loopback(a.Base.Value) {
		notes = append(notes, Masked("base", a.Base.Value)+" is not encrypted: others on the way can read the key and the tasks")
	}
	if a.Base.Project && !loopback(a.Base.Value) {
		notes = append(notes, fmt.Sprintf("tasks go to the model endpoint of %s: %s", a.Base.Place(), Masked("base", a.Base.Value)))
	}
	return notes
}

// Secrets returns the values that must be shown nowhere: the key and the values of headers.
func (a ModelAccount) Secrets() (out []string) {
	for _, v := range append(slices.Collect(maps.Values(a.Headers)), a.Key.Value) {
		if v != "" {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

func (a ModelAccount) together() bool {
	return a.Base.Source == a.Key.Source && a.Base.path == a.Key.path
}

// check refuses to send a user's key or headers where a project says.
func (a ModelAccount) check() error {
	if !a.Base.Project || loopback(a.Base.Value) {
		return nil
	}
	for _, secret := range []struct {
		what string
		v    Value
	}{{"key", a.Key}, {"headers", a.headers}} { // in this order, so that the same is said each time
		what, v := secret.what, secret.v
		if a.own && what == "key" {
			continue
		}
		if v.Value != "" && (v.Source != a.Base.Source || v.path != a.Base.path) {
			return fmt.Errorf("the model endpoint of %s would get the %s of %s: a folder must not direct a key that it does not have; "+
				"give the address with OPENSPACE_LLM_API_BASE in the environment, or put the key beside it", a.Base.Place(), what, v.Place())
		}
	}
	return nil
}

// Model finds the account for a model; "" is the one that the settings name. The key comes from the suite's
// own settings, else from the variables of the model's provider, else from a host agent; docs/models.md has
// the order. The error says what to set, or that key and address do not go together; no key may be sent then.
func (s *Settings) Model(name string) (a ModelAccount, err error) {
	own, err := s.ownModel()
	if err != nil {
		return a, err
	}
	a = ModelAccount{Model: s.askedModel(cmp.Or(name, own.model))}
	defer func() { a.Base.Name, a.Key.Name, a.Model.Name = "model_api_base", "model_api_key", "model" }()
	switch {
	case strings.HasPrefix(a.Model.Value, "ollama/"):
		s.ollama(&a, own)
	case own.key.Value != "" || own.base.Value != "":
		err = s.explicit(&a, own)
	default:
		err = s.found(&a)
	}
	if err != nil {
		return a, err
	}
	a.Headers, a.headers = own.overHeaders(a)
	a.Config, a.Timeout = overlaid(a.Config, own.config), own.timeout
	a.notes = append(a.notes, own.notes...)
	a.Base.Value, a.Key.Value = strings.TrimRight(strings.TrimSpace(a.Base.Value), "/"), strings.TrimSpace(a.Key.Value)
	return a, a.check()
}

// askedModel returns the model that was named.
func (s *Settings) askedModel(name string) Value {
	name = strings.TrimSpace(name)
	noted, has := s.Get("model")
	v, found := s.Lookup("model")
	switch {
	case has && noted.Value != "" && (name == "" || noted.Value == name):
		return noted
	case name != "" && (!found || v.Value != name):
		return Value{Name: "model", Value: name, Source: Flag}
	case found:
		v.Value = strings.TrimSpace(v.Value)
		return v
	}
	return Value{Name: "model", Source: Default}
}

// ownModel is what the suite's own settings say about models.
type ownModel struct {
	key, base Value
	model     string
	headers   map[string]string
	headersAt Value
	config    map[string]any
	timeout   time.Duration
	notes     []string
}

func (o ownModel) overHeaders(a ModelAccount) (map[string]string, Value) {
	if o.headers != nil {
		return o.headers, o.headersAt
	}
	return a.Headers, a.headers
}

// notFields are names in OPENSPACE_LLM_CONFIG that older configurations have for a client library; they are
// no fields of a request.
var notFields = []string{"api_version", "custom_llm_provider", "drop_params", "max_retries", "num_retries", "organization"}

func (s *Settings) ownModel() (o ownModel, err error) {
	o.key, _ = s.Lookup("llm_api_key")
	o.base, _ = s.Lookup("llm_api_base")
	o.headersAt, _ = s.Lookup("llm_extra_headers")
	if o.headers, err = headersOf(o.headersAt); err != nil {
		return o, err
	}
	v, _ := s.Lookup("llm_config")
	if o.config, err = objectOf(v); err != nil {
		return o, err
	}
	return o, o.takeConfig(v)
}

// maxTimeout bounds the seconds without a sign of life.
const maxTimeout = 86400

// takeConfig moves what is no field of a request to where it belongs.
func (o *ownModel) takeConfig(v Value) error {
	take := func(names ...string) (text string) {
		for _, name := range names {
			if t, ok := scalarText(o.config[name]); ok && t != "" {
				text = t
			}
			delete(o.config, name)
		}
		return text
	}
	if text := take("api_key"); text != "" {
		o.key = Value{Value: text, Source: v.Source, Where: v.Where + " api_key", Project: v.Project, path: v.path}
	}
	if text := take("api_base", "base_url"); text != "" {
		o.base = Value{Value: text, Source: v.Source, Where: v.Where + " api_base", Project: v.Project, path: v.path}
	}
	o.model = take("model")
	if text := take("request_timeout", "timeout"); text != "" {
		seconds, err := strconv.ParseFloat(text, 64)
		if !(err == nil && seconds > 0 && seconds <= maxTimeout) {
			return fmt.Errorf("%s: timeout: want a number of seconds from 0 to %d", v.Place(), maxTimeout)
		}
		o.timeout = time.Duration(seconds * float64(time.Second))
	}
	if raw, ok := o.config["extra_headers"]; ok {
		delete(o.config, "extra_headers")
		data, err := json.Marshal(raw)
		if err != nil {
			return err
		}
		at := v
		at.Value, at.Where = string(data), v.Where+" extra_headers"
		if o.headers, err = headersOf(at); err != nil {
			return err
		}
		o.headersAt = at
	}
	for _, name := range notFields {
		if _, ok := o.config[name]; ok {
			delete(o.config, name)
			o.notes = append(o.notes, fmt.Sprintf("%s in %s is no field of a request and is left out", name, v.Place()))
		}
	}
	return nil
}

// objectOf reads a JSON object in a setting. The error does not quote it.
func objectOf(v Value) (o map[string]any, err error) {
	if strings.TrimSpace(v.Value) == "" {
		return nil, nil
	}
	if json.Unmarshal([]byte(v.Value), &o) != nil || o == nil {
		return nil, fmt.Errorf("%s: want a JSON object as text", v.Place())
	}
	return o, nil
}

func headersOf(v Value) (map[string]string, error) {
	o, err := objectOf(v)
	if err != nil || o == nil {
		return nil, err
	}
	out := map[string]string{}
	for name, raw := range o {
		text, ok := scalarText(raw)
		if !ok {
			return nil, fmt.Errorf("%s: the value of header %q is no text", v.Place(), name)
		}
		out[name] = text
	}
	return out, nil
}

// overlaid returns a with the keys of b over it.
func overlaid(a, b map[string]any) map[string]any {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, b)
	return out
}

// ollamaBase is where Ollama listens unless told otherwise.
const ollamaBase = "http://127.0.0.1:11434"

// ollama is for models that run on this machine or one like it. No other provider's key goes there.
func (s *Settings) ollama(a *ModelAccount, own ownModel) {
	a.Provider, a.Name = "ollama", strings.TrimPrefix(a.Model.Value, "ollama/")
	a.Base, a.Key = s.variable("OLLAMA_API_BASE"), s.variable("OLLAMA_API_KEY")
	switch {
	case own.base.Value != "":
		if a.Base = own.base; own.key.Value != "" {
			a.Key = own.key
		}
	case a.Base.Value == "":
		a.Base = Value{Value: ollamaBase, Source: Default}
	}
}

// explicit is for an own key or address. A provider's key goes with an own address only to that provider.
func (s *Settings) explicit(a *ModelAccount, own ownModel) error {
	a.Key, a.Base = own.key, own.base
	if own.base.Value == "" {
		s.defaultModel(a)
		v, ok := vendorOf(a.Model.Value)
		if !ok {
			return fmt.Errorf("the key of %s is for no known endpoint: model %q does not tell which; set OPENSPACE_LLM_API_BASE", own.key.Place(), a.Model.Value)
		}
		a.Provider, a.Name, a.Base = v.name, v.strip(a.Model.Value), s.baseOf(v)
		return nil
	}
	v, known := vendorAt(own.base.Value)
	if a.Model.Value == "" && v.name != "openrouter" {
		return fmt.Errorf("no model is named for the endpoint of %s: set OPENSPACE_MODEL or give --model", own.base.Place())
	}
	s.defaultModel(a)
	if !known {
		a.Name = stripCompatible(a.Model.Value)
		return nil
	}
	a.Provider, a.Name = v.name, v.strip(a.Model.Value)
	if a.Key.Value == "" {
		if a.Key = s.keyOf(v); a.Key.Value == "" {
			return v.noKey(a.Model.Value)
		}
		a.own = true
	}
	return nil
}

func (s *Settings) defaultModel(a *ModelAccount) {
	if a.Model.Value == "" {
		a.Model = Value{Value: DefaultModel, Source: Default}
	}
}

// found looks for a key: the variables of the model's provider, a host agent, and when no model is named
// those of other providers.
func (s *Settings) found(a *ModelAccount) error {
	v, known := vendorOf(cmp.Or(a.Model.Value, DefaultModel))
	if key := s.keyOf(v); known && key.Value != "" {
		s.defaultModel(a)
		s.native(a, v, key)
		return nil
	}
	if _, used, p, ok := s.HostModel(a.Model.Value); ok {
		return s.hosted(a, used, p)
	}
	if a.Model.Value == "" {
		for _, other := range vendors {
			if key := s.keyOf(other); key.Value != "" && other.model != "" {
				a.Model = Value{Value: other.model, Source: Default}
				s.native(a, other, key)
				return nil
			}
		}
		s.defaultModel(a)
	}
	if !known {
		return fmt.Errorf("nothing tells where model %q is: set OPENSPACE_LLM_API_BASE and OPENSPACE_LLM_API_KEY, or name it with its provider, such as openrouter/%s",
			a.Model.Value, a.Model.Value)
	}
	err := v.noKey(a.Model.Value)
	for _, g := range vendors {
		if key := s.keyOf(g); g.gateway && key.Value != "" && g.name != v.name {
			err = fmt.Errorf("%w; or --model %s/%s, which %s is for", err, g.name, a.Model.Value, key.Where)
		}
	}
	return err
}

func (s *Settings) native(a *ModelAccount, v vendor, key Value) {
	a.Provider, a.Name, a.Key, a.Base = v.name, v.strip(a.Model.Value), key, s.baseOf(v)
}

// hosted takes what a host agent knows.
func (s *Settings) hosted(a *ModelAccount, used string, p Provider) error {
	if a.Model.Value == "" && used != "" {
		a.Model = Value{Value: used, Source: FromHost, Where: p.Key.Where}
	}
	v, known := vendorNamed(p.Name)
	if a.Model.Value == "" && known && v.model != "" {
		a.Model = Value{Value: v.model, Source: Default}
	}
	s.defaultModel(a)
	if p.Name == "" { // a key without a provider
		v, known = vendorOf(a.Model.Value)
	}
	a.Provider, a.Key, a.Base, a.Headers, a.Config = p.Name, p.Key, p.Base, p.Headers, p.Config
	a.headers = p.Key
	a.Name = a.Model.Value
	if known {
		a.Provider, a.Name = v.name, v.strip(a.Model.Value)
	} else {
		a.Name = strings.TrimPrefix(a.Model.Value, p.Name+"/")
	}
	if a.Base.Value == "" && known {
		a.Base = Value{Value: v.address(), Source: Default}
	}
	if a.Base.Value == "" {
		return fmt.Errorf("the provider %q of %s has a key and no address: give it one, or set OPENSPACE_LLM_API_BASE", p.Name, p.Key.Place())
	}
	if strays(p, v, known) {
		a.Key = Value{}
		a.notes = append(a.notes, fmt.Sprintf("the key of %s is not sent to %s, the endpoint of another: put OPENSPACE_LLM_API_KEY beside the address", p.Key.Place(), Masked("base", a.Base.Value)))
	}
	return nil
}

// strays tells whether a provider's key would go to an address that a host sets for the suite without a key
// for it.
func strays(p Provider, v vendor, known bool) bool {
	return strings.HasSuffix(p.Base.Where, EnvName("llm_api_base")) && !strings.HasSuffix(p.Key.Where, EnvName("llm_api_key")) &&
		!loopback(p.Base.Value) && !(known && sameHost(p.Base.Value, v.address()))
}

// variable returns a variable of another program, from the environment or .env.
func (s *Settings) variable(names ...string) Value {
	s.load()
	for _, name := range names {
		if v := strings.TrimSpace(s.env[name]); v != "" {
			return Value{Value: v, Source: Env, Where: name}
		}
	}
	for _, name := range names {
		if v := strings.TrimSpace(s.dotenv[name]); v != "" {
			return Value{Value: v, Source: DotEnv, Where: name, Project: true}
		}
	}
	return Value{}
}

func (v vendor) keyNames() []string {
	return append([]string{strings.ToUpper(v.name) + "_API_KEY"}, v.keys...)
}

func (s *Settings) keyOf(v vendor) Value {
	if v.name == "" {
		return Value{}
	}
	return s.variable(v.keyNames()...)
}

// baseOf returns the address of a provider, which a variable of its may change.
func (s *Settings) baseOf(v vendor) Value {
	if b := s.variable(append(slices.Clone(v.bases), strings.ToUpper(v.name)+"_API_BASE")...); b.Value != "" {
		return b
	}
	return Value{Value: v.address(), Source: Default}
}

func (v vendor) address() string { return cmp.Or(v.base, v.chat) }

// strip takes the provider's name off a model's name.
func (v vendor) strip(model string) string {
	if prefix, rest, ok := strings.Cut(model, "/"); ok && strings.EqualFold(prefix, v.name) {
		return rest
	}
	return model
}

// compatible are prefixes that say only that an endpoint is like OpenAI's. A model whose own name begins so
// has the prefix twice.
var compatible = []string{"openai/", "hosted_vllm/", "lm_studio/", "litellm_proxy/", "openai_like/"}

func stripCompatible(model string) string {
	for _, p := range compatible {
		if rest, ok := strings.CutPrefix(model, p); ok {
			return rest
		}
	}
	return model
}

// noKey is the error for a provider without a key.
func (v vendor) noKey(model string) error {
	return fmt.Errorf("no key for model %q: set %s, or OPENSPACE_LLM_API_KEY", model, strings.Join(v.keyNames(), " or "))
}

func vendorNamed(name string) (vendor, bool) {
	for _, v := range vendors {
		if v.name == name {
			return v, true
		}
	}
	return vendor{}, false
}

// vendorOf returns the provider of a model by the first part of its name, else by a whole word of it.
func vendorOf(model string) (vendor, bool) {
	model = strings.ToLower(model)
	prefix, _, _ := strings.Cut(model, "/")
	if v, ok := vendorNamed(prefix); ok {
		return v, true
	}
	words := strings.FieldsFunc(model, func(r rune) bool { return !unicode.IsLetter(r) })
	for _, v := range vendors {
		if slices.ContainsFunc(v.words, func(w string) bool { return slices.Contains(words, w) }) {
			return v, true
		}
	}
	return vendor{}, false
}

// vendorAt returns the provider of an address.
func vendorAt(base string) (vendor, bool) {
	for _, v := range vendors {
		if sameHost(base, v.address()) {
			return v, true
		}
	}
	return vendor{}, false
}

func sameHost(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Host != "" && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}
