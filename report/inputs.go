package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// numbered reports whether a device needs the number of its input to be told
// from another: whether two inputs have a device of the same rank and number.
func numbered(s *summary.Summary) bool {
	type key struct {
		rank   int
		device int64
	}
	input := map[key]int{}
	for _, d := range s.Devices {
		at := key{d.Rank, d.Device}
		if in, ok := input[at]; ok && in != d.Input {
			return true
		}
		input[at] = d.Input
	}
	clear(input) // a trace and a snapshot of one device are told apart by what they are
	for _, m := range s.Snapshots {
		at := key{m.Rank, m.Device}
		if in, ok := input[at]; ok && in != m.Input {
			return true
		}
		input[at] = m.Input
	}
	return false
}

// inputNumber is what labels call an input: "#3" for the third.
func inputNumber(i int) string { return fmt.Sprintf("#%d", i+1) }

// deviceLabel names a device that is not alone: "rank 0 device 1", with the
// number of its input in front where inputs are numbered.
func deviceLabel(at deviceKey, numbered bool) string {
	label := fmt.Sprintf("rank %d device %d", at.rank, at.device)
	if numbered {
		label = inputNumber(at.input) + " " + label
	}
	return label
}

// deviceLabels names the devices of s, all in the same style: "device 0", with
// the rank where a rank is known or there are several, and with the number of
// the input where inputs are [numbered].
func deviceLabels(s *summary.Summary) []string {
	numbered := numbered(s)
	ranks := numbered || slices.ContainsFunc(s.Devices, func(d summary.Device) bool {
		return d.Rank != s.Devices[0].Rank || d.Input < len(s.Inputs) && s.Inputs[d.Input].RankFrom != "assumed"
	})
	out := make([]string, len(s.Devices))
	for i, d := range s.Devices {
		out[i] = fmt.Sprintf("device %d", d.Device)
		if ranks {
			out[i] = deviceLabel(deviceKey{d.Input, d.Rank, d.Device}, numbered)
		}
	}
	return out
}

// shortPaths returns the paths of the inputs without the directory that all
// are in, and that directory, "" if there is none or only one input.
func shortPaths(s *summary.Summary) (paths []string, dir string) {
	for _, in := range s.Inputs {
		paths = append(paths, in.Path)
	}
	if len(paths) < 2 {
		return paths, ""
	}
	dir = paths[0]
	for _, p := range paths {
		for !strings.HasPrefix(p, dir) || !strings.HasSuffix(dir, "/") && !strings.HasSuffix(dir, `\`) {
			dir = strings.TrimRight(dir, `/\`)
			dir = dir[:strings.LastIndexAny(dir, `/\`)+1]
			if len(dir) < 2 { // nothing, or the root
				return paths, ""
			}
		}
	}
	for i, p := range paths {
		paths[i] = p[len(dir):]
	}
	return paths, dir
}

// keyInputs is how many inputs a list names that explains their numbers.
const keyInputs = 6

// A numberedInput is an input with its number in labels.
type numberedInput struct{ number, path string }

// keySnapshots is how many snapshots have their inputs explained.
const keySnapshots = 4

// numberedInputs returns the inputs with their numbers: those of the devices
// shown, or all if these are few. It is nil where inputs are not numbered.
func numberedInputs(s *summary.Summary, shown []int) (list []numberedInput, rest int) {
	if !numbered(s) {
		return nil, 0
	}
	paths, _ := shortPaths(s)
	labels := shortNames(plainForm, paths, 66)
	wanted := map[int]bool{}
	for _, i := range shown {
		wanted[s.Devices[i].Input] = true
	}
	if len(shown) == 0 {
		rows := sortSnapshots(s)
		for _, m := range rows[:min(keySnapshots, len(rows))] {
			wanted[m.Input] = true
		}
	}
	for i, label := range labels {
		if wanted[i] || len(labels) <= keyInputs {
			list = append(list, numberedInput{inputNumber(i), label})
		}
	}
	return list, len(labels) - len(list)
}

// inputKey lists the inputs by their numbers.
func inputKey(s *summary.Summary, shown []int) (out List) {
	list, rest := numberedInputs(s, shown)
	for _, in := range list {
		out = append(out, Item{Mark: in.number, Text: in.path})
	}
	if rest > 0 {
		out = append(out, Item{Text: plural(int64(rest), "more input")})
	}
	return out
}

// inputCaption explains the numbers of inputs below a picture.
func inputCaption(s *summary.Summary, shown []int) string {
	list, rest := numberedInputs(s, shown)
	var parts []string
	for _, in := range list {
		parts = append(parts, in.number+" "+in.path)
	}
	if rest > 0 {
		parts = append(parts, plural(int64(rest), "more input"))
	}
	switch {
	case parts == nil:
		return ""
	case len(parts) > keyInputs:
		return "The number in front is that of the input in the report."
	}
	return "Inputs: " + strings.Join(parts, ", ") + "."
}

// inputs is the table of what was read.
func (b *builder) inputs() Table {
	paths, dir := shortPaths(b.Summary)
	records := "events"
	if b.sumsOnly() {
		records = "rows"
	}
	numbered := numbered(b.Summary)
	t := Table{Title: "inputs", Columns: []Column{
		{"input", Text}, {"path", Name}, {"format", Text}, {"compression", Text}, {"size", Number}, {records, Number},
		{"rank", Number}, {"rank from", Text}, {"complete", Text},
	}}
	for i, in := range b.Inputs {
		complete := "yes"
		if !in.Complete {
			complete = "no"
		}
		number := ""
		if numbered {
			number = inputNumber(i)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{
			number, clean(paths[i]), clip(clean(in.Format), 30), clip(clean(in.Compression), 30), unit.Bytes(in.Bytes), unit.Count(in.Events),
			fmt.Sprint(in.Rank), clip(clean(in.RankFrom), 30), complete,
		}})
	}
	if dir != "" {
		t.Note = "Paths are below " + clip(clean(dir), 200) + "."
	}
	if numbered {
		t.Note = strings.TrimSpace(t.Note + " Devices are named by the number of their input, for several inputs have a device of the same rank.")
		return t.cut(64)
	}
	t.Columns = t.Columns[1:]
	for i := range t.Rows {
		t.Rows[i].Cells = t.Rows[i].Cells[1:]
	}
	return t.cut(64)
}
