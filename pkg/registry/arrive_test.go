package registry_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/api"
)

// begin sends the head of a request to stage files and the beginning of its body.
func (u user) begin(length int, body string) net.Conn {
	u.t.Helper()
	conn, err := net.Dial("tcp", u.http.Listener.Addr().String())
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s/artifacts/stage HTTP/1.1\r\nHost: x\r\nX-API-Key: %s\r\nContent-Type: multipart/form-data; boundary=%s\r\nContent-Length: %d\r\n\r\n%s",
		api.BasePath, u.key, boundary, length, body)
	return conn
}

// Who sends slowly keeps nobody waiting.
func TestSlowUploadsTakeNoPlace(t *testing.T) {
	c := newCommunity(t)
	ann, bob := c.user("ann", "write"), c.user("bob", "write")
	for range 8 {
		ann.begin(20<<20, "--"+boundary+"\r\n")
	}
	noise := make([]byte, 2<<20)
	rand.NewChaCha8([32]byte{}).Read(noise)
	for _, u := range []user{bob, ann} {
		done := make(chan string, 1)
		go func() { done <- u.stage("SKILL.md", "# Large\n", "data", string(noise)) }()
		select {
		case id := <-done:
			if id == "" {
				t.Error("got no artifact id")
			}
		case <-time.After(time.Minute):
			t.Fatal("a large upload waits for slow ones")
		}
	}
}

// A client that sends everything before it reads learns why it was refused.
func TestRefusedUploadsAreRead(t *testing.T) {
	u := newCommunity(t).user("ann", "write")
	large := bytes.Repeat([]byte("x"), 45<<20)
	for name, head := range map[string]string{
		"too large a body": "--" + boundary + "\r\nContent-Disposition: form-data; name=\"files\"; filename=\"SKILL.md\"\r\n\r\n",
		"no multipart":     "nothing of the kind",
	} {
		conn := u.begin(len(head)+len(large), head)
		if _, err := conn.Write(large); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		text, _ := io.ReadAll(res.Body)
		if res.StatusCode != 413 || !strings.Contains(string(text), `"too_large"`) {
			t.Errorf("%s: got %d %s, want 413 too_large", name, res.StatusCode, text)
		}
	}
}
