package rest_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/openspace-dev/openspace/pkg/gateway"
	"github.com/openspace-dev/openspace/pkg/gateway/rest"
)

// Who never sends all of a request does not keep the gate from being shut, and a shut gate lets nobody in.
func TestGateShut(t *testing.T) {
	var gate rest.Gate
	gate.Open(gateway.Host{})
	in := make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, leave := gate.Enter(w)
		defer leave()
		if h == nil {
			http.Error(w, "not running", http.StatusServiceUnavailable)
			return
		}
		in <- true
		if _, err := io.ReadAll(r.Body); err != nil {
			http.Error(w, "not read", http.StatusRequestTimeout)
		}
	}))
	defer server.Close()
	slow, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	fmt.Fprint(slow, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf")
	<-in
	shut := make(chan bool)
	go func() { gate.Shut(); close(shut) }()
	select {
	case <-shut:
	case <-time.After(time.Minute):
		t.Fatal("the gate waits for a request that never ends")
	}
	resp, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %s of a gate that is shut, want 503", resp.Status)
	}
}
