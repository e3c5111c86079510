package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openspace-dev/openspace/cmd/internal/fault"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/store"
	"github.com/openspace-dev/openspace/pkg/toolsearch"
	"github.com/openspace-dev/openspace/pkg/wire"
)

const typeToolUse = "tool_use"

// toolUse is the record of how a tool did in tasks.
type toolUse struct {
	Type       string  `json:"type"`
	Key        string  `json:"key"` // backend:tool, or backend:server:tool
	Backend    string  `json:"backend"`
	Server     string  `json:"server,omitempty"`
	Name       string  `json:"name"`
	Status     string  `json:"status"` // ok, failing (of at least five calls fewer than half of the recent ones went well) or few (calls, fewer than five)
	Calls      int     `json:"calls"`
	OK         int     `json:"ok"`
	Rate       float64 `json:"success_rate"`
	Recent     int     `json:"recent"` // of the last calls: how many are known one by one
	RecentRate float64 `json:"recent_rate"`
	Failures   int     `json:"failures_in_a_row"`
	Penalty    float64 `json:"penalty"` // the factor of its score when there are too many tools to show; 1: none
	MeanMS     int64   `json:"mean_ms"`
}

// Typed returns a copy with its type set.
func (t toolUse) Typed() wire.Record { t.Type = typeToolUse; return t }

// Columns are the headings of Cells.
func (toolUse) Columns() []string {
	return []string{"TOOL", "STATUS", "CALLS", "RATE", "RECENT", "FAILURES", "PENALTY", "MEAN"}
}

// Cells are the values of a row.
func (t toolUse) Cells() []string {
	return []string{
		t.Key, t.Status, strconv.Itoa(t.Calls), percent(t.Rate), percent(t.RecentRate), strconv.Itoa(t.Failures), strconv.FormatFloat(t.Penalty, 'f', 2, 64),
		fmt.Sprintf("%d ms", t.MeanMS),
	}
}

func percent(rate float64) string { return fmt.Sprintf("%.0f %%", 100*rate) }

// useOf makes the record of what the store knows.
func useOf(r store.ToolRecord) toolUse {
	use := toolsearch.Use{Calls: r.Calls, Rate: r.RecentRate(), Failures: r.Failures}
	out := toolUse{
		Key: r.Key, Status: "ok", Calls: r.Calls, OK: r.OK, Recent: r.Recent, RecentRate: use.Rate, Failures: r.Failures, Penalty: use.Penalty(),
	}
	out.Backend, out.Name, _ = strings.Cut(r.Key, ":")
	if at := strings.LastIndexByte(out.Name, ':'); at >= 0 { // a server's name may have one, a tool's has none
		out.Server, out.Name = out.Name[:at], out.Name[at+1:]
	}
	if r.Calls > 0 {
		out.Rate, out.MeanMS = float64(r.OK)/float64(r.Calls), r.MS/int64(r.Calls)
	}
	switch {
	case use.Degraded():
		out.Status = "failing"
	case r.Calls < toolsearch.Judged:
		out.Status = "few"
	}
	return out
}

// tools is the verb tools.
func (a *app) tools() *cli.Command {
	return &cli.Command{
		Name: "tools", Short: "show how the tools of tasks did, the worst first", Args: "[TEXT…]",
		Run: func(_ context.Context, env *cli.Env) error {
			st, err := openStore(env)
			if err != nil {
				return err
			}
			defer st.Close()
			return showTools(env, st)
		},
	}
}

// showTools shows the tools whose key has all of the arguments in it.
func showTools(env *cli.Env, st *store.Store) error {
	all, err := st.Tools()
	if err != nil {
		return fault.Of(err)
	}
	var uses []toolUse
	for _, r := range all {
		if !slices.ContainsFunc(env.Args, func(word string) bool { return !strings.Contains(strings.ToLower(r.Key), strings.ToLower(word)) }) {
			uses = append(uses, useOf(r))
		}
	}
	slices.SortStableFunc(uses, func(a, b toolUse) int {
		return cmp.Or(cmp.Compare(a.Penalty, b.Penalty), cmp.Compare(a.RecentRate, b.RecentRate), cmp.Compare(b.Calls, a.Calls))
	})
	for _, u := range uses {
		if err := env.Out.Emit(u); err != nil {
			return err
		}
	}
	if len(uses) == 0 {
		return wire.ErrNone
	}
	return nil
}
