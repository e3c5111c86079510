package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/mcpserver"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const (
	defaultPort = "8080"
	// drainTime is how long calls may take that are under way when the server is asked to stop.
	drainTime = 5 * time.Second
	// shortestToken is how many characters a token has at least: it lets others run commands here.
	shortestToken = 16
)

// address returns where to listen.
func (o *options) address(env *cli.Env, warn func(string, ...any)) (host, port string, err error) {
	host, port = cmp.Or(strings.TrimSpace(o.host), variable(env, "HOST"), "127.0.0.1"), o.port
	if port == "" {
		port = cmp.Or(variable(env, "PORT"), defaultPort)
		if !isPort(port) {
			warn("OPENSPACE_MCP_PORT=%q is passed over: want a number from 0 to 65535", port)
			port = defaultPort
		}
	}
	if !isPort(port) {
		return host, port, wire.Errorf(wire.Usage, "--port %q: want a number from 0 to 65535", port)
	}
	return strings.Trim(host, "[]"), port, nil
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && n <= 65535
}

// guard says who may call.
func (o *options) guard(env *cli.Env, host string, warn func(string, ...any)) (mcpserver.HTTPOptions, error) {
	ip := net.ParseIP(host)
	g := mcpserver.HTTPOptions{Loopback: host == "localhost" || ip != nil && ip.IsLoopback(), Hosts: names(*o.names), Origins: names(*o.origins)}
	if ip == nil {
		g.Hosts = append(g.Hosts, host)
	}
	if o.tokenFile != "" {
		path := env.Settings.Abs(o.tokenFile)
		data, err := os.ReadFile(path)
		if err != nil {
			return g, wire.Errorf(wire.Usage, "read the token: %w", err)
		}
		if g.Token = strings.TrimSpace(string(data)); len(g.Token) < shortestToken || strings.ContainsAny(g.Token, " \t\r\n") {
			return g, wire.Errorf(wire.Usage, "%s: want one token of at least %d characters", path, shortestToken).
				WithHint("make one: openssl rand -hex 32")
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&(fs.FileMode(0o077)) != 0 {
			warn("%s can be read by others: chmod 600 it", path)
		}
	}
	if g.Token == "" && !g.Loopback && !o.insecure {
		return g, wire.Errorf(wire.Usage, "--host %s can be reached from other machines, and whoever calls can run commands here", host).
			WithHint("give --auth-token-file, or --insecure if something else keeps others out")
	}
	return g, nil
}

// serveHTTP answers until ctx ends, and then gives the calls that are under way a moment.
func (o *options) serveHTTP(ctx context.Context, env *cli.Env, s *mcpserver.Server, log func(string, ...any)) error {
	host, port, err := o.address(env, log)
	if err != nil {
		return err
	}
	guard, err := o.guard(env, host, log)
	if err != nil {
		return err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return wire.Errorf(wire.Network, "%w", err).WithHint("another server may run there; --port takes another port")
	}
	env.Out.Document()
	addr := l.Addr().String()
	log("listening on http://%s/mcp and http://%s/sse", addr, addr)
	if o.addrFile != "" {
		if err := atomicfile.Write(env.Abs(o.addrFile), []byte(addr+"\n"), 0o644, atomicfile.NoSync()); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	h := s.HTTP(guard)
	defer h.Close()
	server := h.Server()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	log("stopping")
	h.Drain()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	if server.Shutdown(stop) != nil {
		h.Close() // ends the calls
		server.Close()
	}
	return nil
}
