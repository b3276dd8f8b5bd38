package partial

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"

	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/summary"
)

// Parts that together exceed the memory of a machine are joined with a plan, which is made
// from their outlines:
//
//	Part.Outline  per part
//	NewPlan       from all outlines: the order of the parts and the members of each job
//	Plan.Join     from the summaries and the jobs of the runs: the summary

// An Outline is the data of a part that a plan needs.
type Outline struct {
	Name    string
	Summary *summary.Summary // its input, and one row of each kind that it has
	Members []ranks.Member   // with one collective, if they have any
}

// Outline returns the outline of a part that was encoded.
func (p *Part) Outline() Outline {
	s, of := &summary.Summary{Schema: summary.Schema, Inputs: p.Summary.Inputs}, p.Summary
	for _, d := range of.Devices {
		s.Devices = append(s.Devices, summary.Device{Rank: d.Rank, Device: d.Device, StartNS: d.StartNS, WindowNS: d.WindowNS, Events: d.Events, Activity: d.Activity})
	}
	s.Tables, s.Flames, s.Counters = make([]summary.Table, min(1, len(of.Tables))), make([]summary.Flame, min(1, len(of.Flames))), of.Counters
	s.Series, s.Benchmarks = make([]summary.Series, min(1, len(of.Series))), make([]summary.Benchmark, min(1, len(of.Benchmarks)))
	s.Groups = make([]summary.Group, min(1, len(of.Groups)))
	s.Snapshots, s.MemoryTimelines = make([]summary.Snapshot, min(1, len(of.Snapshots))), make([]summary.MemoryTimeline, min(1, len(of.MemoryTimelines)))
	s.Graphs = make([]summary.Graph, min(1, len(of.Graphs)))
	for _, code := range []string{captureOnly, codeRounded} {
		if is := of.Issue(code); is != nil {
			s.Issues = append(s.Issues, *is)
		}
	}
	s.Annotations, s.Spans = make([]summary.Annotation, min(1, len(of.Annotations))), make([]summary.Span, min(1, len(of.Spans)))
	if len(of.Steps) > 0 { // which numbers they have tells whether a capture continues another one
		number := func(a, b summary.Step) int { return cmp.Compare(a.Number, b.Number) }
		for _, st := range []summary.Step{slices.MinFunc(of.Steps, number), slices.MaxFunc(of.Steps, number)} {
			s.Steps = append(s.Steps, summary.Step{Rank: st.Rank, Number: st.Number})
		}
	}
	out := Outline{Name: p.name, Summary: s}
	for _, m := range p.Members {
		m.Columns = &collective.Columns{Runs: make([]collective.Run, min(1, len(m.Columns.Runs)))}
		out.Members = append(out.Members, m)
	}
	return out
}

// A Plan describes how parts are joined.
type Plan struct {
	Parts []string // names, in the order of the inputs
	Jobs  []Job    // by run and stage
	Of    map[string]Position
}

// A Job has the members of a job as [ranks.Comparable] returns them; none if they cannot be
// compared.
type Job struct{ Members []ranks.Member }

// A Position is where the members of a part are in their job.
type Position struct {
	Job     int
	Members []int // by member of the part: its place in the job, or -1
}

// NewPlan returns the plan of parts, whose outlines may be in any order.
func NewPlan(outlines []Outline) (*Plan, error) {
	all := make([]Part, len(outlines))
	for i, o := range outlines {
		all[i] = Part{Summary: o.Summary, Members: o.Members, name: o.Name, saved: true}
	}
	all, _, failed := Arrange(all)
	if len(failed) > 0 {
		return nil, errors.Join(failed...)
	}
	all = once(all)
	p := &Plan{Of: map[string]Position{}}
	first := make([]int, len(all))
	for i, part := range all {
		p.Parts = append(p.Parts, part.name)
		first[i] = i
	}
	type member struct {
		input  int
		device int64
	}
	for n, run := range jobsOf(all, Part.hasCollectives) {
		list := ranks.Comparable(membersOf(all, run, first))
		at := map[member]int{}
		for place, m := range list {
			at[member{m.Input, m.Device}] = place
		}
		for _, i := range run {
			place := Position{Job: n}
			for _, m := range all[i].Members {
				to, ok := at[member{i, m.Device}]
				if !ok {
					to = -1
				}
				place.Members = append(place.Members, to)
			}
			p.Of[all[i].name] = place
		}
		for i := range list {
			list[i].Columns = nil
		}
		p.Jobs = append(p.Jobs, Job{list})
	}
	return p, nil
}

// Join returns the summary of all parts, whose records are those of [Part.Encode] in the
// order of the plan, with the comparisons of the jobs: nil where members cannot be compared.
func (p *Plan) Join(records [][]byte, jobs []*ranks.Job) (*summary.Summary, error) {
	all := make([]Part, len(records))
	for i, packed := range records {
		s, err := unpacked(packed, p.Parts[i])
		if err != nil {
			return nil, err
		}
		all[i] = Part{Summary: s, name: p.Parts[i], saved: true}
		if place, ok := p.Of[p.Parts[i]]; ok {
			all[i].Members = make([]ranks.Member, len(place.Members))
		}
		all[i].coarsen(halvings(len(records)))
	}
	return join(all, func(run int, _ []ranks.Member) *ranks.Job { return jobs[run] }), nil
}

// unpacked returns the summary of a record.
func unpacked(packed []byte, name string) (*summary.Summary, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return summary.Read(z, name)
}
