package health

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/summary"
)

// A value is what is known of one property of one part of a node.
type value struct {
	node, part, property, name string
	texts                      []string // the values, in the order of the inputs
	input                      int
}

// A machine has the values of all nodes.
type machine struct {
	values []*value
	index  map[string]*value
	nodes  []string
	fell   map[string]bool // parts with a counter that falls, by node and part
}

// machineOf joins the rows of all inputs: those of one node, and the names of one GPU, which tools call by its index or
// by its bus.
func machineOf(s *summary.Summary) *machine {
	m := &machine{index: map[string]*value{}, fell: map[string]bool{}}
	nodes := nodesOf(s)
	numbers := map[string]string{} // of GPUs, by node and bus
	for _, h := range s.Health {
		if h.Property == "gpu.index" {
			numbers[nodeOf(h, nodes)+" "+busOf(h.Part)] = "GPU " + h.Value
		}
	}
	rows := slices.Clone(s.Health)
	slices.SortStableFunc(rows, func(a, b summary.Health) int { return cmp.Compare(moment(s, a.Input), moment(s, b.Input)) })
	for _, h := range rows {
		node, part := nodeOf(h, nodes), h.Part
		if n := numbers[node+" "+busOf(part)]; n != "" && strings.HasPrefix(part, "GPU ") {
			part = n
		}
		key := strings.Join([]string{node, part, h.Property, h.Name}, "\x00")
		v := m.index[key]
		if v == nil {
			v = &value{node: node, part: part, property: h.Property, name: h.Name, input: h.Input}
			m.index[key] = v
			m.values = append(m.values, v)
			if !slices.Contains(m.nodes, node) {
				m.nodes = append(m.nodes, node)
			}
		}
		if h.First != "" {
			v.texts = append(v.texts, h.First)
		}
		v.texts = append(v.texts, h.Value)
	}
	m.findFalls()
	return m
}

var (
	isBefore = lazyregexp.New(`(?i)(^|[^a-z])(before|pre|start|first|old)([^a-z]|$)`)
	isAfter  = lazyregexp.New(`(?i)(^|[^a-z])(after|later|post|end|last|new)([^a-z]|$)`)
)

