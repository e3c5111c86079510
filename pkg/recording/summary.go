package recording

func newSummary(m Metadata) Summary {
	return Summary{
		TaskID: m.TaskID, StartTime: m.StartTime, EndTime: m.EndTime,
		Trajectory: Trajectory{ByBackend: map[string]int{}, ByTool: map[string]int{}},
		Actions:    ActionsSummary{ByAgent: map[string]int{}, ByType: map[string]int{}},
	}
}

func (s *Summary) addStep(step Step) {
	t := &s.Trajectory
	t.TotalSteps++
	if step.Result.Status == "success" {
		t.SuccessCount++
	}
	t.SuccessRate = float64(t.SuccessCount) / float64(t.TotalSteps)
	t.ByBackend[step.Backend]++
	t.ByTool[step.Tool]++
}

func (s *Summary) addAction(a Action) {
	s.Actions.Total++
	s.Actions.ByAgent[a.Agent]++
	s.Actions.ByType[a.ActionType]++
}
