// Command testmodel serves a scripted chat model, for scripts and measurements.
//
//	testmodel --script FILE --addr-file FILE [--listen HOST:PORT]
//
// The script is that of package llmtest. The address it listens on is written into the address file; the base
// for clients is http://ADDRESS/v1. It ends on INT or TERM, writes to stderr every check that failed and
// every step that nobody asked for, and its exit status is then 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/openspace-dev/openspace/pkg/atomicfile"
	"github.com/openspace-dev/openspace/pkg/llm/llmtest"
)

// headerLimit bounds how long a client may take to say what it wants.
const headerLimit = 30 * time.Second

func main() {
	script := flag.String("script", "", "play the script in `FILE`")
	addrFile := flag.String("addr-file", "", "write the address it listens on into `FILE`")
	listen := flag.String("listen", "127.0.0.1:0", "listen on `HOST:PORT`")
	flag.Parse()
	if *script == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "testmodel: usage: testmodel --script FILE [--addr-file FILE] [--listen HOST:PORT]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	model, err := load(*script)
	if err == nil {
		err = serve(ctx, model, *listen, *addrFile)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testmodel:", err)
		os.Exit(5)
	}
	os.Exit(tell(model))
}

func load(path string) (*llmtest.Server, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	script, err := llmtest.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return llmtest.New(script), nil
}

// serve answers until ctx ends. Answers that are under way are broken off.
func serve(ctx context.Context, model *llmtest.Server, listen, addrFile string) error {
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	if addrFile != "" {
		if err := atomicfile.Write(addrFile, []byte(l.Addr().String()+"\n"), 0o644, atomicfile.NoSync()); err != nil {
			return errors.Join(err, l.Close())
		}
	}
	server := &http.Server{Handler: model, ReadHeaderTimeout: headerLimit}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// tell says what was not as the script wants it.
func tell(model *llmtest.Server) (status int) {
	for _, f := range append(model.Failures(), model.Unused()...) {
		fmt.Fprintln(os.Stderr, "testmodel:", f)
		status = 1
	}
	return status
}
