package safety_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/safety"
)

func TestPolicyVerdict(t *testing.T) {
	p, err := safety.ParsePolicy("allow=" + safety.FlagShortener)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		finding safety.Finding
		want    safety.Verdict
	}{
		{"by severity", safety.Finding{Severity: safety.Critical, Flag: safety.FlagMalware}, safety.Block},
		{"one high finding alone", safety.Finding{Severity: safety.High, Flag: safety.FlagScript}, safety.Warn},
		{"low", safety.Finding{Severity: safety.Low, Flag: safety.FlagScript}, safety.Allow},
		{"the flag wins over the severity", safety.Finding{Severity: safety.Critical, Flag: safety.FlagShortener}, safety.Allow},
	} {
		if got := p.Verdict(tc.finding); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}
