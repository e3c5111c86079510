package main

import (
	"flag"
	"os"
	"strings"

	"github.com/openspace-dev/openspace/pkg/browser"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/sandbox"
	"github.com/openspace-dev/openspace/pkg/task"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	auto = "auto"
	off  = "off"
)

// webOptions are the flags about the web and about pictures.
type webOptions struct {
	search                             *string
	address, searchModel, browser, eye string
	vision                             *string
}

func (o *webOptions) flags(fs *flag.FlagSet) {
	o.search = cli.Choice(fs, "web-search", "let tasks search the web: `WHO` is auto (whoever a key or an address is set for), brave, tavily, searxng, model or off",
		append([]string{auto, off}, tools.SearchProviders()...)...)
	fs.StringVar(&o.address, "web-search-url", "", "search the web at `ADDRESS`: that of SearXNG, or of another one that answers as the provider does")
	fs.StringVar(&o.searchModel, "web-search-model", "", "search the web by asking `PROVIDER/NAME`, a model that searches by itself")
	fs.StringVar(&o.browser, "browser", auto, "let tasks use a browser: `WHICH` is auto (an installed Chromium), its name or path, or off")
	o.vision = cli.Choice(fs, "vision", "show pictures to the model: `WHEN` is auto (when it is known to see), on or off", auto, "on", off)
	fs.StringVar(&o.eye, "vision-model", "", "let `PROVIDER/NAME` describe pictures to a model that does not see")
}

// models are those beside the model of tasks.
func (o *webOptions) models() (names []string) {
	if o.searchModel != "" && (*o.search == auto || *o.search == "model") {
		names = append(names, o.searchModel)
	}
	if o.eye != "" && *o.vision != off {
		names = append(names, o.eye)
	}
	return names
}

// web says what tasks have of the web. A run that is to be repeated elsewhere has only what was asked for by name: what is installed or
// set up differs from machine to machine, and the model would be told of other tools.
func (o *webOptions) web(env *cli.Env, repeatable bool) (w task.Web, err error) {
	w = task.Web{SearchModel: o.searchModel, Sees: *o.vision, Eyes: o.eye}
	if *o.search != off && !(repeatable && *o.search == auto) {
		if w.Search, err = o.provider(env); err != nil {
			return w, err
		}
	}
	path := env.Settings.Getenv("PATH")
	switch o.browser {
	case off:
	case auto, "":
		if !repeatable && !o.exposed(env) {
			w.Browser = browser.Find(path)
		}
	default:
		if w.Browser, err = browser.Named(o.browser, path); err != nil {
			return w, wire.Errorf(wire.Usage, "--browser: %w", err)
		}
	}
	return w, nil
}

// exposed tells that a browser would run as root with nothing around it: neither its own sandbox, which it refuses to make for root, nor ours.
func (o *webOptions) exposed(env *cli.Env) bool {
	v, _ := env.Settings.Get("sandbox")
	return os.Getuid() == 0 && v.Value == string(sandbox.Off)
}

// keyVariables are where the key of a provider is looked for when there is no OPENSPACE_WEB_SEARCH_KEY. Only the environment counts, not a .env.
var keyVariables = map[string][]string{"brave": {"BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"}, "tavily": {"TAVILY_API_KEY"}}

// provider finds out who searches the web; nil when nobody is set up.
func (o *webOptions) provider(env *cli.Env) (*tools.Search, error) {
	s := &tools.Search{Provider: *o.search, Base: o.address, Key: webSearchKey(env)}
	if s.Provider == auto {
		if s.Provider = o.first(env); s.Provider == "" && s.Key == "" && s.Base == "" {
			return nil, nil
		}
		if s.Provider == "" {
			return nil, wire.Errorf(wire.Usage, "a key or an address for web searches is set, but not whose: set web_search to one of %s", strings.Join(tools.SearchProviders(), ", "))
		}
	}
	for _, name := range keyVariables[s.Provider] {
		if v := environ(env, name); s.Key == "" {
			s.Key = v
		}
	}
	if s.Provider == "searxng" && s.Base == "" {
		s.Base = environ(env, "SEARXNG_URL")
	}
	if s.Provider == "model" {
		if o.searchModel == "" {
			return nil, wire.Errorf(wire.Usage, "web search with a model: set web_search_model to its name")
		}
		return s, nil
	}
	if err := s.Check(); err != nil {
		return nil, wire.Errorf(wire.Usage, "%w", err)
	}
	return s, nil
}

// first is the first provider for which something is set up.
func (o *webOptions) first(env *cli.Env) string {
	for _, name := range []string{"brave", "tavily"} {
		for _, variable := range keyVariables[name] {
			if environ(env, variable) != "" {
				return name
			}
		}
	}
	switch {
	case environ(env, "SEARXNG_URL") != "":
		return "searxng"
	case o.searchModel != "":
		return "model"
	}
	return ""
}

// webSearchKey is the setting that has no flag.
func webSearchKey(env *cli.Env) string {
	v, _ := env.Settings.Lookup("web_search_key")
	return strings.TrimSpace(v.Value)
}

// environ returns a variable of the process.
func environ(env *cli.Env, name string) string {
	for _, kv := range env.Environ {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
