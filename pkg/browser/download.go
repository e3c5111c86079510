package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Download is a file that a page gave.
type Download struct {
	URL  string
	Name string // that the page suggests, not checked
	Path string // where it is, until Close
	Size int64
	Err  string // why it is not there; empty: it is

	done bool
}

// downloadDir is where files are put.
func (b *Browser) downloadDir() string { return filepath.Join(b.o.Dir, "downloads") }

// plainName tells whether a name is one that the browser gives a file, and leads nowhere else.
func plainName(name string) bool {
	return name != "" && len(name) <= 64 && strings.Trim(strings.ToLower(name), "0123456789abcdefghijklmnopqrstuvwxyz-") == ""
}

// downloading takes the news of a file.
func (b *Browser) downloading(params json.RawMessage) {
	var e struct {
		GUID     string  `json:"guid"`
		URL      string  `json:"url"`
		Name     string  `json:"suggestedFilename"`
		Total    float64 `json:"totalBytes"`
		Received float64 `json:"receivedBytes"`
		State    string  `json:"state"`
	}
	if json.Unmarshal(params, &e) != nil || !plainName(e.GUID) {
		return
	}
	d := b.downloads[e.GUID]
	if d == nil {
		d = &Download{URL: e.URL, Name: e.Name, Path: filepath.Join(b.downloadDir(), e.GUID)}
		b.downloads[e.GUID] = d
		b.order = append(b.order, e.GUID)
		b.count++
	}
	if d.done {
		return
	}
	d.Size = int64(e.Received)
	switch most := b.o.MaxDownload; {
	case most > 0 && (d.Size > most || int64(e.Total) > most):
		d.Err, d.done = fmt.Sprintf("it is larger than %d MiB", most>>20), true
		go b.conn.send("", "Browser.cancelDownload", object{"guid": e.GUID})
	case e.State == "canceled":
		d.Err, d.done = "the transfer broke off", true
	case e.State == "completed":
		d.done = true
	}
}

// begun counts the files that were begun.
func (b *Browser) begun() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// downloaded waits for the files that were begun, until shortly before the end of ctx. What is not there then is cancelled.
func (b *Browser) downloaded(ctx context.Context) error {
	inner, cancel := withRest(ctx)
	defer cancel()
	all := func() bool {
		for _, d := range b.downloads {
			if !d.done {
				return false
			}
		}
		return true
	}
	if err := b.until(inner, all); err != nil {
		if inner.Err() == nil || ctx.Err() != nil {
			return err
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		for guid, d := range b.downloads {
			if !d.done {
				d.Err, d.done = "it took too long", true
				go b.conn.send("", "Browser.cancelDownload", object{"guid": guid})
			}
		}
	}
	return nil
}

// Downloads returns the files that came since it was last asked. The caller moves those away that it wants to keep.
func (b *Browser) Downloads() (files []Download) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var left []string
	for _, guid := range b.order {
		d := b.downloads[guid]
		if !d.done {
			left = append(left, guid)
			continue
		}
		if info, err := os.Lstat(d.Path); d.Err == "" && (err != nil || !info.Mode().IsRegular()) {
			d.Err = "the browser did not keep it"
		}
		files = append(files, *d)
		delete(b.downloads, guid)
	}
	b.order = left
	return files
}
