package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/skill"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// maxAnswer bounds a JSON answer: 300 rows with vectors are about 6 MB.
const maxAnswer = 64 << 20

// ask sends v (nil: nothing) and decodes the answer into out (nil: not read). It returns the status.
func (c *Client) ask(ctx context.Context, method, path string, query url.Values, v, out any) (status int, err error) {
	what := call{method: method, path: path, query: query, accept: "application/json"}
	if v != nil {
		data, err := json.Marshal(v)
		if err != nil {
			return 0, wire.Errorf(wire.Internal, "ask registry: %w", err)
		}
		what.body = func() *payload { return &payload{bytes.NewReader(data), int64(len(data)), "application/json"} }
	}
	err = c.do(ctx, what, func(resp *http.Response) error {
		status = resp.StatusCode
		if out == nil {
			return nil
		}
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err == nil {
			err = json.Unmarshal(data, out)
		}
		if err != nil {
			return unreadable(err)
		}
		return nil
	})
	return status, err
}

// record asks about one record.
func (c *Client) record(ctx context.Context, method, id string, v, out any, more ...string) error {
	if id == "" {
		return wire.Errorf(wire.Usage, "%w", errNoID)
	}
	_, err := c.ask(ctx, method, recordPath(id, more...), nil, v, out)
	return err
}

// Record returns one record.
func (c *Client) Record(ctx context.Context, id string) (api.Record, error) {
	var r api.Record
	err := c.record(ctx, http.MethodGet, id, nil, &r)
	fold(&r)
	return r, err
}

func fold(r *api.Record) { r.Visibility = api.FoldVisibility(r.Visibility) }

// Versions returns the line that a record belongs to.
func (c *Client) Versions(ctx context.Context, id string) (api.Versions, error) {
	var v api.Versions
	err := c.record(ctx, http.MethodGet, id, nil, &v, "versions")
	for i := range v.Items {
		fold(&v.Items[i])
	}
	return v, err
}

// Change alters a record.
func (c *Client) Change(ctx context.Context, id string, change api.Change) (api.Record, error) {
	var r api.Record
	err := c.record(ctx, http.MethodPatch, id, change, &r)
	fold(&r)
	return r, err
}

// Delete removes a record.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.record(ctx, http.MethodDelete, id, nil, nil)
}

// Mine yields the caller's own records.
func (c *Client) Mine(ctx context.Context) iter.Seq2[api.Record, error] {
	return c.pages(ctx, "/records", url.Values{"owner": {"me"}})
}

// All yields every record that the caller may see.
func (c *Client) All(ctx context.Context) iter.Seq2[api.Record, error] {
	return c.pages(ctx, "/records/metadata", url.Values{})
}

// pages yields the records of a listing, page by page. An error ends it.
func (c *Client) pages(ctx context.Context, path string, query url.Values) iter.Seq2[api.Record, error] {
	query.Set("limit", strconv.Itoa(api.DefaultPage))
	return func(yield func(api.Record, error) bool) {
		for {
			var page api.Page
			if _, err := c.ask(ctx, http.MethodGet, path, query, nil, &page); err != nil {
				yield(api.Record{}, err)
				return
			}
			for _, r := range page.Items {
				fold(&r)
				if !yield(r, nil) {
					return
				}
			}
			switch next := page.NextCursor; {
			case !page.HasMore || next == nil || *next == "":
				return
			case *next == query.Get("cursor"):
				yield(api.Record{}, unreadable(errors.New("the listing does not move on")))
				return
			default:
				query.Set("cursor", *next)
			}
		}
	}
}

// Found is the answer to a search.
type Found struct {
	Rows    []api.Row // best first
	Skipped int       // rows that could not be read
}

// Search asks for records. Rows are decoded one by one as they come; one that cannot be read costs nothing
// but itself.
func (c *Client) Search(ctx context.Context, s api.Search) (Found, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return Found{}, wire.Errorf(wire.Internal, "search registry: %w", err)
	}
	what := call{method: http.MethodPost, path: "/records/embeddings/search", accept: "application/json"}
	what.body = func() *payload { return &payload{bytes.NewReader(data), int64(len(data)), "application/json"} }
	var found Found
	err = c.do(ctx, what, func(resp *http.Response) error {
		found = Found{}
		if err := found.read(io.LimitReader(resp.Body, maxAnswer)); err != nil {
			return unreadable(err)
		}
		return nil
	})
	return found, err
}

func (f *Found) read(r io.Reader) error {
	dec := json.NewDecoder(r)
	switch t, err := dec.Token(); {
	case err != nil:
		return err
	case t == nil:
		return nil
	case t != json.Delim('['):
		return fmt.Errorf("want a list of rows, got %v", t)
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		var row api.Row
		if json.Unmarshal(raw, &row) != nil || row.RecordID == "" || len(f.Rows) == api.MaxSearch {
			f.Skipped++
			continue
		}
		row.Visibility = api.FoldVisibility(row.Visibility)
		f.Rows = append(f.Rows, row)
	}
	_, err := dec.Token()
	return err
}

// Outcome says what a Create came to.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Exists    Outcome = "exists"    // the record was there with this content
	Duplicate Outcome = "duplicate" // the content is there as another record
)

// Create publishes a staged artifact. When the id is taken by other content it tries once more with a new id
// made of name. The record of a Duplicate has nothing but its id.
func (c *Client) Create(ctx context.Context, req api.Create, name string) (api.Record, Outcome, error) {
	rec, outcome, err := c.create(ctx, req)
	var r *Refusal
	if errors.As(err, &r) && r.Body.Code == api.ErrIDTaken {
		req.RecordID = skill.NewID(name, "clo")
		return c.create(ctx, req)
	}
	return rec, outcome, err
}

func (c *Client) create(ctx context.Context, req api.Create) (api.Record, Outcome, error) {
	var rec api.Record
	status, err := c.ask(ctx, http.MethodPost, "/records", nil, req, &rec)
	var r *Refusal
	if errors.As(err, &r) && r.Body.Code == api.ErrContentExists && r.Body.ExistingRecordID != "" {
		return api.Record{RecordID: r.Body.ExistingRecordID}, Duplicate, nil
	}
	if err != nil {
		return rec, "", err
	}
	fold(&rec)
	if rec.RecordID == "" {
		rec.RecordID = req.RecordID
	}
	if status == http.StatusCreated {
		return rec, Created, nil
	}
	return rec, Exists, nil
}
