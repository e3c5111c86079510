package toolsearch

// Use is what is known of the calls of a tool.
type Use struct {
	Calls    int     // all of them
	Rate     float64 // of the recent ones: the share that went well
	Failures int     // of the last ones, in a row
}

// Enough is how many calls it takes before how they went counts in a tool's score.
const Enough = 3

// Judged is how many calls it takes before a tool is said to work or to fail.
const Judged = 5

// Thresholds of Penalty.
const (
	poor      = 0.4 // a rate below this
	worst     = 0.3 // the factor at a rate of 0
	streak    = 3   // failures in a row that count beside the rate
	perMore   = 0.1 // for each of them
	mostMore  = 0.3
	leastUsed = 0.2
)

// Penalty is the factor for the score of a tool: 1 for one that works or is not known well enough, less for one that
// mostly fails, down to 0.2. A failing tool is still found when nothing else fits, and comes back as soon as it works.
func (u Use) Penalty() float64 {
	if u.Calls < Enough {
		return 1
	}
	p := 1.0
	if u.Rate < poor {
		p = worst + u.Rate/poor*(1-worst)
	}
	if u.Failures >= streak {
		p -= min(mostMore, float64(u.Failures-streak+1)*perMore)
	}
	return min(1, max(leastUsed, p))
}

// Degraded tells whether a tool that is known well enough fails more often than not.
func (u Use) Degraded() bool { return u.Calls >= Judged && u.Rate < 0.5 }
