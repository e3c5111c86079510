package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
)

// client is a plain client of the API.
type client struct {
	base, key string
	http      http.Client
}

func newClient(key string) *client {
	return &client{key: key, http: http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// call sends a request and decodes the answer.
func (c *client) call(method, path, kind string, body io.Reader, v any) error {
	r, err := http.NewRequest(method, c.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set(api.HeaderKey, c.key)
	r.Header.Set("Content-Type", kind)
	res, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode == http.StatusConflict {
		return nil // it is there
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, res.Status, data)
	}
	return json.Unmarshal(data, v)
}

func (c *client) json(method, path string, in, out any) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.call(method, path, "application/json", bytes.NewReader(data), out)
}

// publish stages a SKILL.md and makes a record of it.
func (c *client) publish(id, text string) error {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	header, err := api.PartHeader("SKILL.md", false)
	if err != nil {
		return err
	}
	part, err := w.CreatePart(header)
	if err == nil {
		_, err = io.WriteString(part, text)
	}
	if err == nil {
		err = w.Close()
	}
	var staged api.Staged
	if err == nil {
		err = c.call("POST", "/artifacts/stage", w.FormDataContentType(), &b, &staged)
	}
	if err != nil {
		return err
	}
	return c.json("POST", "/records", api.Create{RecordID: id, ArtifactID: staged.ArtifactID, Origin: api.Imported, Visibility: api.Private, Level: api.Level}, new(api.Record))
}

// list returns the ids of all records.
func (c *client) list() (ids []string, err error) {
	for cursor := ""; ; {
		var page api.Page
		if err := c.call("GET", "/records/metadata?limit=1000&cursor="+url.QueryEscape(cursor), "", nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			ids = append(ids, r.RecordID)
		}
		if page.NextCursor == nil {
			return ids, nil
		}
		cursor = *page.NextCursor
	}
}

// timeSearches returns the times of n searches in milliseconds, sorted; twenty before them do not count.
func (c *client) timeSearches(query func() string, limit, n int) (times []float64, err error) {
	for i := range n + 20 {
		q := api.Search{Query: query(), Limit: limit}
		var rows []api.Row
		start := time.Now()
		if err := c.json("POST", "/records/embeddings/search", q, &rows); err != nil {
			return nil, err
		}
		if i >= 20 {
			times = append(times, float64(time.Since(start).Microseconds())/1000)
		}
	}
	slices.Sort(times)
	return times, nil
}

// realSkills reads the texts of the real skills.
func realSkills(file string) (texts []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	s := bufio.NewScanner(z)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var row struct {
			Text string `json:"skill_md"`
		}
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			return nil, err
		}
		texts = append(texts, row.Text)
	}
	return texts, s.Err()
}

// vary exchanges a tenth of the words of a body for words of other, so that no two are the same and words are as rare as in real life.
func vary(r *rand.Rand, text, other string) string {
	head, body := text, ""
	if i := strings.Index(text, "\n---\n"); i >= 0 {
		head, body = text[:i+5], text[i+5:]
	}
	words, from := strings.SplitAfter(body, " "), strings.SplitAfter(other, " ")
	for i := range words {
		if r.IntN(10) == 0 {
			words[i] = from[r.IntN(len(from))]
		}
	}
	return head + strings.Join(words, "") + fmt.Sprintf("\n%x\n", r.Uint64())
}

// diskUsage returns the size of all files below dir.
func diskUsage(dir string) (size int64) {
	filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			if fi, err := e.Info(); err == nil {
				size += fi.Size()
			}
		}
		return nil
	})
	return size
}
