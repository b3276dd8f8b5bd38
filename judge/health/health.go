// Package health has the rules on what machines say of their GPUs, links and ports. The properties are data
// (properties.txt): what is healthy, what a value means, and what helps. So a reader of another tool needs no rule.
//
// machine.go joins the rows of all inputs by node and part; health.go checks them.
package health

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// An Evaluator applies the rules to a summary.
type Evaluator struct{ *tree.Context }

// Rules returns the rules on the health of machines.
func (e *Evaluator) Rules() (out []tree.Row) {
	for _, id := range []string{rule.GPUFault, rule.LinkFault, rule.UnlikePeers} {
		out = append(out, tree.Row{ID: id, Part: tree.BasisLogs, Measure: func() []tree.Reading { return e.measure(id) }})
	}
	return out
}

//go:embed properties.txt
var propertiesText string

// A property is a line of properties.txt.
type property struct {
	name, check, rule, level, remedy, text string
}

var properties = sync.OnceValue(func() (out []property) {
	for line := range strings.Lines(propertiesText) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(cells) != 6 {
			continue
		}
		out = append(out, property{cells[0], cells[1], cells[2], cells[3], cells[4], cells[5]})
	}
	return out
})

// A fault is a part with a value that is not healthy.
type fault struct {
	*value
	property *property
	now      string
	other    string
}

// faults returns the faults that a summary shows, in the order of properties.txt.
func faults(m *machine) (out []fault) {
	known := map[string]bool{} // parts whose value has a fault of its own need no peers
	for i := range properties() {
		p := &properties()[i]
		var values []*value
		for _, v := range m.values {
			if p.matches(v.property) && !firstOther(v.property, p) {
				values = append(values, v)
			}
		}
		for _, f := range m.check(p, values) {
			key := f.node + "\x00" + f.part + "\x00" + f.value.property
			if !known[key] || f.name != "" {
				known[key] = true
				out = append(out, f)
			}
		}
	}
	return out
}

func (p *property) matches(name string) bool {
	if prefix, ok := strings.CutSuffix(p.name, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}
	return p.name == name
}

// firstOther reports whether a property has a line of its own, so that the line with a star is not for it.
func firstOther(name string, p *property) bool {
	return strings.HasSuffix(p.name, "*") && slices.ContainsFunc(properties(), func(o property) bool { return o.name == name })
}

// check returns the faults of the values of one property.
func (m *machine) check(p *property, values []*value) (out []fault) {
	kind, rest, _ := strings.Cut(p.check, " ")
	switch kind {
	case "peers":
		return m.peers(p, values, func(*value, string) bool { return true })
	case "worse":
		return m.designed(m.peers(p, values, func(v *value, usual string) bool { return better(usual, v.last()) }))
	case "missing":
		return m.peers(p, values, func(v *value, usual string) bool {
			n, _ := number(v.last())
			most, _ := number(usual)
			return n < most && 2*n > most // fewer are a part that a container or a scheduler gives
		})
	case "slower":
		return m.slower(p, values, rest)
	case "inactive":
		return m.inactive(p, values)
	case "down":
		return m.down(p, values)
	}
	for _, v := range values {
		if now, other, bad := m.isFault(kind, rest, v); bad {
			out = append(out, fault{v, p, now, other})
		}
	}
	return out
}

// isFault checks one value, without its peers.
func (m *machine) isFault(kind, rest string, v *value) (now, other string, bad bool) {
	switch kind {
	case "any":
		return v.last(), "", true
	case "is":
		return v.last(), "", healthy(v.last(), rest)
	case "not":
		for _, text := range v.texts {
			if !healthy(text, rest) {
				return text, "", true
			}
		}
	case "below":
		of := m.of(v.node, v.part, rest)
		if of == nil {
			return "", "", false
		}
		a, okA := number(v.last())
		b, okB := number(of.last())
		return v.last(), of.last(), okA && okB && a < 0.99*b
	case "grows":
		most, growth, ok := m.growth(v)
		var by, single float64
		var never string
		fmt.Sscanf(rest, "%g %s", &by, &never)
		_, err := fmt.Sscan(never, &single)
		switch {
		case ok && growth > by:
			return fmt.Sprintf("%.0f", growth), "", true
		case ok && growth < 0 && err == nil && most > single:
			return fmt.Sprintf("%.0f", most), "", true
		}
	}
	return "", "", false
}

// healthy reports whether a text is one of a list.
func healthy(text, list string) bool {
	return slices.Contains(strings.Split(list, ","), strings.ReplaceAll(text, " ", "_")) || slices.Contains(strings.Split(list, ","), text)
}

// better decides which of two values is the usual one where as many parts have either: the larger number, or the
// faster connection.
func better(a, b string) bool {
	x, okX := speed(a)
	y, okY := speed(b)
	if okX && okY && x != y {
		return x > y
	}
	return a > b
}

