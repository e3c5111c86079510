package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

const most = 3 << 20

// reading answers with the body, or with why it was not read.
func reading(t *testing.T) (url string) {
	var gate rest.Gate
	gate.Open(gateway.Host{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, leave := gate.Enter(w)
		defer leave()
		body, done, status := gate.Body(w, r, most)
		defer done()
		w.WriteHeader(status)
		w.Write(body)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func post(t *testing.T, url string, body io.Reader) (status int, answer []byte) {
	t.Helper()
	resp, err := http.Post(url, "", body)
	if err != nil {
		return 0, nil // cut off while it was sending
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, answer
}

func TestBody(t *testing.T) {
	url := reading(t)
	for _, n := range []int{0, 1, 4095, 4096, 4097, 65536, 1 << 20, most} {
		want := bytes.Repeat([]byte("0123456"), n/7+1)[:n]
		for name, body := range map[string]io.Reader{"announced": bytes.NewReader(want), "in chunks": io.MultiReader(bytes.NewReader(want))} {
			if status, got := post(t, url, body); status != http.StatusOK || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %s: got status %d and %d bytes", n, name, status, len(got))
			}
		}
	}
	for name, body := range map[string]io.Reader{"announced": strings.NewReader(strings.Repeat("x", most+1)), "in chunks": io.MultiReader(strings.NewReader(strings.Repeat("x", most+1)))} {
		if status, _ := post(t, url, body); status != http.StatusRequestEntityTooLarge && status != 0 {
			t.Errorf("too large, %s: got status %d, want 413", name, status)
		}
	}
}

// Many who send much and never end it get no more memory than there is for all; who sends little is heard all the same.
func TestBodiesTogether(t *testing.T) {
	url := reading(t)
	var slow []net.Conn
	refused := make(chan bool, 100)
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		slow = append(slow, conn)
		go func() {
			fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", most, strings.Repeat("x", most-1))
		}()
		go func() {
			answer := make([]byte, 12)
			if n, _ := io.ReadFull(conn, answer); string(answer[:n]) == "HTTP/1.1 503" {
				refused <- true
			}
		}()
	}
	select {
	case <-refused:
	case <-time.After(time.Minute):
		t.Fatal("nobody was refused")
	}
	if status, got := post(t, url, strings.NewReader("small")); status != http.StatusOK || string(got) != "small" {
		t.Errorf("a small body: got status %d and %q, want it to be read", status, got)
	}
	for _, conn := range slow {
		conn.Close()
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if status, _ := post(t, url, strings.NewReader(strings.Repeat("x", most))); status == http.StatusOK {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatal("a large body is not read after the others are gone")
		}
	}
}
