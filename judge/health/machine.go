package health

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/summary"
)

// A value is what is known of one property of one part of a node.
type value struct {
	node, part, property, name string
	texts                      []string // the values, the oldest first
	from                       []origin // of each value
	input                      int      // of the last
	times                      int64
}

// A machine has the values of all nodes.
type machine struct {
	values   []*value
	index    map[string]*value
	nodes    []string
	inputs   []string           // names of the files
	mixed    map[[2]string]bool // by node and part
	numbered map[int]bool       // inputs whose number may be of a moment or of a host
	kinds    map[string]string  // the GPUs of a node, as far as they are known
	counts   map[[2]string]int  // of the parts with a property, by node and property
}

// machineOf joins the rows of all inputs: those of one node, and the names of one GPU, which tools call by its index or
// by its bus.
func machineOf(s *summary.Summary) *machine {
	m := &machine{index: map[string]*value{}}
	for i := range s.Inputs {
		m.inputs = append(m.inputs, path.Base(strings.ReplaceAll(s.Inputs[i].Path, `\`, "/")))
	}
	nodes := nodesOf(s)
	m.numbered = separatePorts(s, nodes)
	numbers := map[string]string{} // of GPUs, by node and bus
	for _, h := range s.Health {
		if h.Property == "gpu.index" {
			numbers[nodeOf(h, nodes)+" "+busOf(h.Part)] = "GPU " + h.Value
		}
	}
	rows := slices.Clone(s.Health)
	slices.SortStableFunc(rows, func(a, b summary.Health) int { return moment(s, a.Input) - moment(s, b.Input) })
	dates := datesOf(s)
	for _, h := range rows {
		if !isMessage(h.Property) {
			h.At = cmp.Or(h.At, dates[h.Input])
		}
		node, part := nodeOf(h, nodes), h.Part
		if n := numbers[node+" "+busOf(part)]; n != "" && strings.HasPrefix(part, "GPU ") {
			part = n
		}
		is := value{node: node, part: part, property: h.Property, name: h.Name}
		v := m.index[is.key()]
		if v == nil {
			v = &is
			m.index[is.key()] = v
			m.values = append(m.values, v)
			if !slices.Contains(m.nodes, node) {
				m.nodes = append(m.nodes, node)
			}
		}
		if h.First != "" {
			v.texts, v.from = append(v.texts, h.First), append(v.from, origin{h.Input, h.At, true})
		}
		v.texts, v.from, v.times = append(v.texts, h.Value), append(v.from, origin{h.Input, h.At, false}), v.times+h.Times
	}
	for _, v := range m.values {
		v.inOrder()
	}
	m.count()
	return m
}

// moment tells inputs of one part by their names: -1 before something, 1 after it, 0 without such a word for it.
func moment(s *summary.Summary, input int) int {
	for _, word := range strings.FieldsFunc(strings.ToLower(path.Base(s.Inputs[input].Path)), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch word {
		case "before", "pre", "start":
			return -1
		case "after", "post", "later", "end":
			return 1
		}
	}
	return 0
}

// count finds what each node has, and the parts whose counters rise and fall between two moments: they are of several
// ports of one name.
func (m *machine) count() {
	m.mixed, m.kinds, m.counts = map[[2]string]bool{}, map[string]string{}, map[[2]string]int{}
	rises, falls := map[[2]string]bool{}, map[[2]string]bool{}
	for _, v := range m.values {
		m.counts[[2]string{v.node, v.property}]++
		if v.property == "gpu.model" && !strings.Contains(m.kinds[v.node], v.last()) {
			m.kinds[v.node] += v.last() + " "
		}
		if !strings.HasPrefix(v.property, "port.") && !strings.HasPrefix(v.property, "nvlink.") {
			continue
		}
		for i := range v.texts[1:] {
			a, okA := number(v.texts[i])
			b, okB := number(v.texts[i+1])
			key := [2]string{v.node, v.part}
			unknown := v.from[i].input != v.from[i+1].input && m.numbered[v.from[i].input]
			rises[key] = rises[key] || okA && okB && b > a || unknown
			falls[key] = falls[key] || okA && okB && b < a || unknown
			m.mixed[key] = rises[key] && falls[key]
		}
	}
}

// key tells the values of a machine apart.
func (v *value) key() string {
	return strings.Join([]string{v.node, v.part, v.property, v.name}, "\x00")
}

// gpuNumber returns the number of a GPU that a tool calls by it.
func gpuNumber(part string) (int64, bool) {
	digits, ok := strings.CutPrefix(part, "GPU ")
	n, err := strconv.ParseInt(digits, 10, 64)
	return n, ok && err == nil
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
		host := hostOf(s, inputs)
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
			case host != "":
				out[i] = host
			case len(folders) > 1:
				out[i] = path.Base(dir)
			}
			out[i] = label.Clip(label.Clean(out[i]), 40)
		}
	}
	return out
}

// hostOf returns the host that messages in the inputs of one folder name, or "" if they name none or several.
func hostOf(s *summary.Summary, inputs []int) (host string) {
	for _, h := range s.Health {
		if h.Node == "" || !slices.Contains(inputs, h.Input) || strings.HasPrefix(h.Property, "ras.") {
			continue
		}
		if host != "" && host != h.Node {
			return ""
		}
		host = h.Node
	}
	return host
}

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

// unitOf returns the unit behind the number of a text.
func unitOf(text string) string {
	_, of, _ := strings.Cut(strings.TrimSpace(text), " ")
	return of
}

// growth returns the last value of a counter, and by how much it grew. A counter that falls was reset.
func (v *value) growth() (last, growth float64, ok bool) {
	for i, text := range v.texts {
		n, isNumber := number(text)
		switch {
		case !isNumber:
			return 0, 0, false
		case i > 0 && n >= last:
			growth += n - last
		case i > 0:
			growth += n
		}
		last = n
	}
	return last, growth, true
}

// text returns the last value of a property of a part, or "".
func (m *machine) text(node, part, property string) string {
	if v := m.of(node, part, property); v != nil {
		return v.last()
	}
	return ""
}

// class names the parts that are equal by their making, so that they can be compared; "" if that is unknown.
func (m *machine) class(v *value) string {
	switch {
	case v.part == "host":
		return v.property + " " + m.kinds[v.node]
	case strings.HasPrefix(v.property, "ib."):
		adapter, _, _ := strings.Cut(v.part, " port ")
		if t := m.text(v.node, adapter, "ib.type"); t != "" {
			return v.property + " " + t + " " + m.text(v.node, v.part, "ib.layer")
		}
	case strings.HasPrefix(v.property, "topo."):
		return fmt.Sprint(v.property, m.counts[[2]string{v.node, v.property}], m.kinds[v.node])
	case strings.HasPrefix(v.property, "gpu."):
		if t := m.text(v.node, v.part, "gpu.model"); t != "" {
			return v.property + " " + t + " " + m.text(v.node, v.part, "gpu.board")
		}
	case strings.HasPrefix(v.property, "nvlink."):
		gpu, _, _ := strings.Cut(v.part, " link ")
		return v.property + " " + m.text(v.node, gpu, "gpu.model")
	}
	return ""
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
		if !same {
			text = f.node + " " + text
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
	if same {
		text = strings.TrimSpace(list[0].node + " " + text)
	}
	if text == "" {
		text = "The host"
	}
	return label.Clip(label.Clean(text), 120)
}
