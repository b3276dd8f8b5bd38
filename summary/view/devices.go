package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/summary"
)

// Numbered reports whether labels of devices need the number of the input, because two inputs have a device
// with the same rank and number.
func Numbered(s *summary.Summary) bool {
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
	clear(input) // a trace and a snapshot of one GPU need no number
	for _, m := range s.Snapshots {
		at := key{m.Rank, m.Device}
		if in, ok := input[at]; ok && in != m.Input {
			return true
		}
		input[at] = m.Input
	}
	return false
}

// InputNumber returns the label of an input: "#3" for the third.
func InputNumber(i int) string { return fmt.Sprintf("#%d", i+1) }

// DeviceLabel names one of several devices: "rank 0 GPU 1", preceded by the number of its input if inputs
// are numbered.
func DeviceLabel(at summary.GPU, numbered bool) string {
	label := fmt.Sprintf("rank %d GPU %d", at.Rank, at.Device)
	if numbered {
		label = InputNumber(at.Input) + " " + label
	}
	return label
}

// DeviceLabels names the devices of s, all in the same style: "GPU 0", with the rank if a rank is known or
// there are several, and with the number of the input if inputs are [Numbered].
func DeviceLabels(s *summary.Summary) []string {
	numbered := Numbered(s)
	ranks := numbered || slices.ContainsFunc(s.Devices, func(d summary.Device) bool {
		return d.Rank != s.Devices[0].Rank || d.Input < len(s.Inputs) && s.Inputs[d.Input].RankFrom != "assumed"
	})
	out := make([]string, len(s.Devices))
	for i, d := range s.Devices {
		out[i] = fmt.Sprintf("GPU %d", d.Device)
		if ranks {
			out[i] = DeviceLabel(summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}, numbered)
		}
	}
	return out
}

// ShortPaths returns the paths of the inputs without their common directory, and that directory; "" if
// there is none or only one input.
func ShortPaths(s *summary.Summary) (paths []string, dir string) {
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
			if len(dir) < 2 { // no common directory, or the root
				return paths, ""
			}
		}
	}
	for i, p := range paths {
		paths[i] = p[len(dir):]
	}
	return paths, dir
}

// KeyInputs is how many inputs a list names that explains input numbers.
const KeyInputs = 6

type numberedInput struct{ Number, Path string }

// keySnapshots is for how many snapshots such a list names the inputs.
const keySnapshots = 4

// NumberedInputs returns the inputs with their numbers: the inputs of the devices shown, or all if these
// are few. It is nil if inputs are not numbered.
func NumberedInputs(s *summary.Summary, shown []int) (list []numberedInput, rest int) {
	if !Numbered(s) {
		return nil, 0
	}
	paths, _ := ShortPaths(s)
	labels := label.Short(label.Plain, paths, 66)
	wanted := map[int]bool{}
	for _, i := range shown {
		wanted[s.Devices[i].Input] = true
	}
	if len(shown) == 0 {
		rows := Snapshots(s)
		for _, m := range rows[:min(keySnapshots, len(rows))] {
			wanted[m.Input] = true
		}
	}
	for i, label := range labels {
		if wanted[i] || len(labels) <= KeyInputs {
			list = append(list, numberedInput{InputNumber(i), label})
		}
	}
	return list, len(labels) - len(list)
}

// IdleShare returns the idle time as a share of the window, 0 for an empty window.
func IdleShare(a summary.Activity) float64 {
	return float64(a.Idle()) / float64(max(1, a.Window()))
}

// WorstOf returns at most n of the devices, those with the largest share of idle time, in ascending order of
// their indices. See [Choose].
func WorstOf(s *summary.Summary, devices []int, n int) []int {
	share := func(i int) float64 { return IdleShare(s.Devices[i].Activity) }
	order := slices.Clone(devices)
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(share(j), share(i)) })
	order = order[:min(n, len(order))]
	slices.Sort(order)
	return order
}

// DeviceNames returns the product names of the devices, each with its count: "8 × NVIDIA H100 80GB HBM3";
// "" if no device has a name.
func DeviceNames(s *summary.Summary) string {
	var names []string
	count := map[string]int64{}
	whose, seen := whoseOf(s), map[summary.GPU]bool{}
	for _, d := range s.Devices {
		gpu := summary.GPU{Input: whose(d.Input), Rank: d.Rank, Device: d.Device}
		if seen[gpu] {
			continue
		}
		seen[gpu] = true
		if name := strings.TrimSpace(label.Clean(d.Name)); name != "" {
			if count[name] == 0 {
				names = append(names, name)
			}
			count[name]++
		}
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = label.Clip(name, 60)
		if len(seen) > 1 {
			names[i] = unit.Count(count[name]) + " × " + names[i]
		}
	}
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return strings.Join(names, ", ")
}
