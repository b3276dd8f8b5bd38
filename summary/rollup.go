package summary

import "slices"

// fold is what [Summary.RollUp] does with the rows of a rank that is not kept in full.
type fold uint8

const (
	// stays keeps the rows. It is for rows whose number does not grow with the ranks, or that later stages
	// need of each rank, and for rows that do not add up.
	stays fold = iota + 1
	// slim keeps the rows without the data that is only drawn, such as strips and histograms: Slim removes it.
	// It is for small numbers of large rows, such as one for each GPU.
	slim
	// few keeps the rows if the job has few steps, and otherwise only their sums. It is for rows of steps and
	// phases.
	few
	// away keeps only the sums that Roll gives. It is for rows by name, of which each rank has hundreds.
	away
)

// A Job lists the inputs of one run of several ranks, ascending, and the inputs whose rows are kept in
// full.
type Job struct{ Inputs, Full []int }

// RollUp returns a summary with the sums over the ranks of each job as [Rolled] rows. The measurements of
// each GPU are added to its row of [RankWait]. Most rows of inputs that are not kept in full are left out:
// the table of members says which. Such inputs have [Input.RolledUp] set.
//
// RollUp must come after everything that needs rows, directly before the summary is written. Rolling up
// again changes nothing: a job with an input that is already rolled up is not changed. The result shares
// memory with s.
func (s *Summary) RollUp(list []Job) *Summary {
	out := &Summary{Schema: s.Schema, Inputs: slices.Clone(s.Inputs), Issues: s.Issues, LeftOut: s.LeftOut}
	j := newJobs(s, list)
	for input, job := range j.byInput {
		switch {
		case job == nil || job.full[input]:
		case job.manySteps:
			out.Inputs[input].RolledUp = RolledSteps
		default:
			out.Inputs[input].RolledUp = RolledRows
		}
	}
	for _, k := range members {
		k.rollUp(out, s, j)
	}
	j.describe(s, out)
	for _, job := range j.list {
		out.Rolled = append(out.Rolled, job.rows()...)
	}
	out.Sort()
	return out
}

// jobs are the jobs that are rolled up.
type jobs struct {
	byInput []*rolledJob // nil for inputs that belong to no job
	list    []*rolledJob
}

// rolledJob collects the sums of one job.
type rolledJob struct {
	Job
	full      map[int]bool // by input
	ranks     []int        // ascending
	number    map[int]int  // index into ranks, by input
	manySteps bool
	sums      map[Rolled]*rankSums // by names
}

func newJobs(s *Summary, list []Job) *jobs {
	j := &jobs{byInput: make([]*rolledJob, len(s.Inputs))}
	for _, job := range list {
		if slices.ContainsFunc(job.Inputs, func(i int) bool { return s.Inputs[i].RolledUp != "" }) {
			continue
		}
		r := &rolledJob{Job: job, full: map[int]bool{}, number: map[int]int{}, sums: map[Rolled]*rankSums{}}
		for _, i := range job.Inputs {
			r.ranks = append(r.ranks, s.Inputs[i].Rank)
			j.byInput[i] = r
		}
		slices.Sort(r.ranks)
		r.ranks = slices.Compact(r.ranks)
		for _, i := range job.Inputs {
			r.number[i], _ = slices.BinarySearch(r.ranks, s.Inputs[i].Rank)
		}
		for _, i := range job.Full {
			r.full[i] = true
		}
		j.list = append(j.list, r)
	}
	rows := map[*rolledJob]int{}
	for i := range s.Steps {
		rows[j.byInput[s.Steps[i].Input]]++
	}
	for i := range s.Phases {
		rows[j.byInput[s.Phases[i].Input]]++
	}
	for _, job := range j.list {
		job.manySteps = rows[job] > maxSteps
	}
	return j
}

// rollUp appends the rows that stay to another summary, and adds the rows of jobs to their sums.
func (k *rows[Row]) rollUp(to, from *Summary, j *jobs) {
	list, out := *k.In(from), k.In(to)
	for i := range list {
		row := list[i]
		input := *k.At(&row).Input
		job := j.byInput[input]
		if job != nil && k.Member == "rolled" {
			continue // computed from the new rows
		}
		if job != nil && k.Job != nil {
			*k.Job(&row) = job.Inputs[0] // also for ranks without collectives
		}
		if job != nil && k.Roll != nil {
			job.add(k.Member, input, k.Roll(&row))
		}
		if job != nil && !job.full[input] {
			switch {
			case k.Fold == away, k.Fold == few && job.manySteps:
				continue
			case k.Fold == slim:
				k.Slim(&row, !job.manySteps)
			}
		}
		*out = append(*out, row)
	}
}