// moment orders the dumps of a part by what their names say; other names are in their own order.
func moment(s *summary.Summary, input int) int {
	name := path.Base(strings.ReplaceAll(s.Inputs[input].Path, `\`, "/"))
	switch {
	case isBefore().MatchString(name):
		return -1
	case isAfter().MatchString(name):
		return 1
	}
	return 0
}

// busOf returns the part of the address of a GPU on the bus in which all tools agree: "18:00".
func busOf(part string) string {
	words := strings.Split(strings.ToLower(strings.TrimPrefix(part, "GPU ")), ":")
	if len(words) < 2 {
		return part
	}
	device, _, _ := strings.Cut(words[len(words)-1], ".")
	return words[len(words)-2] + ":" + device
}

func nodeOf(h summary.Health, nodes map[int]string) string {
	if h.Node != "" {
		return label.Clip(label.Clean(h.Node), 40)
	}
	return nodes[h.Input]
}

// nodesOf returns the node of each input. One folder belongs to one node, unless its inputs have other GPUs or adapters
// under the same name: then each file with others is a node of its own.
func nodesOf(s *summary.Summary) map[int]string {
	identities := map[int]map[string]string{}
	folders := map[string][]int{}
	for _, h := range s.Health {
		if identities[h.Input] == nil {
			identities[h.Input] = map[string]string{}
			dir := folderOf(s, h.Input)
			folders[dir] = append(folders[dir], h.Input)
		}
		if h.Property == "gpu.uuid" || h.Property == "ib.guid" {
			identities[h.Input][h.Part] = h.Value
		}
	}
	out := map[int]string{}
	for dir, inputs := range folders {
		apart := false
		for i, a := range inputs {
			for _, b := range inputs[:i] {
				apart = apart || unlike(identities[a], identities[b])
			}
		}
		for _, i := range inputs {
			switch {
			case apart:
				base := path.Base(strings.ReplaceAll(s.Inputs[i].Path, `\`, "/"))
				out[i] = strings.TrimSuffix(base, path.Ext(base))
				for _, o := range inputs { // before and after on one node
					if o < i && len(identities[i]) > 0 && len(identities[o]) > 0 && !unlike(identities[i], identities[o]) {
						out[i] = out[o]
						break
					}
				}
			case len(folders) > 1:
				out[i] = path.Base(dir)
			}
			out[i] = label.Clip(label.Clean(out[i]), 40)
		}
	}
	return out
}

// Node returns the name of the node of an input, or "" if all dumps of machines are of one.
func Node(s *summary.Summary, input int) string { return nodesOf(s)[input] }

func folderOf(s *summary.Summary, input int) string {
	return path.Dir(strings.ReplaceAll(s.Inputs[input].Path, `\`, "/"))
}

// unlike reports whether one part has two identities.
func unlike(a, b map[string]string) bool {
	for part, id := range a {
		if other, ok := b[part]; ok && other != id {
			return true
		}
	}
	return false
}

func (m *machine) of(node, part, property string) *value {
	return m.index[strings.Join([]string{node, part, property, ""}, "\x00")]
}

// last returns the last value.
func (v *value) last() string { return v.texts[len(v.texts)-1] }

// number returns the number with which a text begins, without its unit.
func number(text string) (float64, bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	word = strings.TrimSuffix(strings.TrimSuffix(word, "x"), "%")
	n, err := strconv.ParseFloat(word, 64)
	return n, err == nil
}

// growth returns the largest value of a counter, and by how much it grew; -1 if it was read once. Counters of one part
// do not fall together with others that rise: where one falls, the part was reset or is another one, and each reading
// stands alone.
func (m *machine) growth(v *value) (most, growth float64, ok bool) {
	growth = -1
	for i, text := range v.texts {
		n, isNumber := number(text)
		if !isNumber {
			return 0, 0, false
		}
		if i > 0 {
			before, _ := number(v.texts[i-1])
			growth = max(growth, 0) + n - before
		}
		most = max(most, n)
	}
	if m.fell[v.node+"\x00"+v.part] {
		growth = -1
	}
	return most, growth, true
}

// findFalls finds the parts with a counter that falls.
func (m *machine) findFalls() {
	for _, v := range m.values {
		if !strings.HasPrefix(v.property, "port.") && !strings.HasPrefix(v.property, "nvlink.") && v.property != "gpu.pcie_replays" {
			continue
		}
		for i := 1; i < len(v.texts); i++ {
			before, okA := number(v.texts[i-1])
			n, okB := number(v.texts[i])
			if okA && okB && n < before {
				m.fell[v.node+"\x00"+v.part] = true
			}
		}
	}
}

// class names the parts that are equal by their making, so that they can be compared; "" if that is unknown.
func (m *machine) class(v *value) string {
	switch {
	case v.part == "host":
		return v.property + m.modelsOf(v.node)
	case strings.HasPrefix(v.property, "ib."):
		adapter, _, _ := strings.Cut(v.part, " port ")
		if t := m.of(v.node, adapter, "ib.type"); t != nil {
			class := v.property + " " + t.last()
			if l := m.of(v.node, v.part, "ib.layer"); l != nil {
				class += " " + l.last()
			}
			return class
		}
	case strings.HasPrefix(v.property, "gpu."):
		if t := m.of(v.node, v.part, "gpu.model"); t != nil {
			return v.property + " " + t.last()
		}
	case strings.HasPrefix(v.property, "nvlink.") || strings.HasPrefix(v.property, "topo."):
		return v.property
	}
	return ""
}

// modelsOf returns the models of the GPUs of a node: hosts with others are built for other work.
func (m *machine) modelsOf(node string) string {
	var models []string
	for _, v := range m.values {
		if v.node == node && v.property == "gpu.model" && !slices.Contains(models, v.last()) {
			models = append(models, v.last())
		}
	}
	slices.Sort(models)
	return " " + strings.Join(models, ", ")
}

// names returns the parts of faults for a title: "node-2 GPU 5", "GPUs 1, 5".
func (m *machine) names(list []fault) string {
	var out []string
	same := true
	for _, f := range list {
		same = same && f.node == list[0].node
	}
	numbers := true
	for _, f := range list {
		n, ok := strings.CutPrefix(f.part, "GPU ")
		numbers = numbers && ok && strings.Trim(n, "0123456789") == ""
	}
	for _, f := range list {
		text := f.part
		if numbers && same && len(list) > 1 {
			text = strings.TrimPrefix(text, "GPU ")
		}
		if text == "host" {
			text = ""
		}
		if f.node != "" && len(m.nodes) > 1 && !same {
			text = strings.TrimSpace(f.node + " " + text)
		}
		if text = strings.TrimSpace(text); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	text := strings.Join(out[:min(4, len(out))], ", ")
	if more := len(out) - 4; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if numbers && same && len(list) > 1 {
		text = "GPUs " + text
	}
	if same && list[0].node != "" && len(m.nodes) > 1 {
		text = strings.TrimSpace(list[0].node + " " + text)
	}
	if text == "" {
		text = "The host"
	}
	return label.Clip(label.Clean(text), 120)
}
