package blind

import "slices"

// A Story is a program with one cause that can be taken away.
type Story struct {
	Family, Name string
	Ranks        int      // ranks that are simulated; 0 is one rank outside any job
	World        int      // ranks of the job if only one of them was recorded
	Bound        []string // verdicts that fit if the cause costs much
	Rules        []string // first findings that name the cause
	Steps        []string // first steps that fit
	Also         []string // findings on other parts that are of the same cause
	LeftOut      bool     // the shares leave it out, and a finding says so
	Stays        bool     // the rule also finds what is left when the cause is gone
	Program      func(s *Sim, with bool)
}

// Quiet returns the rules that a cause must not be reported by if it costs little.
func (st Story) Quiet() []string {
	if st.Stays {
		return nil
	}
	return st.Rules
}

// A Run is a story that has been simulated.
type Run struct {
	Files   [][]byte // a trace for each rank
	Parts   Parts    // of all ranks, with the cause
	Without Parts
}

// Share is the part of the window that is saved without the cause.
func (r Run) Share() float64 {
	return float64(r.Parts.Window-r.Without.Window) / float64(r.Parts.Window)
}

// Simulate runs a story with its cause and without it.
func Simulate(st Story) Run {
	var r Run
	for _, s := range ranks(st, true) {
		r.Files = append(r.Files, s.JSON())
		r.Parts = r.Parts.plus(s.Parts())
	}
	for _, s := range ranks(st, false) {
		r.Without = r.Without.plus(s.Parts())
	}
	return r
}

// Clean returns the traces of a story without its cause.
func Clean(st Story) [][]byte {
	var files [][]byte
	for _, s := range ranks(st, false) {
		files = append(files, s.JSON())
	}
	return files
}

func (p Parts) plus(q Parts) Parts {
	return Parts{p.Window + q.Window, p.Compute + q.Compute, p.Comm + q.Comm, p.Copies + q.Copies, p.Idle + q.Idle}
}

// ranks simulates all ranks until their collectives agree. A round fixes at
// least one more collective, because what comes before it no longer changes.
func ranks(st Story, with bool) []*Sim {
	n := max(st.Ranks, 1)
	var release []int64
	for {
		var sims []*Sim
		var next []int64
		for rank := range n {
			s := newSim(rank, max(n, st.World), release)
			st.Program(s, with)
			sims = append(sims, s)
			for i, at := range s.arrived {
				if i == len(next) {
					next = append(next, at)
				}
				next[i] = max(next[i], at)
			}
		}
		if n == 1 || slices.Equal(next, release) {
			return sims
		}
		release = next
	}
}
