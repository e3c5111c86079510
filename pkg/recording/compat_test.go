package recording_test

import (
	"testing"

	"github.com/openspace-dev/openspace/pkg/recording"
)

// Recordings of every version of the format stay readable.
func TestCompat(t *testing.T) {
	all, problems, err := recording.List("testdata/compat")
	if err != nil || len(problems) > 0 || len(all) != recording.Schema {
		t.Fatalf("got %d recordings, %v, %v, want one of each version", len(all), problems, err)
	}
	for _, s := range all {
		entries, bad, err := s.Conversations()
		if err != nil || bad > 0 || len(entries) != 4 || s.State() != "success" {
			t.Errorf("%s: got %d entries, %d bad, %v, %s", s.Name, len(entries), bad, err, s.State())
		}
		steps, bad, err := s.Steps()
		if err != nil || bad > 0 || len(steps) != 4 || steps[0].Command != "ls" || steps[1].Result.Error != "no such file" {
			t.Errorf("%s: got %+v, %d bad, %v", s.Name, steps, bad, err)
		}
		sum, err := s.Summary()
		if err != nil || sum.Trajectory.TotalSteps != 4 || sum.Actions.Total != 2 {
			t.Errorf("%s: got %+v, %v", s.Name, sum, err)
		}
	}
}
