package partial

import (
	"cmp"
	"fmt"
	"slices"

	"assay/ingest"
	"assay/summary"
)

// Arrange sorts parts into the order in which they are joined, and drops those that could
// not be read. Traces of a run are ordered by rank. If any part was saved, all parts are
// first sorted by path, then time, so that the result does not depend on the names of the
// files and the order of the arguments. Duplicates of saved parts are dropped.
//
// It returns the number of dropped duplicates, and an error for each input for which there
// are different parts.
func Arrange(all []Part) (out []Part, repeated int, failed []error) {
	out = slices.DeleteFunc(all, func(p Part) bool { return p.Summary == nil })
	if slices.ContainsFunc(out, func(p Part) bool { return p.name != "" }) {
		out, repeated, failed = distinct(out)
	}
	sortRanks(out)
	return out, repeated, failed
}

// distinct sorts parts and drops duplicates.
func distinct(all []Part) (out []Part, repeated int, failed []error) {
	slices.SortStableFunc(all, Part.compare)
	for _, p := range all {
		switch last := len(out) - 1; {
		case last < 0:
		case p.name != "" && p.name == out[last].name:
			repeated++
			continue
		case p.name != "" && out[last].name != "" && p.isOf(out[last]):
			failed = append(failed, fmt.Errorf("%s: this input was saved twice with different results: %s.json.gz and %s.json.gz; save it once, with one version of assay and the same flags", p.first().Path, out[last].name, p.name))
			continue
		}
		out = append(out, p)
	}
	return out, repeated, failed
}

func (p Part) first() *summary.Input {
	if len(p.Summary.Inputs) == 0 {
		return &summary.Input{}
	}
	return &p.Summary.Inputs[0]
}

// isOf reports whether two parts are of the same file.
func (p Part) isOf(q Part) bool {
	a, b := p.first(), q.first()
	return a.Path == b.Path && a.SHA256 != "" && a.SHA256 == b.SHA256
}

// compare orders parts by path, time, content of the input and content of the part.
func (p Part) compare(q Part) int {
	a, b := p.first(), q.first()
	return cmp.Or(ingest.ComparePaths(a.Path, b.Path), cmp.Compare(p.start(), q.start()), cmp.Compare(a.SHA256, b.SHA256), cmp.Compare(p.name, q.name))
}

// start returns the time in ns at which the work of the first GPU of a part began: Unix time
// if the trace states it.
func (p Part) start() (ns int64) {
	for i, d := range p.Summary.Devices {
		if i == 0 || d.StartNS < ns {
			ns = d.StartNS
		}
	}
	if base := p.first().BaseTimeNS; base != nil {
		ns = summary.Plus(ns, *base)
	}
	return ns
}