// connections are the ways in which GPUs are connected within a host, the slowest first.
var connections = []string{"SYS", "NODE", "PHB", "PXB", "PIX"}

// speed returns the number of a value, or one by which connections can be compared: NVLinks before all others.
func speed(text string) (float64, bool) {
	if links, ok := strings.CutPrefix(text, "NV"); ok {
		n, isNumber := number(links)
		return n + float64(len(connections)), isNumber
	}
	if i := slices.Index(connections, text); i >= 0 {
		return float64(i), true
	}
	return number(text)
}

// peers returns the values that differ from those of most equal parts, if odd says that the difference is a fault. Of
// two parts, the one with the lower value is named.
func (m *machine) peers(p *property, values []*value, odd func(v *value, usual string) bool) (out []fault) {
	classes := map[string][]*value{}
	for _, v := range values {
		if c := m.class(v); c != "" && !strings.HasPrefix(strings.ToLower(v.last()), "<inactive>") {
			classes[c] = append(classes[c], v)
		}
	}
	var order []string
	for c := range classes {
		order = append(order, c)
	}
	slices.Sort(order)
	for _, c := range order {
		list := classes[c]
		counts := map[string]int{}
		for _, v := range list {
			counts[v.last()]++
		}
		usual := ""
		for text, n := range counts {
			if n > counts[usual] || n == counts[usual] && (usual == "" || better(text, usual)) {
				usual = text
			}
		}
		// Without a clear majority the parts are of several kinds, and none of them is odd.
		if len(counts) == 1 || len(list) > 2 && 4*counts[usual] < 3*len(list) {
			continue
		}
		for _, v := range list {
			if v.last() != usual && odd(v, usual) {
				out = append(out, fault{v, p, v.last(), usual})
			}
		}
	}
	return out
}

// slower returns the parts in use with a number under nine tenths of the median of equal parts in use, where nothing
// that slows a GPU is reported: that has a rule of its own.
func (m *machine) slower(p *property, values []*value, use string) (out []fault) {
	classes := map[string][]*value{}
	for _, v := range values {
		u := m.of(v.node, v.part, use)
		if u == nil {
			continue
		}
		if busy, ok := number(u.last()); ok && busy >= 50 && m.class(v) != "" {
			class := m.class(v)
			if c := m.of(v.node, v.part, "gpu.reason_power_cap"); c != nil {
				class += " " + c.last() // one at its power limit does heavier work than one that is not
			}
			classes[class] = append(classes[class], v)
		}
	}
	for _, list := range classes {
		var all []float64
		for _, v := range list {
			if n, ok := number(v.last()); ok {
				all = append(all, n)
			}
		}
		if len(all) < 3 || len(all) != len(list) {
			continue
		}
		median := stat.Median(slices.Clone(all))
		for i, v := range list {
			if all[i] < 0.9*median && m.reason(v.node, v.part) == "" {
				_, unit, _ := strings.Cut(v.last(), " ")
				out = append(out, fault{v, p, v.last(), strings.TrimSpace(fmt.Sprintf("%.0f %s", median, unit))})
			}
		}
	}
	slices.SortFunc(out, func(a, b fault) int { return strings.Compare(a.node+a.part, b.node+b.part) })
	return out
}

// reasons for reduced clocks, the most specific first. The power cap is none: a GPU at its limit runs as it is built to.
var reasons = []struct{ property, text string }{
	{"gpu.reason_hw_thermal", "HW thermal slowdown"}, {"gpu.reason_power_brake", "HW power brake slowdown"},
	{"gpu.reason_sw_thermal", "SW thermal slowdown"}, {"gpu.reason_hw_slowdown", "HW slowdown"},
}

// reason returns the active reason for which the clocks of a GPU are reduced, or "".
func (m *machine) reason(node, part string) string {
	for _, r := range reasons {
		if v := m.of(node, part, r.property); v != nil && v.last() == "Active" {
			return r.text
		}
	}
	return ""
}

// text says what is wrong, and when a message said so.
func (f *fault) text() string {
	when := ""
	if i := strings.LastIndex(f.now, " ("); i >= 0 && strings.HasSuffix(f.now, ")") && strings.Contains(f.value.property, "xid.") && !strings.Contains(f.property.text, "{value}") {
		when = label.Clean(f.now[i:])
	}
	code := f.value.property[strings.LastIndexByte(f.value.property, '.')+1:]
	return rule.Fill(f.property.text, map[string]string{"value": label.Clip(label.Clean(f.now), 80), "code": code,
		"other": label.Clip(label.Clean(f.other), 80), "name": label.Clip(label.Clean(f.name), 60)}) + when
}

