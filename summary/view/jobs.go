package view

import (
	"path"
	"slices"

	"assay/summary"
)

// Jobs returns the jobs whose ranks were compared, each by its first input, ascending. The cycles of a run are
// one job.
func Jobs(s *summary.Summary) (out []int) {
	for _, r := range WaitsOfGPUs(s) {
		if !slices.Contains(out, r.Job) {
			out = append(out, r.Job)
		}
	}
	slices.Sort(out)
	return out
}

// JobName returns the name that distinguishes a job from the others: the directory of its first input, or
// its path if another job has the same directory. It is "" if there is only one job.
func JobName(s *summary.Summary, job int) string {
	jobs := Jobs(s)
	if len(jobs) < 2 || job < 0 || job >= len(s.Inputs) {
		return ""
	}
	own := path.Dir(s.Inputs[job].Path)
	for _, other := range jobs {
		if other != job && other < len(s.Inputs) && path.Dir(s.Inputs[other].Path) == own {
			return s.Inputs[job].Path
		}
	}
	return path.Base(own)
}
