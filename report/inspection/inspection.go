package inspection

import (
	"fmt"
	"slices"
	"strings"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
)

// Doc returns the document of an answer.
func Doc(a *inspect.Answer) doc.Doc {
	v := view{a: a}
	for _, in := range a.Inputs {
		if in.Rank != nil {
			v.inputs++
		}
	}
	var s []doc.Section
	switch {
	case a.Kernels != nil:
		s = v.kernels(a.Kernels)
	case a.Ops != nil:
		s = v.ops(a.Ops)
	case a.Gap != nil:
		s = v.gap(a.Gap)
	case a.Layers != nil:
		s = v.layers(a.Layers)
	case a.Why != nil:
		s = v.why(a.Why)
	default:
		for i := range a.Moments {
			s = append(s, v.moment(&a.Moments[i])...)
		}
		if a.MomentsLeft > 0 {
			s = append(s, doc.Section{Title: "Further ranks",
				Lead: label.Plural(int64(a.MomentsLeft), "rank") + "; choose them with --rank"})
		}
	}
	s = doc.Present(append(s, issues(a.Inputs))...)
	return doc.Doc{Title: "Inspection", Screen: s, Sections: s}
}

type view struct {
	a      *inspect.Answer
	inputs int // number of inputs that were inspected
}

// in returns " in step 3" if only a part of the capture was inspected.
func (v *view) in() string {
	if v.a.Question.Window == "" {
		return ""
	}
	return " (" + label.Clean(v.a.Question.Window) + ")"
}

// at prints a time since the start of a capture in ms with all its digits, as --at takes it.
func at(ns int64) string {
	sign, n := "", uint64(ns)
	if ns < 0 {
		sign, n = "-", -n
	}
	return strings.TrimSuffix(fmt.Sprintf("%s%d.%06d", sign, n/1e6, n%1e6), "000")
}

const atHead = "start (ms)"

// atLead explains the column of times.
const atLead = "start is the time since the start of the capture, as --at takes it"

// gpuOf returns the labels of places: the rank if there are several inputs or ranks, and the number of the
// GPU if there are several.
func (v *view) gpuOf(places []summary.GPU) (ranks, gpus []string) {
	ranks, gpus = make([]string, len(places)), make([]string, len(places))
	severalRanks := v.inputs > 1 || slices.ContainsFunc(places,
		func(p summary.GPU) bool { return p.Rank != places[0].Rank })
	severalGPUs := slices.ContainsFunc(places, func(p summary.GPU) bool { return p.Device != places[0].Device })
	for i, p := range places {
		if severalRanks {
			ranks[i] = fmt.Sprint(p.Rank)
		}
		if severalGPUs {
			gpus[i] = fmt.Sprint(p.Device)
		}
	}
	return ranks, gpus
}

// placed returns the rank and GPU for a title as far as the answer has several of them, or "".
func (v *view) placed(p summary.GPU) string {
	if v.inputs > 1 {
		return fmt.Sprintf("rank %d GPU %d", p.Rank, p.Device)
	}
	return fmt.Sprintf("GPU %d", p.Device)
}

// siteItem describes the launch site of work. of is the denominator of its share, in ns.
func siteItem(s inspect.Site, of int64) doc.Item {
	it := doc.Item{Mark: unit.Share(s.TotalNS, of)}
	if s.Unknown {
		it.Text = "launch not recorded"
		return it
	}
	it.Text = siteText(s)
	if len(s.Stack) > 0 {
		it.Sub = doc.List{{Text: stackText(s.Stack)}}
	}
	return it
}

// siteText returns the operator, module, range and pass of a site.
func siteText(s inspect.Site) string {
	var parts []string
	switch {
	case s.Op != "":
		parts = append(parts, name(s.Op))
	case s.Range == "":
		parts = append(parts, "no operator")
	}
	if s.Module != "" {
		parts = append(parts, "module "+name(s.Module))
	}
	if s.Range != "" && s.Range != s.Pass {
		parts = append(parts, "range "+name(s.Range))
	}
	if s.Pass != "" && s.Pass != "unknown" {
		parts = append(parts, s.Pass)
	}
	return strings.Join(parts, ", ")
}

// shownFrames is how many functions of a stack a screen shows.
const shownFrames = 4

// stackText returns the innermost functions of a stack.
func stackText(stack []inspect.Frame) string {
	var parts []string
	for _, f := range stack[:min(shownFrames, len(stack))] {
		parts = append(parts, name(f.Name))
	}
	text := strings.Join(parts, " < ")
	if more := len(stack) - shownFrames; more > 0 {
		text += fmt.Sprintf(" < %d more", more)
	}
	return text
}

// dims shortens the dimensions of arguments, "[[32, 128], [128], []]", to "[32,128] [128]".
func dims(list string) string {
	s := strings.ReplaceAll(strings.ReplaceAll(list, " ", ""), ",[]", "")
	if inner, ok := strings.CutPrefix(s, "[["); ok {
		s = strings.ReplaceAll("["+strings.TrimSuffix(inner, "]"), "],[", "] [")
	}
	return strings.TrimPrefix(s, "[],")
}

// name returns a name for a sentence.
func name(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(no name)"
	}
	return label.Clip(label.Clean(s), 70)
}

// kernel returns the name of a GPU operation for a sentence.
func kernel(s string) string { return `"` + doc.KernelLabel(s) + `"` }

// rest returns the count of rows that are not shown.
func rest(n int) doc.Rest { return doc.Rest{Rows: n} }
