package rule

import (
	"assay/summary"
	"assay/summary/view/goodput"
)

// jobLosses are the values of the word for the largest loss of a job.
var jobLosses = []string{"lost", "waiting", "start", "checkpoint", "evaluation", "stall", "between"}

// jobLossOf returns the largest loss of the longest job, or "".
func jobLossOf(s *summary.Summary) string {
	jobs := goodput.Of(s)
	if len(jobs) == 0 || jobs[0].WallNS == 0 {
		return ""
	}
	sums := map[string]int64{}
	for _, p := range jobs[0].Losses() {
		name := p.Name
		if name == summary.PartStartUp || name == summary.PartCompile {
			name = "start"
		}
		sums[name] += p.NS
	}
	largest := ""
	for _, name := range jobLosses {
		if sums[name] > sums[largest] {
			largest = name
		}
	}
	return largest
}
