package main

import (
	"cmp"
	"maps"
	"slices"

	"assay/fleet"
	"assay/internal/ingest"
	"assay/summary"
	"assay/summary/view"
)

// A measuredFile is what was measured of one file: a summary with one or more inputs, and the
// collectives of its GPUs until ranks are compared. The summary is nil if the file could
// not be read.
type measuredFile struct {
	summary *summary.Summary
	members []fleet.Member
}

// measureAll measures all inputs. It returns those that could be read, in their order, and
// the errors of the others.
func (r *reading) measureAll() ([]measuredFile, []error) {
	all := make([]measuredFile, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		all[i].summary = r.measured(in, &all[i].members)
	})
	all = slices.DeleteFunc(all, func(m measuredFile) bool { return m.summary == nil })
	sortRanks(all)
	return all, failed
}

// sortRanks brings the traces of each run into the order of their ranks, because all
// screens follow the order of inputs, and a shell puts rank10 before rank2. The places of
// other files stay.
func sortRanks(all []measuredFile) {
	for _, run := range runsOf(all, isTimeline) {
		files := make([]measuredFile, len(run))
		for k, i := range run {
			files[k] = all[i]
		}
		slices.SortStableFunc(files, func(a, b measuredFile) int { return cmp.Compare(a.summary.Inputs[0].Rank, b.summary.Inputs[0].Rank) })
		for k, i := range run {
			all[i] = files[k]
		}
	}
}

// isTimeline reports whether a file is a trace.
func isTimeline(m measuredFile) bool {
	return len(m.summary.Inputs) == 1 && view.Captures(m.summary)[0].Kind == view.OfTimeline
}

// hasCollectives reports whether a file can be compared with other ranks.
func hasCollectives(m measuredFile) bool { return len(m.members) > 0 }

// merged measures all inputs. It returns nil if none could be read.
func (r *reading) merged() (*summary.Summary, []error) {
	all, failed := r.measureAll()
	if len(all) == 0 {
		return nil, failed
	}
	slices.SortFunc(r.secrets, func(a, b summary.Issue) int { return cmp.Compare(a.First, b.First) })
	return joined(append(all, measuredFile{summary: &summary.Summary{Issues: r.secrets}})), failed
}

// runs measures all inputs. It returns one summary for the traces of each run whose ranks
// can be compared, and one for each other input.
func (r *reading) runs() ([]*summary.Summary, []error) {
	all, failed := r.measureAll()
	var out []*summary.Summary
	of := make(map[int][]measuredFile) // by the first input of the run
	with := make(map[int]bool)         // the other inputs of runs
	for _, run := range runsOf(all, hasCollectives) {
		for n, i := range run {
			of[run[0]] = append(of[run[0]], all[i])
			with[i] = n > 0
		}
	}
	for i, m := range all {
		switch {
		case len(of[i]) > 0:
			out = append(out, joined(of[i]))
		case !with[i]:
			out = append(out, m.summary)
		}
	}
	return out, failed
}

// joined returns one summary of all, in their order, with the comparison of the ranks of
// each run.
func joined(all []measuredFile) *summary.Summary {
	first, inputs := make([]int, len(all)), 0
	for i, m := range all {
		first[i] = inputs
		inputs += len(m.summary.Inputs)
	}
	runs, jobs := runsOf(all, hasCollectives), len(runsOf(all, isTimeline))
	list := make([]*summary.Summary, len(all))
	for i := range all {
		list[i] = all[i].summary
	}
	s := summary.Join(list...)
	if jobs == 1 {
		fleet.NoteInputs(s)
	}
	for _, run := range runs {
		stages := make(map[string][]fleet.Member) // a server records each stage at another time
		for _, i := range run {
			stage := view.StageOf(s.Inputs[first[i]].Path)
			for _, m := range all[i].members {
				m.Input = first[i]
				stages[stage] = append(stages[stage], m)
			}
		}
		for _, stage := range slices.Sorted(maps.Keys(stages)) {
			if job := fleet.Match(stages[stage]); job != nil {
				job.AddTo(s)
			}
		}
	}
	return s
}

// runsOf returns the wanted files, which have one input each, by their runs: as ascending
// indices.
func runsOf(all []measuredFile, wanted func(measuredFile) bool) [][]int {
	var captures []view.Capture
	var of []int
	for i, m := range all {
		if wanted(m) {
			c := view.Captures(m.summary)[0]
			c.SHA256 = "" // not every command computes it
			captures = append(captures, c)
			of = append(of, i)
		}
	}
	var out [][]int
	for _, run := range view.Runs(captures).Runs {
		var list []int
		for _, i := range run.Inputs {
			list = append(list, of[i])
		}
		out = append(out, list)
	}
	return out
}
