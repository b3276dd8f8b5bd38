package gate

import (
	"assay/gate/metric"
	"assay/judge/rule"
)

// A Measured is the value of a gate's metric in one run.
type Measured struct {
	Value metric.Value
	Why   string // why there is no value that can be compared with others, or ""
}

// Measure returns the values of the metrics of gates in a run: none that the capture does not
// support, and no bounds.
func (r Run) Measure(gates []Gate, th rule.Thresholds) []Measured {
	s := side{runs: []Run{r}}
	s.judge(th)
	out := make([]Measured, len(gates))
	for i := range gates {
		g, m := &gates[i], &out[i]
		err := r.cut
		if err == nil {
			m.Value, err = g.Metric.Measure(r.Summary, g.Selector)
		}
		if err != nil {
			m.Why = err.Error()
			continue
		}
		why, _ := s.doubt(g, m.Value.Traced)
		switch {
		case why != "":
			m.Why = why
		case m.Value.Missing > 0 || m.Value.Bounded:
			m.Why = "only bounds of the value are known"
		}
	}
	return out
}
