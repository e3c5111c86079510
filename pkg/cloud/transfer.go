package cloud

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strings"

	"github.com/openspace-dev/openspace/pkg/api"
	"github.com/openspace-dev/openspace/pkg/wire"
)

// Artifact is what a download came with.
type Artifact struct {
	Size        int64
	Fingerprint string         // as the registry says; "" when it does not
	Signature   *api.Signature // nil: unsigned
}

// Download fetches the archive of a record. open is called before each try and gives what the bytes go to,
// from the start; limit is the most that is taken. The bytes are compared with the digest that the registry
// sends.
func (c *Client) Download(ctx context.Context, id string, limit int64, open func() (io.Writer, error)) (Artifact, error) {
	if id == "" {
		return Artifact{}, wire.Errorf(wire.Usage, "%w", errNoID)
	}
	var a Artifact
	what := call{method: http.MethodGet, path: recordPath(id, "download"), transfer: true}
	err := c.do(ctx, what, func(resp *http.Response) error {
		out, err := open()
		if err != nil {
			return err
		}
		a, err = receive(resp, out, limit)
		return err
	})
	return a, err
}

func receive(resp *http.Response, out io.Writer, limit int64) (Artifact, error) {
	if resp.ContentLength > limit {
		return Artifact{}, tooLarge(limit)
	}
	a := Artifact{Fingerprint: resp.Header.Get(api.HeaderFingerprint)}
	if v := resp.Header.Get(api.HeaderSignature); v != "" {
		var err error
		if a.Signature, err = api.ParseSignature(v); err != nil {
			return a, wire.Errorf(wire.Unsafe, "%w", err)
		}
	}
	h := sha256.New()
	var err error
	a.Size, err = io.Copy(io.MultiWriter(out, h), io.LimitReader(resp.Body, limit+1))
	switch want := digestOf(resp.Header); {
	case err != nil:
		return a, err
	case a.Size > limit:
		return a, tooLarge(limit)
	case want != nil && !bytes.Equal(want, h.Sum(nil)):
		return a, &tryAgain{err: wire.Errorf(wire.Network, "archive has another checksum than the registry says: it was changed on the way")}
	}
	return a, nil
}

func tooLarge(limit int64) error {
	return wire.Errorf(wire.TooLong, "archive has more than %d bytes", limit)
}

// digestOf returns the SHA-256 that a Digest header promises; nil when there is none.
func digestOf(h http.Header) []byte {
	for _, part := range strings.Split(strings.Join(h.Values(api.HeaderDigest), ","), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(name, "sha-256") {
			if sum, err := base64.StdEncoding.DecodeString(value); err == nil && len(sum) == sha256.Size {
				return sum
			}
		}
	}
	return nil
}

// Stage sends the files of a skill. They are read from where they are, part by part.
func (c *Client) Stage(ctx context.Context, files []api.File) (api.Staged, error) {
	form, err := newForm(files)
	if err != nil {
		return api.Staged{}, err
	}
	what := call{method: http.MethodPost, path: "/artifacts/stage", transfer: true, body: form.payload}
	var staged api.Staged
	err = c.do(ctx, what, func(resp *http.Response) error {
		data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		if err != nil {
			return err
		}
		if staged, err = readStaged(data); err != nil {
			return unreadable(err)
		}
		return nil
	})
	return staged, err
}

func readStaged(data []byte) (api.Staged, error) {
	var s api.Staged
	err := json.Unmarshal(data, &s)
	if err == nil && s.ArtifactID == "" {
		err = errors.New("no artifact id")
	}
	return s, err
}

// form is a multipart body whose parts lie in memory already.
type form struct {
	boundary string
	pieces   [][]byte
	size     int64
}

func newForm(files []api.File) (*form, error) {
	var b [8]byte
	rand.Read(b[:]) // never fails
	f := &form{boundary: "----OpenSpaceUpload" + hex.EncodeToString(b[:])}
	for _, file := range files {
		header, err := api.PartHeader(file.Path, file.Exec)
		if err != nil {
			e := wire.Errorf(wire.Invalid, "%w", err)
			e.Path = file.Path
			return nil, e
		}
		f.add([]byte("--" + f.boundary + "\r\n" + headerText(header) + "\r\n"))
		f.add(file.Data)
		f.add([]byte("\r\n"))
	}
	f.add([]byte("--" + f.boundary + "--\r\n"))
	return f, nil
}

func (f *form) add(data []byte) {
	f.pieces = append(f.pieces, data)
	f.size += int64(len(data))
}

func (f *form) payload() *payload {
	var readers []io.Reader
	for _, p := range f.pieces {
		readers = append(readers, bytes.NewReader(p))
	}
	return &payload{io.MultiReader(readers...), f.size, "multipart/form-data; boundary=" + f.boundary}
}

// headerText is the header of a part with the disposition first, where old servers look for it.
func headerText(h textproto.MIMEHeader) string {
	var keys []string
	for k := range h {
		keys = append(keys, k)
	}
	slices.Sort(keys) // Content-Disposition, Content-Type, X-…
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(k + ": " + h.Get(k) + "\r\n")
	}
	return b.String()
}
