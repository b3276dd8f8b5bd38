package logs

import (
	"fmt"

	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/goodput"
)

// partColors has the colour of each part of the time of a job.
var partColors = map[string]plot.Color{summary.PartSteps: plot.ColorCompute, summary.PartLost: plot.ColorComm, summary.PartStartUp: plot.ColorLaunch,
	summary.PartCompile: plot.ColorWork, summary.PartEvaluation: plot.ColorMemset, summary.PartCheckpoint: plot.ColorCopy, summary.PartStall: plot.ColorWait,
	summary.PartWaiting: plot.ColorIdle, summary.PartBetween: plot.ColorUnknown, summary.PartAfter: plot.ColorBetween}

// mostBars is the number of attempts that have a bar.
const mostBars = 24

// Job shows the time of the longest job by part: of the whole job, and of each attempt with the waiting after it.
func Job(s *summary.Summary) (plot.Chart, bool) {
	jobs := goodput.Of(s)
	if len(jobs) == 0 || len(jobs[0].Parts) < 2 {
		return plot.Chart{}, false
	}
	j := jobs[0]
	c := plot.Chart{Title: "Time of the job", Subtitle: "by part, without times that no log has"}
	if j.WallNS > 0 {
		c.Subtitle = fmt.Sprintf("goodput %s of %s", unit.Share(j.Goodput(), j.WallNS), unit.Duration(j.WallNS))
	}
	whole := plot.BarRow{Label: "job"}
	for _, p := range j.Parts {
		whole.Parts = append(whole.Parts, plot.Part{Color: partColors[p.Name], NS: p.NS})
		c.Legend = append(c.Legend, plot.Swatch{Color: partColors[p.Name], Text: words.JobPart(p.Name)})
	}
	body := plot.Stacks{Rows: []plot.BarRow{whole}}
	if n := len(j.Attempts); n > 1 {
		for k := range min(n, mostBars) {
			body.Rows = append(body.Rows, attemptBar(s, j.Name, k+1))
		}
		if n > mostBars {
			c.Subtitle += fmt.Sprintf("; the first %d of %d attempts", mostBars, n)
		}
	}
	c.Alt = "Time of the job by part: " + c.Subtitle
	c.Body = body
	return c, true
}

// attemptBar is the bar of one attempt.
func attemptBar(s *summary.Summary, job string, attempt int) plot.BarRow {
	r := plot.BarRow{Label: fmt.Sprintf("attempt %d", attempt)}
	for _, part := range summary.JobParts {
		for _, t := range s.JobTimes {
			if t.Job == job && t.Attempt == attempt && t.Part == part && t.NS > 0 {
				r.Parts = append(r.Parts, plot.Part{Color: partColors[part], NS: t.NS})
			}
		}
	}
	return r
}
