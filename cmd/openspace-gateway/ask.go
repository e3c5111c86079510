package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// state is the record of a running gateway.
type state struct {
	Type      string `json:"type"` // "gateway"
	ID        string `json:"id,omitempty"`
	Status    string `json:"status"`
	PID       int    `json:"pid,omitempty"`
	Addr      string `json:"addr,omitempty"`
	StartedAt string `json:"started_at,omitempty"`
	Running   int    `json:"running"`
	Waiting   int    `json:"waiting"`
	Unsent    int    `json:"unsent"`
}

// Typed returns the record with its type.
func (r state) Typed() wire.Record { r.Type = "gateway"; return r }

// Columns are the headings of Cells.
func (state) Columns() []string {
	return []string{"STATUS", "PID", "ADDRESS", "STARTED", "RUNNING", "WAITING", "UNSENT"}
}

// Cells are the values of a row.
func (r state) Cells() []string {
	return []string{r.Status, strconv.Itoa(r.PID), r.Addr, r.StartedAt, strconv.Itoa(r.Running), strconv.Itoa(r.Waiting), strconv.Itoa(r.Unsent)}
}

// channel is the record of a channel.
type channel struct {
	Type string `json:"type"` // "channel"
	ID   string `json:"id,omitempty"`
	gateway.ChannelHealth
}

// Typed returns the record with its type.
func (r channel) Typed() wire.Record { r.Type = "channel"; return r }

// Columns are the headings of Cells.
func (channel) Columns() []string {
	return []string{"PLATFORM", "ACCOUNT", "STATE", "SINCE", "RECEIVED", "IGNORED", "SENT", "FAILED", "NOTE"}
}

// Cells are the values of a row.
func (r channel) Cells() []string {
	up := "down"
	if r.Up {
		up = "up"
	}
	return []string{r.Platform, r.Account, up, r.Since, strconv.Itoa(r.Received), strconv.Itoa(r.Ignored), strconv.Itoa(r.Sent), strconv.Itoa(r.Failed), r.Note}
}

// running reads the configuration and finds the gateway that runs with it.
func (a *app) running(env *cli.Env) (*settled, gateway.Running, error) {
	s, err := a.load(env)
	if err != nil {
		return nil, gateway.Running{}, err
	}
	r, err := gateway.Find(s.DataDir)
	if wire.CodeOf(err) == wire.NotFound {
		err = wire.Errorf(wire.NotFound, "%w", err).WithHint("openspace-gateway run")
	}
	return s, r, err
}

// status is the verb status.
func (a *app) status() *cli.Command {
	return &cli.Command{
		Name: "status", Short: "show the running gateway",
		Run: func(ctx context.Context, env *cli.Env) error {
			_, r, err := a.running(env)
			if err != nil {
				return err
			}
			h, err := r.Health(ctx)
			if err != nil {
				return err
			}
			return show(env, h, r.Addr)
		},
	}
}

// show writes what is known; the exit status says whether all is well.
func show(env *cli.Env, h gateway.Health, addr string) error {
	if err := env.Out.Emit(state{Status: h.Status, PID: h.PID, Addr: addr, StartedAt: h.StartedAt, Running: h.Running, Waiting: h.Waiting, Unsent: h.Unsent}); err != nil {
		return err
	}
	for _, c := range h.Channels {
		if err := env.Out.Emit(channel{ChannelHealth: c}); err != nil {
			return err
		}
	}
	if h.Status != "ok" {
		return wire.ErrNone
	}
	return nil
}

// health is the verb health.
func (a *app) health() *cli.Command {
	return &cli.Command{
		Name: "health", Short: "ask the address of the config file whether all is well",
		Run: func(ctx context.Context, env *cli.Env) error {
			s, err := a.load(env)
			if err != nil {
				return err
			}
			if s.Server.Port == 0 {
				return wire.Errorf(wire.Usage, "server.port is 0: nobody knows the port beforehand").WithHint("openspace-gateway status")
			}
			host := s.Server.Host
			if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
				host = "127.0.0.1"
			}
			r := gateway.Running{Addr: net.JoinHostPort(host, strconv.Itoa(s.Server.Port)), HealthPath: s.Server.HealthPath}
			h, err := r.Health(ctx)
			if err != nil {
				return err
			}
			return show(env, h, r.Addr)
		},
	}
}

// stopTime is how long stop waits: longer than a gateway takes to end what runs.
const stopTime = 90 * time.Second

// stop is the verb stop.
func (a *app) stop() *cli.Command {
	return &cli.Command{
		Name: "stop", Short: "end the running gateway", Signals: true,
		Run: func(ctx context.Context, env *cli.Env) error {
			s, r, err := a.running(env)
			if err != nil {
				return err
			}
			p, err := os.FindProcess(r.PID)
			if err == nil {
				err = p.Signal(syscall.SIGTERM)
			}
			if err != nil {
				return wire.Errorf(wire.Internal, "stop process %d: %w", r.PID, err)
			}
			for start := time.Now(); time.Since(start) < stopTime; {
				if _, err := gateway.Find(s.DataDir); wire.CodeOf(err) == wire.NotFound {
					return env.Out.Emit(wire.Result{Status: "success", Action: "stop", Message: fmt.Sprintf("process %d has ended", r.PID)})
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(50 * time.Millisecond):
				}
			}
			return wire.Errorf(wire.Internal, "process %d has not ended within %v", r.PID, stopTime)
		},
	}
}
