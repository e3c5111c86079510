package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/registry"
	"github.com/openspace-dev/openspace/pkg/safety"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// stopTime is how long requests under way may take after the signal to stop.
const stopTime = 15 * time.Second

// The collector runs more often when the memory of the program comes near to a limit. What has to stay in memory takes less than half of it.
const (
	memoryBase     = 64 << 20
	memoryDocument = 500
	memoryTurn     = 10 * time.Second // between two looks at the number of documents
)

func limitMemory(documents int) { debug.SetMemoryLimit(memoryBase + memoryDocument*int64(documents)) }

// keepLimit adapts the limit to the number of documents until ctx ends.
func keepLimit(ctx context.Context, documents func() int) {
	t := time.NewTicker(memoryTurn)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			limitMemory(documents())
		case <-ctx.Done():
			return
		}
	}
}

// serving are the flags of the verb serve.
type serving struct {
	registry.Options
	listen, addrFile   string
	tlsCert, tlsKey    string
	insecure, noPublic bool
	policy             string
	level              *string
	limits             registry.Limits
}

func (o *serving) flags(fs *flag.FlagSet) {
	o.limits = registry.DefaultLimits()
	fs.StringVar(&o.listen, "listen", "127.0.0.1:7788", "listen on `HOST:PORT`")
	fs.StringVar(&o.addrFile, "addr-file", "", "write the address it listens on into `FILE`")
	fs.StringVar(&o.tlsCert, "tls-cert", "", "certificate as a PEM `FILE`")
	fs.StringVar(&o.tlsKey, "tls-key", "", "key of the certificate as a PEM `FILE`")
	fs.BoolVar(&o.insecure, "insecure", false, "listen where other machines can reach it without TLS")
	fs.BoolVar(&o.noPublic, "no-discovery", false, "show public skills to nobody without a key")
	fs.BoolVar(&o.NeedSignature, "require-signature", false, "take signed skills only")
	fs.StringVar(&o.policy, "policy", "", "what the safety scan blocks, such as `block=critical,high`")
	fs.IntVar(&o.limits.Rate, "rate", o.limits.Rate, "requests that a key may make in a second: `N`")
	fs.Int64Var(&o.limits.Total, "max-bytes", o.limits.Total, "bytes of the files of a skill together: at most `N`")
	fs.IntVar(&o.limits.Files, "max-files", o.limits.Files, "files of a skill: at most `N`")
	o.level = cli.Choice(fs, "log-level", "what goes to stderr: `LEVEL` is info, error or debug", "info", "error", "debug")
}

// serve is the verb serve.
func (a *app) serve() *cli.Command {
	o := &serving{}
	return &cli.Command{
		Name: "serve", Short: "run the server", Signals: true, Flags: o.flags,
		Run: func(ctx context.Context, env *cli.Env) error {
			if err := errors.Join(none(env), o.check()); err != nil {
				return err
			}
			o.IndexDir, o.SpoolDir = filepath.Join(a.dir(env), "index"), a.dir(env)
			o.Log = o.logger(env.Stderr)
			return a.withFiles(env, func(s *registry.Files) error { return o.run(ctx, env, s) })
		},
	}
}

// check refuses what does not fit together.
func (o *serving) check() (err error) {
	host, _, err := net.SplitHostPort(o.listen)
	if err != nil {
		return wire.Errorf(wire.Usage, "--listen %q: want HOST:PORT", o.listen)
	}
	ip := net.ParseIP(host)
	local := host == "localhost" || ip != nil && ip.IsLoopback()
	switch {
	case (o.tlsCert == "") != (o.tlsKey == ""):
		return wire.Errorf(wire.Usage, "--tls-cert and --tls-key go together")
	case o.tlsCert == "" && !local && !o.insecure:
		return wire.Errorf(wire.Usage, "--listen %q can be reached from other machines, and keys would travel in the clear", o.listen).
			WithHint("give --tls-cert and --tls-key, or --insecure behind a proxy that does TLS")
	case o.limits.Rate < 1 || o.limits.Total < 1 || o.limits.Files < 1:
		return wire.Errorf(wire.Usage, "--rate, --max-bytes and --max-files: want at least 1")
	}
	o.limits.Burst = 2 * o.limits.Rate
	o.limits.File = min(o.limits.File, o.limits.Total)
	o.Limits, o.Closed = o.limits, o.noPublic
	if o.Policy, err = safety.ParsePolicy(o.policy); err != nil {
		return wire.Errorf(wire.Usage, "%w", err)
	}
	return nil
}

// logger writes lines of JSON. Debug tells where in the program they come from.
func (o *serving) logger(w io.Writer) *slog.Logger {
	level := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "error": slog.LevelError}[*o.level]
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level, AddSource: *o.level == "debug"}))
}

func (o *serving) run(ctx context.Context, env *cli.Env, s *registry.Files) (err error) {
	lock, err := s.Lock()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	limitMemory(s.Len())
	if saved, err := s.Compact(ctx); err != nil {
		return err
	} else if saved > 0 {
		o.Log.Info("compacted", "bytes", saved)
	}
	l, err := o.listener(ctx)
	if err != nil {
		return err
	}
	server, err := registry.New(ctx, s, o.Options)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	go keepLimit(ctx, s.Len)
	if err := o.announce(env, l.Addr().String()); err != nil {
		return errors.Join(err, l.Close(), server.Close())
	}
	return errors.Join(o.serveUntil(ctx, server.HTTP(), l), server.Close())
}

func (o *serving) listener(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", o.listen)
	if err != nil {
		return nil, wire.Errorf(wire.Network, "%w", err)
	}
	if o.tlsCert == "" {
		return l, nil
	}
	cert, err := tls.LoadX509KeyPair(o.tlsCert, o.tlsKey)
	if err != nil {
		return nil, errors.Join(wire.Errorf(wire.Usage, "read certificate: %w", err), l.Close())
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}}), nil
}

// announce says where the server listens.
func (o *serving) announce(env *cli.Env, addr string) error {
	o.Log.Info("listening", "addr", addr, "tls", o.tlsCert != "")
	if o.addrFile == "" {
		return nil
	}
	return atomicfile.Write(env.Abs(o.addrFile), []byte(addr+"\n"), 0o644, atomicfile.NoSync())
}

// serveUntil answers requests until ctx ends, and then those that are under way.
func (o *serving) serveUntil(ctx context.Context, server *http.Server, l net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	o.Log.Info("stopping")
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	if err := server.Shutdown(stop); err != nil {
		return errors.Join(fmt.Errorf("stop: %w", err), server.Close())
	}
	return nil
}
