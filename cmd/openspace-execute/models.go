package main

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/openspace-dev/openspace/cmd/internal/chat"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/llm"
	"github.com/openspace-dev/openspace/pkg/tools"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// models opens the models of tasks: those of endpoints, recorded or not, or a file that answers in their place.
type models struct {
	env     *cli.Env
	secrets []string
	played  *llm.Played
	file    *os.File // of --record
	tape    *llm.Tape
	mask    *tools.Mask // of the file

	mu     sync.Mutex
	opened map[string]llm.Model
}

// models makes ready what --record, --replay and the model's settings say. A model that cannot be asked is an error here, before anything is started.
func (o *options) models(env *cli.Env) (m *models, err error) {
	m = &models{env: env, opened: map[string]llm.Model{}}
	if o.replay != "" {
		if m.played, err = llm.Play(env.Abs(o.replay)); err != nil {
			return nil, replayError(o.replay, err)
		}
		m.mask = chat.Mask(env, nil)
		return m, nil
	}
	if _, err := m.endpoint(o.model); err != nil {
		return nil, err
	}
	m.mask = chat.Mask(env, m.secrets)
	if o.record != "" {
		if m.file, err = create(env.Abs(o.record)); err != nil {
			return nil, wire.Errorf(wire.Usage, "--record %q: %w", o.record, err)
		}
		m.tape = llm.NewTape(m.file)
	}
	return m, nil
}

func replayError(path string, err error) error {
	var damaged *llm.ReplayError
	if errors.As(err, &damaged) {
		return wire.Errorf(wire.Code(llm.Code(err)), "%w", err)
	}
	return wire.Errorf(wire.Usage, "--replay %q: %w", path, err)
}

// open returns the model of one task.
func (m *models) open(name string, places []llm.Place) (llm.Model, error) {
	o := llm.RecordOptions{Mask: m.mask.Text, Places: places}
	if m.played != nil {
		return m.played.Model(o), nil
	}
	model, err := m.endpoint(name)
	if err != nil || m.tape == nil {
		return model, err
	}
	return m.tape.Record(model, o), nil
}

// endpoint returns the model of this name, the same one each time: what it learns of its endpoint serves all tasks.
func (m *models) endpoint(name string) (llm.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.opened[name]; known != nil {
		return known, nil
	}
	model, found, err := chat.Open(m.env, name)
	if err != nil {
		return nil, err
	}
	m.secrets = append(m.secrets, found...)
	m.opened[name] = model
	return model, nil
}

// close ends the file of --record.
func (m *models) close() error {
	if m.file == nil {
		return nil
	}
	if err := m.file.Close(); err != nil {
		return fmt.Errorf("write %q: %w", m.file.Name(), err)
	}
	return nil
}
