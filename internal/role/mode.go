package role

// A Mode is how freely a brain works. What a run may do to the project is another
// question, which its permission answers.
type Mode struct {
	Name        string `json:"mode"`
	Description string `json:"description"`
	Approval    bool   `json:"requiresExplicitApprovalForRiskyActions"`
	Todos       int    `json:"maxTodos"`
	Parallel    int    `json:"minParallelAgents"`
	Workers     int    `json:"minWorkerAgents"`
	Fixes       int    `json:"maxFixIterations"`
	Dispatches  int    `json:"maxDynamicDispatches"`
	Expansive   bool   `json:"expansive"`
}

// Modes are all modes, the default first.
func Modes() []Mode {
	return []Mode{
		{Name: "auto", Description: "few workers, one fix", Approval: true, Todos: 6, Parallel: 1, Workers: 1, Fixes: 1, Dispatches: 2},
		{Name: "radical", Description: "many workers early, two fixes", Todos: 8, Parallel: 4, Workers: 4, Fixes: 2, Dispatches: 4, Expansive: true},
	}
}

// ModeOf is the mode of a name.
func ModeOf(name string) (Mode, bool) {
	for _, m := range Modes() {
		if m.Name == name {
			return m, true
		}
	}
	return Mode{}, false
}

// Limits are how many agents may be at work in a mode, as a brain sets them and as
// the mode raises them.
func (m Mode) Limits(configured int) (parallel, workers int) {
	configured = max(configured, 1)
	return max(configured, m.Parallel), max(configured, m.Workers)
}