// measure returns one finding for each property with faults of a rule, the parts with equal texts together.
func (e *Evaluator) measure(id string) (out []tree.Reading) {
	if len(e.Health) == 0 {
		return nil
	}
	m := machineOf(e.Summary)
	var order []string
	groups := map[string][]fault{}
	for _, f := range faults(m) {
		if f.property.rule != id {
			continue
		}
		key := f.property.name + f.property.check
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	for _, key := range order {
		list := groups[key]
		var same []fault
		for _, f := range list {
			if f.text() == list[0].text() {
				same = append(same, f)
			}
		}
		r, ok := e.Evaluate(tree.Measured{Rule: id, Value: float64(len(list)),
			Words: map[string]string{"parts": m.names(same), "fault": list[0].text(), "remedy": list[0].property.remedy},
			Lists: map[string][]string{"others": others(m, list, same)},
			Where: []finding.Place{{Input: list[0].input, Rank: e.Inputs[list[0].input].Rank}}})
		if ok {
			r.Level = levels[list[0].property.level]
			out = append(out, r)
		}
	}
	return out
}

var levels = map[string]finding.Level{"info": finding.Info, "warning": finding.Warn, "critical": finding.Critical}

// others lists the faults of the property with other texts.
func others(m *machine, list, same []fault) (out []string) {
	for _, f := range list {
		if f.text() != same[0].text() && len(out) < 4 {
			out = append(out, m.names([]fault{f})+": "+f.text())
		}
	}
	return out
}

// OfGPU says what is wrong with a GPU of a trace: "runs at 1200 MHz of 1980 MHz: HW thermal slowdown active". Its node is
// that of the dumps in the folder of the trace, or the only one if no two traces have a GPU of this number.
func OfGPU(s *summary.Summary, gpu summary.GPU) (out []string) {
	if len(s.Health) == 0 || gpu.Input < 0 || gpu.Input >= len(s.Inputs) {
		return nil
	}
	m := machineOf(s)
	node, ok := m.nodeOfTrace(s, gpu)
	if !ok {
		return nil
	}
	part := fmt.Sprint("GPU ", gpu.Device)
	if reason := m.reason(node, part); reason != "" {
		text := reason + " active"
		if now, most := m.of(node, part, "gpu.clock"), m.of(node, part, "gpu.clock_max"); now != nil && most != nil {
			text = fmt.Sprintf("runs at %s of %s: %s", label.Clean(now.last()), label.Clean(most.last()), text)
		}
		out = append(out, text)
	}
	for _, f := range faults(m) {
		if f.node == node && (f.part == part || strings.HasPrefix(f.part, part+" link ")) {
			out = append(out, f.text())
		}
	}
	return out[:min(3, len(out))]
}

// nodeOfTrace returns the node on which a trace was recorded.
func (m *machine) nodeOfTrace(s *summary.Summary, gpu summary.GPU) (string, bool) {
	nodes, folder, found := nodesOf(s), folderOf(s, gpu.Input), ""
	n := 0
	for _, v := range m.values {
		if folderOf(s, v.input) == folder && (n == 0 || nodes[v.input] != found) {
			found = nodes[v.input]
			n++
		}
	}
	// One folder for all is no sign of a node.
	if together := !slices.ContainsFunc(s.Devices, func(d summary.Device) bool { return folderOf(s, d.Input) != folder }); n == 1 && !together {
		return found, true
	}
	same := 0
	for _, d := range s.Devices {
		if d.Device == gpu.Device {
			same++
		}
	}
	if len(m.nodes) != 1 || same != 1 {
		return "", false
	}
	return m.nodes[0], true
}

// Checked says which parts of machines were checked. It is the verdict where none of them has a fault.
func Checked(s *summary.Summary) string {
	m := machineOf(s)
	seen, counts := map[string]bool{}, map[string]int64{}
	for _, v := range m.values {
		kind := ""
		switch {
		case strings.Contains(v.part, " link "):
			kind = "NVLink"
		case strings.HasPrefix(v.part, "GPU ") && !strings.Contains(v.part, " - "):
			kind = "GPU"
		case strings.Contains(v.part, "port"):
			kind = "port"
		}
		if key := v.node + "\x00" + v.part; kind != "" && !seen[key] {
			seen[key] = true
			counts[kind]++
		}
	}
	var parts []string
	for _, kind := range []string{"GPU", "NVLink", "port"} {
		if n := counts[kind]; n > 0 {
			parts = append(parts, label.Plural(n, kind))
		}
	}
	if len(parts) == 0 {
		return "No fault in what the machines say; they have no times of a program."
	}
	return "No fault: " + strings.Join(parts, ", ") + " checked. The inputs have no times of a program."
}

// Links says what is wrong with links and ports, at most three of them.
func Links(s *summary.Summary) (out []string) {
	if len(s.Health) == 0 {
		return nil
	}
	m := machineOf(s)
	for _, f := range faults(m) {
		if f.property.rule == rule.LinkFault && len(out) < 3 {
			out = append(out, m.names([]fault{f})+": "+f.text())
		}
	}
	return out
}
