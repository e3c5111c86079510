package account

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/cloud"
	"github.com/openspace-dev/openspace/pkg/settings"
)

// The address that help and doctor show is the one that the client uses when nobody gives one.
func TestDefaultAddress(t *testing.T) {
	if settings.DefaultAPIBase != cloud.DefaultBase {
		t.Errorf("got %q in settings, %q in cloud", settings.DefaultAPIBase, cloud.DefaultBase)
	}
}

func TestExposed(t *testing.T) {
	for base, want := range map[string]bool{
		"https://registry.example/api/v1": false, "http://registry.example/api/v1": true, "http://127.0.0.1:1": false,
		"http://[::1]:1": false, "http://LOCALHOST": false, "http://localhost.example": true, "http://[": false,
	} {
		if got := exposed(base); got != want {
			t.Errorf("%s: got %v", base, got)
		}
	}
}
