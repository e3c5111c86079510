package task

import (
	"context"
	"fmt"
	"sync"

	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// places are names that differ from run to run in what the model sees: folders, and the ids of skills that are made of them.
type places struct {
	list  []llm.Place
	names map[string]int
	known map[string]bool
}

func (r *run) places(offered []wire.Hit) *places {
	p := &places{names: map[string]int{}, known: map[string]bool{}}
	p.list = append(p.list, llm.Place{Name: "workspace", Path: r.ws.dir}, llm.Place{Name: "task_id", Path: r.id})
	if r.rec != nil {
		p.list = append(p.list, llm.Place{Name: "recording", Path: r.rec.Dir()})
	}
	if r.s.Home != "" {
		p.list = append(p.list, llm.Place{Name: "home", Path: r.s.Home})
	}
	for _, h := range offered {
		p.add(h)
	}
	return p
}

// add adds a skill. It is false for one that is there already.
func (p *places) add(h wire.Hit) bool {
	if p.known[h.SkillID] {
		return false
	}
	p.known[h.SkillID] = true
	p.names[h.Name]++
	name := h.Name
	if n := p.names[h.Name]; n > 1 {
		name = fmt.Sprintf("%s-%d", name, n)
	}
	p.list = append(p.list, llm.Place{Name: "skill:" + name, Path: h.SkillID})
	if h.SkillDir != "" {
		p.list = append(p.list, llm.Place{Name: "folder:" + name, Path: h.SkillDir})
	}
	return true
}

// growing is a model whose places grow while it is used: a skill that is found on the way has an id and a folder, too.
type growing struct {
	open   func([]llm.Place) (llm.Model, error)
	mu     sync.Mutex
	places *places
	model  llm.Model
}

func newGrowing(p *places, open func([]llm.Place) (llm.Model, error)) (*growing, error) {
	m, err := open(p.list)
	return &growing{open: open, places: p, model: m}, err
}

func (g *growing) now() llm.Model {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.model
}

func (g *growing) Name() string  { return g.now().Name() }
func (g *growing) Window() int64 { return g.now().Window() }

func (g *growing) Chat(ctx context.Context, r llm.Request) (llm.Reply, error) {
	return g.now().Chat(ctx, r)
}

// add makes the places of a skill known.
func (g *growing) add(h wire.Hit) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.places.add(h) {
		return nil
	}
	m, err := g.open(g.places.list)
	if err == nil {
		g.model = m
	}
	return err
}
