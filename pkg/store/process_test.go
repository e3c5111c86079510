package store_test

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/openspace-dev/openspace/pkg/store"
)

// perProcess is how many analyses each appending process writes.
const perProcess = 25

// appendMany is what one of many processes does: perProcess analyses, each
// judging one skill.
func appendMany(s *store.Store, dir string) error {
	for i := range perProcess {
		a := store.Analysis{TaskID: "task_" + strconv.Itoa(os.Getpid()) + "_" + strconv.Itoa(i), TaskCompleted: true,
			SkillJudgments: []store.Judgment{{SkillID: "pdf__imp_00000000", SkillApplied: i%2 == 0}}}
		if ok, err := s.RecordAnalysis(context.Background(), a); err != nil || !ok {
			return fmt.Errorf("analysis %d: recorded %v: %w", i, ok, err)
		}
	}
	return nil
}
