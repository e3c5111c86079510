package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openspace-dev/openspace/pkg/tools"
)

// CacheAge is how long the cache is trusted without asking the server, unless the options say otherwise.
const CacheAge = time.Hour

// Options say what a pool works with.
type Options struct {
	Servers []Server
	Cache   string        // folder for what servers have; empty: none
	Age     time.Duration // of the cache; 0: CacheAge
	Environ []string      // of the process; servers get little of it
	Dir     string        // where servers run that name no folder
	Version string        // of the program, which servers are told
}

// Pool is the servers of a process.
type Pool struct {
	o       Options
	servers []*server // by name
	life    context.Context
	end     context.CancelFunc
}

// Open makes a pool. It starts nothing. Of two servers with the same name the first counts.
func Open(o Options) *Pool {
	o.Age = cmp.Or(o.Age, CacheAge)
	p := &Pool{o: o}
	p.life, p.end = context.WithCancel(context.Background())
	seen := map[string]bool{}
	for _, conf := range o.Servers {
		if seen[conf.Name] {
			continue
		}
		seen[conf.Name] = true
		p.servers = append(p.servers, newServer(p, conf))
	}
	slices.SortFunc(p.servers, func(a, b *server) int { return strings.Compare(a.conf.Name, b.conf.Name) })
	return p
}

// Close ends all servers and returns when they are gone.
func (p *Pool) Close() {
	p.end()
	var all sync.WaitGroup
	for _, s := range p.servers {
		all.Go(s.close)
	}
	all.Wait()
}

// Tools returns what all servers offer, as tools of the task that env is of, sorted by server and name. Warnings name the
// servers that could not be asked, and what of the others cannot be used. Servers that the cache knows are not started.
func (p *Pool) Tools(ctx context.Context, env *tools.Env) (all []tools.Tool, warnings []string) {
	lists := make([][]definition, len(p.servers))
	notes := make([][]string, len(p.servers))
	var each sync.WaitGroup
	for i, s := range p.servers {
		each.Go(func() {
			var err error
			if lists[i], notes[i], err = s.offered(ctx); err != nil {
				notes[i] = []string{fmt.Sprintf("its tools are left out: %v", reason(ctx, err))}
			}
		})
	}
	each.Wait()
	taken := map[string]bool{}
	for i, s := range p.servers {
		for _, d := range lists[i] {
			all = append(all, newTool(s, d, toolName(s.conf.Name, d.Name, taken), env))
		}
		for _, n := range notes[i] {
			warnings = append(warnings, env.Mask.Text("MCP server "+s.conf.Name+": "+n))
		}
	}
	return all, warnings
}

// Warm asks the servers that the cache does not know for their tools, without waiting, so that Tools need not.
func (p *Pool) Warm() {
	for _, s := range p.servers {
		go s.offered(p.life)
	}
}

// reason says that it was the task that did not wait longer.
func reason(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("it did not tell them in the time that the task has for that")
	}
	return err
}

// few are the variables of the process that every server gets: what a program needs to find itself, its user, its
// language, the way to the network. Keys are in none of them; a server that needs one is given it in its env.
var few = []string{"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME",
	"XDG_CONFIG_HOME", "XDG_DATA_HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE",
	"SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NVM_DIR", "SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "USERPROFILE"}

// environ is the environment of a server.
func (p *Pool) environ(conf Server) []string {
	vars := map[string]string{}
	for _, name := range few {
		if value := variable(p.o.Environ, name); value != "" {
			vars[name] = value
		}
	}
	for name, value := range conf.Env {
		vars[name] = value
	}
	out := make([]string, 0, len(vars))
	for name, value := range vars {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// CacheDir is where a pool of the suite keeps what servers have.
func CacheDir(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, "cache", "mcp")
}
