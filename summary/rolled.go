package summary

import (
	"cmp"
	"fmt"
)

// Values of [Input.RolledUp]: which rows of the input were replaced by sums over the ranks.
const (
	RolledRows  = "rows"        // rows of kernels, operators and others
	RolledSteps = "rows, steps" // and rows of steps and phases
)

// PooledRows is the name of the [Rolled] row that adds up the rows over the limit.
const PooledRows = "(other rows)"

// Limits of a rolled-up summary, for each job.
const (
	maxRolled = 2000 // rows of sums of one kind
	maxSteps  = 2000 // rows of steps and phases of all ranks
	maxPhases = 8    // phases in a row of a rank
)

// A Rolled row adds up the rows of one kind over the ranks of a job. (Job, Of) and the names are its key:
// rows are added up if they have equal names on different ranks, GPUs and streams. It covers all ranks,
// including those whose own rows are in the summary.
type Rolled struct {
	Of    string `json:"of"`    // the member whose rows are added up, such as "kernels"
	Input int    `json:"input"` // the first input of the job
	Job   int    `json:"job"`   // as in RankWait

	// The names of the rows, as far as rows of the kind have them. Name is the path of a
	// module or phase, and the first operation of a graph; Op is also the call of copy_calls and
	// graphs, and Kind is "large" for large copies and "opaque" for graphs traced as one event.
	Name     string `json:"name,omitempty"`
	Class    string `json:"class,omitempty"`
	Category string `json:"category,omitempty"`
	Rule     string `json:"rule,omitempty"`
	Op       string `json:"op,omitempty"`
	Owner    string `json:"owner,omitempty"`
	State    string `json:"state,omitempty"`
	Kind     string `json:"kind,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`

	Ranks int   `json:"ranks"` // number of ranks that have such a row
	Count int64 `json:"count"` // sum of the counts of the rows, such as launches
	// TotalNS is the sum of the rows' main time: total_ns; gpu_self_ns for operators; gpu_total_ns for
	// modules, lines and annotations; wall_ns for steps; the total window for phases. LeastNS and MostNS
	// are the smallest and the largest sum of a single rank that has such a row. MostRank is the rank with
	// MostNS, the first of several.
	TotalNS  int64 `json:"total_ns"`
	LeastNS  int64 `json:"rank_min_ns"`
	MostNS   int64 `json:"rank_max_ns"`
	MostRank int   `json:"max_rank"`
	// The same for the CPU time: cpu_self_ns for operators, cpu_total_ns for modules, lines and
	// annotations, host_ns for phases. Absent for other rows.
	CPUNS      *int64 `json:"cpu_ns,omitempty"`
	LeastCPUNS *int64 `json:"rank_min_cpu_ns,omitempty"`
	MostCPUNS  *int64 `json:"rank_max_cpu_ns,omitempty"`

	LongestNS int64  `json:"longest_ns,omitempty"` // longest single launch, call, copy or idle interval
	Launched  int64  `json:"launched,omitempty"`   // GPU operations that calls launched
	Bytes     *int64 `json:"bytes,omitempty"`      // of copies with a known size
}

func (r *Rolled) check() error {
	if r.Ranks < 1 || r.Count < 0 || r.LeastNS > r.MostNS {
		return fmt.Errorf("ranks %d, count %d, rank_min_ns %d, rank_max_ns %d: want at least 1 rank, and a minimum of at most the maximum", r.Ranks, r.Count, r.LeastNS, r.MostNS)
	}
	return nil
}

// order sorts rows by kind, then by descending time and names.
func (r *Rolled) order(o *Rolled) int {
	return cmp.Or(cmp.Compare(r.Of, o.Of), cmp.Compare(o.TotalNS, r.TotalNS), cmp.Compare(o.cpu(), r.cpu()),
		cmp.Compare(r.Name, o.Name), cmp.Compare(r.Class, o.Class), cmp.Compare(r.Category, o.Category), cmp.Compare(r.Rule, o.Rule), cmp.Compare(r.Op, o.Op),
		cmp.Compare(r.Owner, o.Owner), cmp.Compare(r.State, o.State), cmp.Compare(r.Kind, o.Kind), cmp.Compare(r.File, o.File), cmp.Compare(r.Line, o.Line))
}

// cpu returns the CPU time in ns, 0 if there is none.
func (r *Rolled) cpu() int64 {
	if r.CPUNS == nil {
		return 0
	}
	return *r.CPUNS
}
