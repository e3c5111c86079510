package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"rsc.io/qr"

	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/gateway/whatsapp/linked"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// pairer links at once.
type pairer struct {
	told bool
	err  error
}

func (p pairer) Pair(_ context.Context, number string, show func(linked.Code)) (linked.Self, error) {
	if number != "" {
		show(linked.Code{Type: "ABCD-EFGH", Valid: time.Minute})
	} else {
		show(linked.Code{Scan: "one", Valid: time.Minute})
		show(linked.Code{Scan: "two", Valid: time.Minute})
	}
	return linked.Self{ID: "4915550100@s.whatsapp.net"}, p.err
}

func (p pairer) Unlink(context.Context) (bool, error) { return p.told, p.err }

// execute runs do as a command.
func execute(t *testing.T, do func(context.Context, *cli.Env) error) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = cli.Execute(t.Context(), &cli.Command{Name: "openspace-gateway", Manual: manual, Run: do}, cli.Process{
		Args: []string{"--jsonl"}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Dir: t.TempDir(), Environ: []string{"HOME=" + t.TempDir()},
	})
	return status, out.String(), errs.String()
}

func TestLink(t *testing.T) {
	for _, tt := range []struct {
		name, phone    string
		err            error
		status         int
		stdout, stderr []string
	}{
		{"scan", "", nil, 0, []string{`"status":"success"`, "4915550100 is linked"}, []string{"Scan within 1m0s", "█"}},
		{"type", "49", nil, 0, []string{`"type":"pairing"`, `"code":"ABCD-EFGH"`, `"channel":"whatsapp"`, "is linked"}, []string{"ABCD-EFGH"}},
		{"locked", "", wire.Errorf(wire.Locked, "in use"), wire.Locked.Exit(), nil, []string{"in use", "\"hint\":\"openspace-gateway stop"}},
		{"in vain", "", errors.New("no"), 5, nil, []string{"\"message\":\"no\""}},
	} {
		status, stdout, stderr := execute(t, func(ctx context.Context, env *cli.Env) error {
			return (&pairing{phone: tt.phone}).link(ctx, env, pairer{err: tt.err})
		})
		if status != tt.status {
			t.Errorf("%s: got status %d, want %d", tt.name, status, tt.status)
		}
		for _, want := range tt.stdout {
			if !strings.Contains(stdout, want) {
				t.Errorf("%s: got %q on stdout without %q", tt.name, stdout, want)
			}
		}
		for _, want := range tt.stderr {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: got %q on stderr without %q", tt.name, stderr, want)
			}
		}
	}
}

func TestUnlink(t *testing.T) {
	for _, told := range []bool{true, false} {
		status, stdout, stderr := execute(t, func(ctx context.Context, env *cli.Env) error { return unlink(ctx, env, pairer{told: told}) })
		if status != 0 || !strings.Contains(stdout, `"action":"unlink"`) || strings.Contains(stderr, "remove the device on the phone") == told {
			t.Errorf("told %v: got %d, %q, %q", told, status, stdout, stderr)
		}
	}
}

// What is drawn has each module of the code where it belongs, and room around it.
func TestDrawQR(t *testing.T) {
	text := "https://wa.me/settings/linked_devices#" + strings.Repeat("2@AbC+/=,", 25)
	c, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for _, terminal := range []bool{true, false} {
		picture, err := drawQR(text, terminal)
		if err != nil {
			t.Fatal(err)
		}
		if colours := strings.Contains(picture, "\x1b["); colours != terminal {
			t.Errorf("on a terminal %v: got colours %v", terminal, colours)
		}
		picture = strings.NewReplacer("\x1b[30;107m", "", "\x1b[0m", "").Replace(picture)
		for i, line := range strings.Split(strings.TrimSuffix(picture, "\n"), "\n") {
			row := []rune(line)
			if len(row) != c.Size+2*quiet {
				t.Fatalf("row %d: got %d modules, want %d", i, len(row), c.Size+2*quiet)
			}
			for j, r := range row {
				x, y := j-quiet, 2*i-quiet
				upper, lower := r == '█' || r == '▀', r == '█' || r == '▄'
				if upper != (c.Black(x, y) == terminal) || lower != (c.Black(x, y+1) == terminal) {
					t.Fatalf("got %q at %d, %d", r, x, y)
				}
			}
		}
	}
}
