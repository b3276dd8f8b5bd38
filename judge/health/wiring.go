package health

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/summary"
)

// connections is the order of connections, the best first; NVLinks come before all of them.
var connections = []string{"PIX", "PXB", "PHB", "NODE", "SYS"}

// mostNodes is the number of nodes whose connections a sentence describes.
const mostNodes = 2

// Wiring says how the GPUs of nodes are connected, by "nvidia-smi topo -m": with each other, with network adapters, and
// which GPUs have worse connections than others. It is "" without such a matrix.
func Wiring(s *summary.Summary) string {
	m := machineOf(s)
	texts, nodes := []string{}, map[string][]string{}
	for _, node := range m.nodes {
		text := m.wiring(node)
		if text == "" {
			continue
		}
		if nodes[text] == nil {
			texts = append(texts, text)
		}
		nodes[text] = append(nodes[text], node)
	}
	for i, text := range texts {
		switch of := nodes[text]; {
		case len(of) > 1:
			texts[i] = fmt.Sprintf("%d nodes with %s", len(of), text)
		case len(texts) > 1 && of[0] != "":
			texts[i] = of[0] + ": " + text
		}
	}
	if more := len(texts) - mostNodes; more > 0 {
		texts = append(texts[:mostNodes], label.Plural(int64(more), "other kind")+" of nodes")
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

// kindsOf returns kinds of connections, the best first.
func kindsOf(w wire) (out []string) {
	for kind := range w {
		out = append(out, kind)
	}
	slices.SortFunc(out, func(a, b string) int {
		x, y := slices.Index(connections, a), slices.Index(connections, b)
		if x != y {
			return x - y
		}
		return linksOf(b) - linksOf(a)
	})
	return out
}

func linksOf(kind string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(kind, "NV"))
	return n
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
	text += "; " + unequal(of)
	if near := grouped(near, "nearest network adapter at %s"); near != "" {
		text += "; " + near
	}
	if numa := grouped(numa, "NUMA node %s"); numa != "" {
		text += "; " + numa
	}
	return text
}

// unequal names the GPUs with worse connections than most: fewer NVLinks, else more pairs across sockets.
func unequal(of map[int]wire) string {
	kinds := map[string][]int{}
	for gpu, w := range of {
		kinds[w.text()] = append(kinds[w.text()], gpu)
	}
	if len(kinds) == 1 {
		return "equal for each GPU"
	}
	var list []string
	for text := range kinds {
		slices.Sort(kinds[text])
		list = append(list, text)
	}
	slices.SortFunc(list, func(a, b string) int { // the usual one first
		if n := len(kinds[b]) - len(kinds[a]); n != 0 {
			return n
		}
		return kinds[a][0] - kinds[b][0]
	})
	for i, text := range list {
		gpus := kinds[text]
		list[i] = gpuList(gpus) + " have " + text
		if len(gpus) == 1 {
			list[i] = gpuList(gpus) + " has " + text
		}
		if w := of[gpus[0]]; w.links() == 0 && slices.ContainsFunc(keysOf(of), func(g int) bool { return of[g].links() > 0 }) {
			list[i] += " (no NVLink)"
		}
	}
	return "unequal: " + strings.Join(list[:min(3, len(list))], "; ")
}

func keysOf(of map[int]wire) (out []int) {
	for gpu := range of {
		out = append(out, gpu)
	}
	return out
}

// grouped says which GPUs have each value, or the value alone if all have one.
func grouped(of map[string][]int, format string) string {
	var values []string
	for v := range of {
		slices.Sort(of[v])
		values = append(values, v)
	}
	slices.SortFunc(values, func(a, b string) int { return of[a][0] - of[b][0] })
	var out []string
	for _, v := range values {
		text := fmt.Sprintf(format, label.Clip(label.Clean(v), 20))
		if len(values) > 1 {
			text += " (" + gpuList(of[v]) + ")"
		}
		out = append(out, text)
	}
	return strings.Join(out[:min(4, len(out))], ", ")
}

// gpuList returns "GPUs 0-3, 5".
func gpuList(gpus []int) string {
	var parts []string
	for i := 0; i < len(gpus); {
		k := i
		for k+1 < len(gpus) && gpus[k+1] == gpus[k]+1 {
			k++
		}
		switch {
		case k > i+1:
			parts = append(parts, fmt.Sprintf("%d-%d", gpus[i], gpus[k]))
		case k > i:
			parts = append(parts, fmt.Sprint(gpus[i]), fmt.Sprint(gpus[k]))
		default:
			parts = append(parts, fmt.Sprint(gpus[i]))
		}
		i = k + 1
	}
	if len(gpus) == 1 {
		return "GPU " + parts[0]
	}
	return "GPUs " + strings.Join(parts, ", ")
}