// rankSums are the sums of a row over the ranks, and the sums of each rank.
type rankSums struct {
	Rolled
	has     []bool // which ranks have such a row, by index into ranks
	ns, cpu []int64
}

// add adds a row of an input to the sums.
func (job *rolledJob) add(of string, input int, r Rolled) {
	key := r.names()
	key.Of = of
	sum := job.sums[key]
	if sum == nil {
		n := len(job.ranks)
		sum = &rankSums{Rolled: key, has: make([]bool, n), ns: make([]int64, n), cpu: make([]int64, n)}
		job.sums[key] = sum
	}
	at := job.number[input]
	sum.has[at] = true
	sum.ns[at], sum.cpu[at] = Plus(sum.ns[at], r.TotalNS), Plus(sum.cpu[at], r.cpu())
	sum.plus(&r)
}

// plus adds the values of another row: sums are added, maxima are compared.
func (r *Rolled) plus(o *Rolled) {
	r.Count, r.TotalNS, r.Launched = Plus(r.Count, max(0, o.Count)), Plus(r.TotalNS, o.TotalNS), Plus(r.Launched, o.Launched)
	r.LongestNS = max(r.LongestNS, o.LongestNS)
	r.CPUNS, r.Bytes = plusKnown(r.CPUNS, o.CPUNS), plusKnown(r.Bytes, o.Bytes)
}

// plusKnown returns the sum of the values that are known, or nil if none is.
func plusKnown(a, b *int64) *int64 {
	if b == nil {
		return a
	}
	sum := *b
	if a != nil {
		sum = Plus(sum, *a)
	}
	return &sum
}

// names returns the row without values, which is its key.
func (r Rolled) names() Rolled {
	return Rolled{Of: r.Of, Name: r.Name, Class: r.Class, Category: r.Category, Rule: r.Rule, Op: r.Op,
		Owner: r.Owner, State: r.State, Kind: r.Kind, File: r.File, Line: r.Line}
}

// rows returns the sums. For each kind, the rows with the least time beyond the limit are added up in one
// row.
func (job *rolledJob) rows() (out []Rolled) {
	byKind := map[string][]*rankSums{}
	for _, sum := range job.sums {
		byKind[sum.Of] = append(byKind[sum.Of], sum)
	}
	for of, list := range byKind {
		slices.SortFunc(list, func(a, b *rankSums) int { return a.order(&b.Rolled) })
		if len(list) > maxRolled {
			pooled := &rankSums{Rolled: Rolled{Of: of, Name: PooledRows}, has: make([]bool, len(job.ranks)), ns: make([]int64, len(job.ranks)), cpu: make([]int64, len(job.ranks))}
			for _, sum := range list[maxRolled:] {
				pooled.pool(sum)
			}
			list = append(list[:maxRolled:maxRolled], pooled)
		}
		for _, sum := range list {
			out = append(out, sum.row(job))
		}
	}
	return out
}

// pool adds the sums of another row to r.
func (r *rankSums) pool(o *rankSums) {
	r.plus(&o.Rolled)
	for i := range r.has {
		r.has[i] = r.has[i] || o.has[i]
		r.ns[i], r.cpu[i] = Plus(r.ns[i], o.ns[i]), Plus(r.cpu[i], o.cpu[i])
	}
}

// row returns the row with the minimum and maximum over the ranks that have it.
func (r *rankSums) row(job *rolledJob) Rolled {
	out := r.Rolled
	out.Input, out.Job = job.Inputs[0], job.Inputs[0]
	var least, most int64 // CPU time in ns
	for i, has := range r.has {
		if !has {
			continue
		}
		if out.Ranks == 0 || r.ns[i] < out.LeastNS {
			out.LeastNS = r.ns[i]
		}
		if out.Ranks == 0 || r.ns[i] > out.MostNS {
			out.MostNS, out.MostRank = r.ns[i], job.ranks[i]
		}
		if out.Ranks == 0 {
			least, most = r.cpu[i], r.cpu[i]
		}
		least, most = min(least, r.cpu[i]), max(most, r.cpu[i])
		out.Ranks++
	}
	if out.CPUNS != nil {
		out.LeastCPUNS, out.MostCPUNS = &least, &most
	}
	return out
}
