package logs

import (
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
)

// stateColors has the colour of each state of a role.
var stateColors = []struct {
	state string
	color plot.Color
}{{summary.RoleWorks, plot.ColorCompute}, {summary.RoleWaits, plot.ColorWait}, {summary.RoleSyncs, plot.ColorComm}, {summary.RolePauses, plot.ColorMemset},
	{summary.RoleOther, plot.ColorUnknown}}

// Roles shows a lane for each role of the mean step of the first trainer.
func Roles(s *summary.Summary) (plot.Chart, bool) {
	if len(s.RoleSteps) == 0 || s.RoleSteps[0].Steps == 0 {
		return plot.Chart{}, false
	}
	st := &s.RoleSteps[0]
	c := plot.Chart{Title: "Roles of a step", Subtitle: "mean of " + label.Plural(st.Steps, "step") + ", " + unit.Duration(st.StepNS/st.Steps)}
	var body plot.Stacks
	used := map[string]bool{}
	for _, role := range []string{summary.RoleRollout, summary.RoleTrainer, summary.RoleReward} {
		row := plot.BarRow{Label: role}
		for _, sc := range stateColors {
			for _, r := range s.RoleTimes {
				if r.Input == st.Input && r.Role == role && r.State == sc.state && r.NS >= st.Steps {
					row.Parts = append(row.Parts, plot.Part{Color: sc.color, NS: r.NS / st.Steps})
					used[sc.state] = true
				}
			}
		}
		if len(row.Parts) > 0 {
			body.Rows = append(body.Rows, row)
		}
	}
	for _, sc := range stateColors {
		if used[sc.state] {
			c.Legend = append(c.Legend, plot.Swatch{Color: sc.color, Text: words.RoleState(sc.state)})
		}
	}
	c.Alt = "Seconds in which each role works and waits, " + c.Subtitle
	c.Body = body
	return c, len(body.Rows) > 1
}
