// Package plainclient is a client of a registry without any of the care that pkg/cloud takes: no retries, no limits. Benchmarks and tests of the
// registry's process use it, so that they see what the registry itself does.
package plainclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/openspace-dev/openspace/pkg/api"
)

// Client asks one registry.
type Client struct {
	Base string // ends in the API's base path
	Key  string
	HTTP http.Client
}

// New returns a client that can do many things at once.
func New(key string) *Client {
	return &Client{Key: key, HTTP: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// StatusError is an answer that is no success.
type StatusError struct {
	Status int
	Body   []byte
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %s", e.Status, e.Body) }

// Call sends a request and returns the body of a good answer.
func (c *Client) Call(method, path, kind string, body io.Reader) ([]byte, error) {
	r, err := http.NewRequest(method, c.Base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set(api.HeaderKey, c.Key)
	r.Header.Set("Content-Type", kind)
	res, err := c.HTTP.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode/100 != 2 {
		err = &StatusError{res.StatusCode, data}
	}
	return data, err
}

// JSON sends a body, none when it is nil, and decodes the answer.
func (c *Client) JSON(method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	data, err := c.Call(method, path, "application/json", body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// Publish stages a SKILL.md and makes a private record of it.
func (c *Client) Publish(id, text string) (r api.Record, err error) {
	var form bytes.Buffer
	w := multipart.NewWriter(&form)
	header, err := api.PartHeader("SKILL.md", false)
	if err != nil {
		return r, err
	}
	part, err := w.CreatePart(header)
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err == nil {
		err = w.Close()
	}
	var data []byte
	if err == nil {
		data, err = c.Call("POST", "/artifacts/stage", w.FormDataContentType(), &form)
	}
	var staged api.Staged
	if err == nil {
		err = json.Unmarshal(data, &staged)
	}
	if err != nil {
		return r, err
	}
	req := api.Create{RecordID: id, ArtifactID: staged.ArtifactID, Origin: api.Imported, Visibility: api.Private}
	return r, c.JSON("POST", "/records", req, &r)
}

// List returns all records that the key sees, oldest first.
func (c *Client) List() (out []api.Record, err error) {
	for cursor := ""; ; {
		var page api.Page
		if err := c.JSON("GET", "/records/metadata?limit=1000&cursor="+url.QueryEscape(cursor), nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out, nil
		}
		cursor = *page.NextCursor
	}
}
