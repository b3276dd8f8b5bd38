package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
)

// Wiring says how the GPUs of nodes are connected, by "nvidia-smi topo -m": with each other, with network adapters, and
// which GPUs have worse connections than others. It is "" without such a matrix.
func Wiring(s *summary.Summary) string {
	m := machineOf(s)
	var texts []string
	for _, node := range m.nodes {
		text := m.wiring(node)
		if text != "" && !slices.ContainsFunc(texts, func(o string) bool { return strings.HasSuffix(o, text) }) {
			texts = append(texts, strings.TrimPrefix(node+": "+text, ": "))
		}
	}
	if more := len(texts) - 2; more > 0 {
		texts = append(texts[:2], label.Plural(int64(more), "other kind")+" of nodes")
	}
	return strings.Join(texts, "; ")
}

// ofOneGPU makes one fault of those of all pairs of a GPU: the GPU is at fault, not each of its peers.
func ofOneGPU(faults []fault, all []*value) (out []fault) {
	type gpu struct{ node, part string }
	pairs, bad := map[gpu]int{}, map[gpu][]int{}
	for _, v := range all {
		for part := range strings.SplitSeq(v.part, " - ") {
			pairs[gpu{v.node, part}]++
		}
	}
	for i := range faults {
		for part := range strings.SplitSeq(faults[i].part, " - ") {
			g := gpu{faults[i].node, part}
			bad[g] = append(bad[g], i)
		}
	}
	merged := map[int]bool{}
	for i := range faults {
		for part := range strings.SplitSeq(faults[i].part, " - ") {
			g := gpu{faults[i].node, part}
			if merged[i] || pairs[g] < 2 || len(bad[g]) < pairs[g] {
				continue
			}
			kinds := wire{}
			for _, k := range bad[g] {
				merged[k] = true
				kinds[faults[k].now]++
			}
			one, v := faults[i], *faults[i].value
			v.part, one.value = part, &v
			one.said = fmt.Sprintf("connected with each other GPU by %s, %s between other GPUs", strings.Join(kindsOf(kinds), " or "), one.other)
			if kinds.links() == 0 && strings.HasPrefix(one.other, "NV") {
				one.said = fmt.Sprintf("no NVLink to another GPU (%s), %s between other GPUs", strings.Join(kindsOf(kinds), " or "), one.other)
			}
			out = append(out, one)
		}
		if !merged[i] {
			out = append(out, faults[i])
		}
	}
	return out
}

// A wire counts the connections of one GPU with others, by kind.
type wire map[string]int

func (w wire) links() (n int) {
	for kind, count := range w {
		if strings.HasPrefix(kind, "NV") {
			n += count
		}
	}
	return n
}

func (w wire) text() string {
	var parts []string
	for _, kind := range kindsOf(w) {
		parts = append(parts, fmt.Sprintf("%d %s", w[kind], kind))
	}
	return strings.Join(parts, ", ")
}

// kindsOf returns kinds of connections, the best first: NVLinks, the more the better, then as near as they are.
func kindsOf(w wire) []string {
	out := slices.Sorted(maps.Keys(w))
	slices.SortStableFunc(out, func(a, b string) int {
		order := []string{"PIX", "PXB", "PHB", "NODE", "SYS"}
		x, y := slices.Index(order, a), slices.Index(order, b)
		return cmp.Or(x-y, cmp.Compare(len(b), len(a)), cmp.Compare(b, a))
	})
	return out
}

// wiring describes the connections of the GPUs of one node.
func (m *machine) wiring(node string) string {
	all, of := wire{}, map[int]wire{}
	near, numa := map[string][]int{}, map[string][]int{}
	for _, v := range m.values {
		gpu, isGPU := gpuNumber(v.part)
		switch {
		case v.node != node:
		case v.property == "topo.pair":
			all[v.last()]++
			for part := range strings.SplitSeq(v.part, " - ") {
				n, _ := gpuNumber(part)
				if of[int(n)] == nil {
					of[int(n)] = wire{}
				}
				of[int(n)][v.last()]++
			}
		case v.property == "topo.adapter" && isGPU:
			near[v.last()] = append(near[v.last()], int(gpu))
		case v.property == "topo.numa" && isGPU:
			numa[v.last()] = append(numa[v.last()], int(gpu))
		}
	}
	if len(of) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s, each pair connected by %s", label.Plural(int64(len(of)), "GPU"), kindsOf(all)[0])
	if len(all) > 1 {
		text = fmt.Sprintf("%s, pairs connected by %s", label.Plural(int64(len(of)), "GPU"), all.text())
	}
	if all.links() == 0 {
		text += ", no NVLink"
	}
	kinds := map[string][]int{}
	for gpu, w := range of {
		kinds[w.text()] = append(kinds[w.text()], gpu)
	}
	if text += "; equal for each GPU"; len(kinds) > 1 {
		text = strings.TrimSuffix(text, "equal for each GPU") + "unequal: " + grouped(kinds, "%s")
	}
	for _, part := range []string{grouped(near, "nearest network adapter at %s"), grouped(numa, "NUMA node %s")} {
		if part != "" {
			text += "; " + part
		}
	}
	return text
}

// grouped says which GPUs have each value, or the value alone if all have one.
func grouped(of map[string][]int, format string) string {
	var out []string
	values := slices.Collect(maps.Keys(of))
	slices.SortFunc(values, func(a, b string) int { return slices.Min(of[a]) - slices.Min(of[b]) })
	for _, v := range values {
		text := fmt.Sprintf(format, label.Clip(label.Clean(v), 40))
		if gpus := slices.Sorted(slices.Values(of[v])); len(values) > 1 {
			text += " (GPU " + strings.Trim(strings.ReplaceAll(fmt.Sprint(gpus), " ", ", "), "[]") + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out[:min(4, len(out))], ", ")
}
