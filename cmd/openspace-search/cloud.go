package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openspace-dev/openspace/cmd/internal/account"
	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/cli"
	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/search"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// The words of --source.
const (
	local    = "local"
	fromAll  = "all"
	registry = "cloud"
)

// remote asks the registry. It is made at the first query that wants it, so that a local search costs nothing.
type remote struct {
	client *cloud.Client
	err    error     // why there is no client, or why the registry is not asked for a while
	again  time.Time // when it may be asked after err; zero: never
}

// pause is how long a registry that was not reached is left alone: the queries of one run shall not wait for it one
// by one.
const pause = 30 * time.Second

// A search waits less for an answer than an import.
func quick(o *cloud.Options) { o.Answer, o.Patience = 15*time.Second, 15*time.Second }

// rows returns what the registry finds.
func (r *remote) rows(ctx context.Context, env *cli.Env, req search.Request) (rows []search.Row, skipped int, err error) {
	if r.client == nil && r.err == nil {
		r.client, r.err = account.Client(env, account.Settings, quick)
	}
	if r.err != nil && (r.again.IsZero() || time.Now().Before(r.again)) {
		return nil, 0, r.err
	}
	r.err = nil
	// Several times as many rows as hits: some may be blocked, copies, or here already.
	found, err := r.client.Search(ctx, api.Search{Query: req.Query, Limit: min(3*req.Limit, api.MaxSearch)})
	if err != nil {
		switch wire.CodeOf(err) {
		case wire.Network, wire.Auth, wire.RateLimited:
			r.err, r.again = err, time.Now().Add(pause)
		}
		return nil, 0, err
	}
	for _, row := range found.Rows {
		rows = append(rows, search.Row{ID: row.RecordID, Name: row.Name, Description: row.Description, Visibility: row.Visibility,
			CreatedBy: cmp.Or(row.CreatedBy, row.Owner), Origin: row.Origin, Deprecated: row.Deprecated, Fingerprint: row.Fingerprint, Tags: row.Tags,
			SafetyFlags: row.SafetyFlags, Rank: row.SearchRank})
	}
	return rows, found.Skipped, nil
}

// notSearched says that the answer lacks the registry's part, and why.
func notSearched(err error) string {
	message := fmt.Sprintf("the registry was not searched: %v", err)
	var e *wire.Error
	if errors.As(err, &e) && e.Hint != "" {
		message += "; " + e.Hint
	}
	return message
}
