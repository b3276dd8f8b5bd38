package partial

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/summary"
)

// codeForm is the code of the issue on an input that has the capture of another one in another form.
const codeForm = "same-capture"

// slack is the largest difference, in ns, of two times that are the same in two forms of a capture. Forms with
// times in microseconds round starts and durations.
const slack = 2

// withoutForms finds inputs that have the same capture in different forms, which profilers write into one folder
// and users export: it reduces all but the one that says most to their input with an issue, so that the capture
// counts once. The measurements decide, not the names: see [sameWork] and [sameCounters].
func withoutForms(all []Part) []Part {
	byRank := map[int][]int{}
	for i, p := range all {
		if p.Summary != nil && len(p.Summary.Inputs) == 1 && p.Summary.Issue(codeCopied) == nil {
			byRank[p.Summary.Inputs[0].Rank] = append(byRank[p.Summary.Inputs[0].Rank], i)
		}
	}
	best := map[int]int{} // by part: the one that says most of its capture, which is kept
	for _, list := range byRank {
		order := slices.Clone(list)
		slices.SortStableFunc(order, func(a, b int) int { return saysMore(all[b].Summary, all[a].Summary) })
		for n, i := range order {
			for _, kept := range order[:n] {
				if _, dropped := best[kept]; !dropped && sameCapture(all[kept].Summary, all[i].Summary) {
					best[i] = kept
					break
				}
			}
		}
	}
	if len(best) == 0 {
		return all
	}
	out := slices.Clone(all)
	for i, kept := range best {
		in, as := all[i].Summary.Inputs[0], all[kept].Summary
		in.SameAs = as.Inputs[0].Path
		keepRules(as, all[i].Summary)
		out[i].Members = nil
		out[i].Summary = &summary.Summary{Inputs: []summary.Input{in}, Issues: []summary.Issue{{
			Code: codeForm, Severity: diag.Info.String(), Count: 1, First: in.Path,
			Help: fmt.Sprintf("The file has the capture of %s in another form: what ran, and for how long, agrees. It counts once.", in.SameAs),
		}}}
	}
	return out
}

// codeRounded is the code of the issue on values that were printed with two decimals.
const codeRounded = "values-rounded"

// saysMore compares what two forms of a capture say: an XSpace file has more than the traces made from it, other
// forms with more records have more. For counters, the page with more quantities does, or else with exact ones.
func saysMore(a, b *summary.Summary) int {
	of := func(s *summary.Summary) int {
		if s.Inputs[0].Format == summary.FormatXPlane {
			return 1
		}
		return 0
	}
	exact := func(s *summary.Summary) int {
		if s.Issue(codeRounded) == nil {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(of(a), of(b)), cmp.Compare(quantities(a), quantities(b)), cmp.Compare(exact(a), exact(b)),
		cmp.Compare(a.Inputs[0].Events, b.Inputs[0].Events))
}

// sameCapture reports whether an input has the capture of another one that says as much or more.
func sameCapture(kept, s *summary.Summary) bool {
	switch {
	case len(kept.Devices) > 0 || len(s.Devices) > 0:
		return otherForm(&kept.Inputs[0], &s.Inputs[0]) && sameWork(kept, s) || isCutForm(kept, s)
	case len(kept.Counters) > 0 || len(s.Counters) > 0:
		return sameCounters(kept.Counters, s.Counters)
	}
	return samePacked(&kept.Inputs[0], &s.Inputs[0])
}

// samePacked reports whether one of two inputs without GPU work is the compressed file of the other one: as many
// events of one process, over the same time.
func samePacked(a, b *summary.Input) bool {
	return a.Format == b.Format && a.Compression != b.Compression && a.SpanNS > 0 && a.SpanNS == b.SpanNS &&
		a.Events == b.Events && a.Process == b.Process
}

// otherForm reports whether two inputs are different kinds of files, or the two traces in JSON that XLA writes.
func otherForm(a, b *summary.Input) bool {
	return a.Format != b.Format || a.Compression != b.Compression || a.Format == summary.FormatXLA
}

// sameWork reports whether two inputs have the same GPU work: on each GPU as many operations, which begin and end
// at the same times and are busy as long. Two captures of one program differ in that.
func sameWork(a, b *summary.Summary) bool {
	if len(a.Devices) != len(b.Devices) || !sameWindow(a, b) {
		return false
	}
	for i := range a.Devices {
		x, y := &a.Devices[i], &b.Devices[i]
		if x.Device != y.Device || x.Events != y.Events || !near(x.WindowNS, y.WindowNS, slack) ||
			!startsWith(a, b, i) || !near(busy(x), busy(y), slack*max(1, x.Events)) {
			return false
		}
	}
	return true
}

// sameWindow reports whether the same part of both captures was measured.
func sameWindow(a, b *summary.Summary) bool {
	return (a.Inputs[0].Window == nil) == (b.Inputs[0].Window == nil)
}

// startsWith reports whether the work of a GPU begins at the same time in both inputs, on their own clocks or in
// Unix time.
func startsWith(a, b *summary.Summary, device int) bool {
	x, y := a.Devices[device].StartNS, b.Devices[device].StartNS
	if near(x, y, slack) {
		return true
	}
	from, to := a.Inputs[0].BaseTimeNS, b.Inputs[0].BaseTimeNS
	return from != nil && to != nil && near(summary.Plus(x, *from), summary.Plus(y, *to), slack)
}

// isCutForm reports whether an input is the trace that XLA made of an XSpace file, by its name in the same folder,
// and has less of the same work: the trace ends after the first million events.
func isCutForm(whole, s *summary.Summary) bool {
	if whole.Inputs[0].Format != summary.FormatXPlane || s.Inputs[0].Format != summary.FormatXLA || !sameWindow(whole, s) ||
		len(s.Devices) == 0 || len(s.Devices) > len(whole.Devices) {
		return false
	}
	dir, host := filepath.Split(whole.Inputs[0].Path)
	of, name := filepath.Split(s.Inputs[0].Path)
	host, name = stem(host), stem(name)
	if of != dir || name != host && name != "perfetto_trace" {
		return false
	}
	for i := range s.Devices {
		x, y := &whole.Devices[i], &s.Devices[i]
		if x.Device != y.Device || y.Events > x.Events || y.WindowNS > x.WindowNS+slack || !startsWith(whole, s, i) ||
			busy(y) > busy(x)+slack*y.Events {
			return false
		}
	}
	return true
}

// stem returns the name of a file of XLA's profiler without the extensions of its form.
func stem(name string) string {
	for _, ext := range []string{".gz", ".json", ".trace", ".pb", ".xplane"} {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

func near(a, b, most int64) bool { return a-b <= most && b-a <= most }

// busy returns the time in which a GPU works.
func busy(d *summary.Device) int64 { return d.WindowNS - d.Activity.Idle() }
