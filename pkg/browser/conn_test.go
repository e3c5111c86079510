package browser_test

import (
	"bufio"
	"bytes"
	"testing"

	"github.com/openspace-dev/openspace/pkg/browser"
)

// FuzzMessages: what is read is what stands before each zero byte, and nothing of a message that is not ended.
func FuzzMessages(f *testing.F) {
	f.Add([]byte("{}\x00{\"id\":1}\x00half"))
	f.Add([]byte("\x00\x00"))
	f.Add(bytes.Repeat([]byte("long"), 5000))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReaderSize(bytes.NewReader(data), 16)
		whole := bytes.Split(data, []byte{0})
		for i := 0; ; i++ {
			got, err := browser.NextMessage(in)
			if err != nil {
				if i != len(whole)-1 {
					t.Errorf("got %d messages, want %d", i, len(whole)-1)
				}
				return
			}
			if !bytes.Equal(got, whole[i]) {
				t.Errorf("message %d: got %q, want %q", i, got, whole[i])
			}
		}
	})
}
