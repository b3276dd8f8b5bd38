// Package goodput puts the rows of a job together: its attempts, its time by part, what it costs.
package goodput

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"assay/summary"
)

// A Job is all attempts that continue each other.
type Job struct {
	Name     string // number, from 1
	Attempts []*summary.Attempt
	Parts    []Part // in the order of [summary.JobParts]
	TotalNS  int64  // sum of the parts
	WallNS   int64  // from the first line to the last one; 0 if its steps have no times
	Steps    int64  // that count
	Lost     int64  // steps that were done again
	Failures int64  // attempts that failed, or were stopped before they were done

	GPUs    int64   // 0 if unknown
	Sampled int64   // GPUs whose power monitors recorded while the job ran
	Watts   float64 // mean power of one GPU while the job ran; 0 if unknown
	Tokens  float64 // of the steps that count; 0 if unknown
	Samples float64
	price   float64

	Measured float64 // share of the time of its attempts for which monitors have the power
}

// A Part is the time of one kind.
type Part struct {
	Name string
	NS   int64
}

// Of returns the jobs of a summary, the longest first.
func Of(s *summary.Summary) (out []*Job) {
	byName := map[string]*Job{}
	for i := range s.Attempts {
		a := &s.Attempts[i]
		if a.Same {
			continue
		}
		name := strconv.Itoa(a.Job)
		j := byName[name]
		if j == nil {
			j = &Job{Name: name}
			byName[name] = j
			out = append(out, j)
		}
		j.Attempts = append(j.Attempts, a)
	}
	sums := map[[2]string]int64{}
	for _, r := range s.JobTimes {
		j := byName[r.Job]
		if j == nil {
			continue
		}
		sums[[2]string{r.Job, r.Part}] += r.NS
		j.TotalNS = summary.Plus(j.TotalNS, r.NS)
		switch r.Part {
		case summary.PartSteps:
			j.Steps += r.Steps
		case summary.PartLost:
			j.Lost += r.Steps
		}
	}
	for _, j := range out {
		for _, part := range summary.JobParts {
			if ns := sums[[2]string{j.Name, part}]; ns > 0 {
				j.Parts = append(j.Parts, Part{part, ns})
			}
		}
		j.finish()
		j.power(s)
		j.GPUs = j.Sampled
		for _, a := range j.Attempts { // a monitor may see one node of many
			j.GPUs = max(j.GPUs, configured(s, a.Input))
		}
		if p := s.Price; p != nil {
			j.price = p.GPUHour
			j.GPUs = cmp.Or(p.GPUs, j.GPUs)
		}
	}
	slices.SortStableFunc(out, func(a, b *Job) int { return cmp.Compare(b.TotalNS, a.TotalNS) })
	return out
}

// finish sets what follows from the attempts.
func (j *Job) finish() {
	slices.SortStableFunc(j.Attempts, func(a, b *summary.Attempt) int {
		if a.StartNS != nil && b.StartNS != nil {
			return cmp.Compare(*a.StartNS, *b.StartNS)
		}
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Number, b.Number))
	})
	timed := true
	for n, a := range j.Attempts {
		timed = timed && a.StartNS != nil
		if a.End == summary.EndFailed || n+1 < len(j.Attempts) && a.End != summary.EndFinished {
			j.Failures++
		}
	}
	if timed {
		j.WallNS = j.TotalNS
	}
	steps := float64(j.Steps)
	for _, a := range j.Attempts {
		if a.TokensPerStep != nil && j.Tokens == 0 {
			j.Tokens = *a.TokensPerStep * steps
		}
		if a.SamplesPerStep != nil && j.Samples == 0 {
			j.Samples = *a.SamplesPerStep * steps
		}
	}
}

// Part returns the time of one kind.
func (j *Job) Part(name string) int64 {
	for _, p := range j.Parts {
		if p.Name == name {
			return p.NS
		}
	}
	return 0
}

// Goodput returns the time of the steps that count. Its share of WallNS is the goodput.
func (j *Job) Goodput() int64 { return j.Part(summary.PartSteps) }

// Losses returns the other parts, the largest first.
func (j *Job) Losses() []Part {
	out := slices.DeleteFunc(slices.Clone(j.Parts), func(p Part) bool { return p.Name == summary.PartSteps })
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.NS, a.NS) })
	return out
}

// RunNS returns the time for which the job ran: without the time between attempts; 0 if its times are not known.
func (j *Job) RunNS() int64 {
	if j.WallNS == 0 {
		return 0
	}
	return j.WallNS - j.Part(summary.PartWaiting)
}

// BetweenFailures returns the mean time for which the job ran until a failure; 0 if it did not fail or its times
// are not known.
func (j *Job) BetweenFailures() int64 {
	if j.Failures == 0 {
		return 0
	}
	return j.RunNS() / j.Failures
}

// Cost returns the price of a time on all GPUs, or on one if their number is not known; false without a price. It
// counts waiting too: the GPUs are allocated, or they are not, which a log does not tell.
func (j *Job) Cost(ns int64) (float64, bool) {
	if j.price <= 0 {
		return 0, false
	}
	return float64(ns) / 3.6e12 * j.price * float64(max(1, j.GPUs)), true
}

// Energy returns the joules of a time in attempts at their mean power, on all GPUs or on one; false if no power is known.
func (j *Job) Energy(ns int64) (float64, bool) {
	if j.Watts <= 0 {
		return 0, false
	}
	return float64(ns) / 1e9 * j.Watts * float64(max(1, j.GPUs)), true
}

// leastMeasured is the share of the time of the attempts that samples of power must cover.
const leastMeasured = 0.5

// power sets the number of GPUs whose power monitors recorded while the job ran and their mean power, or else the mean
// power of a GPU that its trainer logged.
func (j *Job) power(s *summary.Summary) {
	sum, covered := 0.0, 0.0
	for _, a := range j.Attempts {
		if p := a.Power; p != nil && p.Watts > 0 && p.NS > 0 && p.GPUs > 0 {
			j.Sampled = max(j.Sampled, p.GPUs)
			sum, covered = sum+p.Watts*float64(p.NS), covered+float64(p.NS)
		}
	}
	j.Measured = covered / float64(max(1, j.RunNS()))
	if j.Measured >= leastMeasured {
		j.Watts = sum / covered
		return
	}
	for i := range s.Series {
		r := &s.Series[i]
		if r.Metric == "gpu.power" && r.Pooled == 0 && r.Mean != nil && *r.Mean > 0 && !math.IsInf(*r.Mean, 0) && r.Labels["gpu"] == "" &&
			r.Labels["device"] == "" && slices.ContainsFunc(j.Attempts, func(a *summary.Attempt) bool { return a.Input == r.Input }) {
			j.Watts = *r.Mean
		}
	}
}

// configured returns the number of GPUs of the settings that a log begins with, or 0.
func configured(s *summary.Summary, input int) int64 {
	n := map[string]int64{"train.nodes": 1}
	for _, c := range s.Settings {
		if v, err := strconv.ParseInt(c.Value, 10, 64); err == nil && c.Input == input && v > 0 && v < 1<<20 {
			n[c.Name] = v
		}
	}
	return cmp.Or(n["train.world"], n["train.gpus"]*n["train.nodes"])
}
