// Package health has the rules on what machines say of their GPUs, links and ports. The properties are data
// (properties.txt): what is healthy, what a value means, and what helps. So a reader of another tool needs no rule.
//
// machine.go joins the rows of all inputs by node and part; health.go checks them.
package health

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
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
	name, kind, list          string // what is checked, how, and the argument of the check
	when                      string // a property that is in use or active
	unless                    []string
	rule, level, remedy, text string
}

var properties = sync.OnceValue(func() (out []property) {
	for line := range strings.Lines(propertiesText) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if strings.HasPrefix(line, "#") || len(cells) != 6 {
			continue
		}
		p := property{name: cells[0], rule: cells[2], level: cells[3], remedy: cells[4], text: cells[5]}
		check, unless, _ := strings.Cut(cells[1], " unless ")
		check, p.when, _ = strings.Cut(check, " if ")
		p.kind, p.list, _ = strings.Cut(check, " ")
		if unless != "" {
			p.unless = strings.Split(unless, ",")
		}
		out = append(out, p)
	}
	return out
})

// applies reports whether a value is checked by a property. What a monitor sampled often is judged by its own rules.
func (m *machine) applies(p *property, v *value) bool {
	if !p.matches(v.property) || firstOther(v.property, p) {
		return false
	}
	if p.when != "" {
		text := m.text(v.node, v.part, p.when)
		if n, _ := number(text); n < 50 && text != "Active" || p.when == "gpu.util" && p.kind != "slower" && v.times >= summary.Sampled {
			return false
		}
	}
	return !slices.ContainsFunc(p.unless, func(q string) bool {
		return m.text(v.node, v.part, q) == "Active" || v.part == "host" && m.counts[[2]string{v.node, q}] > 0
	})
}

// A fault is a part with a value that is not healthy.
type fault struct {
	*value
	property *property
	now      string
	other    string
	said     string // what is wrong, where it is more than the property's text
}

// present returns the faults of the last values, in the order of properties.txt.
func present(m *machine) (out []fault) {
	known := map[string]bool{} // parts whose value has a fault of its own need no peers
	for i := range properties() {
		p := &properties()[i]
		var values []*value
		for _, v := range m.values {
			if m.applies(p, v) {
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
	switch p.kind {
	case "peers", "fewer":
		return m.peers(p, values)
	case "slower":
		return m.slower(p, values)
	case "down":
		return m.down(p, values)
	}
	for _, v := range values {
		if now, other, bad := m.isFault(p, v); bad {
			out = append(out, fault{value: v, property: p, now: now, other: other})
		}
	}
	return out
}

// isFault checks one value, without its peers.
func (m *machine) isFault(p *property, v *value) (now, other string, bad bool) {
	switch p.kind {
	case "any":
		return v.last(), "", true
	case "not":
		return v.last(), "", !healthy(v.last(), p.list)
	case "is":
		return v.last(), "", healthy(v.last(), p.list)
	case "missing": // a report of chosen GPUs has fewer
		of := m.text(v.node, v.part, p.list)
		a, _ := number(v.last())
		b, _ := number(of)
		return v.last(), of, a == b-1 && b >= 3
	case "over":
		n, ok := number(v.last())
		most, _ := number(p.list)
		return unit.Count(int64(n)), "", ok && n > most
	case "below":
		of := m.text(v.node, v.part, p.list)
		a, okA := number(v.last())
		b, okB := number(of)
		okA = okA && unitOf(v.last()) == unitOf(of)
		return strings.TrimSuffix(v.last(), "x"), strings.TrimSuffix(of, "x"), okA && okB && a < 0.99*b
	case "grows":
		last, growth, ok := v.growth()
		moments := len(v.texts)
		if m.mixed[[2]string{v.node, v.part}] {
			moments = 1 // others are of another port
		}
		var by, single float64
		var never string
		fmt.Sscanf(p.list, "%g %s", &by, &never)
		_, err := fmt.Sscan(never, &single)
		switch {
		case ok && moments > 1 && growth > by:
			return unit.Count(int64(growth)), "", true
		case ok && moments == 1 && err == nil && last > single:
			return unit.Count(int64(last)), "", true
		}
	}
	return "", "", false
}

// healthy reports whether a text is one of a list. A list behind "not" has what is no healthy text.
func healthy(text, list string) bool {
	list, not := strings.CutPrefix(list, "not ")
	return not != slices.ContainsFunc(strings.Split(list, ","), func(one string) bool {
		return strings.EqualFold(one, text) || strings.EqualFold(one, strings.ReplaceAll(text, " ", "_"))
	})
}

// better decides which of two values is the usual one where as many parts have either: the larger number.
func better(a, b string) bool {
	x, okX := number(a)
	y, okY := number(b)
	if okX && okY && x != y {
		return x > y
	}
	return a > b
}

// peers returns the values that differ from those of most equal parts. Of two parts, the one with the lower value is
// named.
func (m *machine) peers(p *property, values []*value) (out []fault) {
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
		odd := slices.DeleteFunc(slices.Clone(list), func(v *value) bool { return v.last() == usual || !p.worse(v.last(), usual) })
		for _, v := range odd {
			if p.list == "" || !m.designed(v, odd, list) {
				out = append(out, fault{value: v, property: p, now: v.last(), other: usual})
			}
		}
	}
	return out
}

// worse reports whether a value that differs from the usual one is a fault.
func (p *property) worse(text, usual string) bool {
	if p.kind == "fewer" {
		a, okA := number(text)
		b, okB := number(usual)
		return okA && okB && a < b && 2*a > b
	}
	if p.list == "" {
		return true
	}
	rank := func(text string) int {
		return slices.IndexFunc(strings.Split(p.list, ","), func(one string) bool {
			prefix, star := strings.CutSuffix(one, "*")
			return one == text || star && strings.HasPrefix(text, prefix)
		})
	}
	if strings.HasPrefix(p.list, "NV") && rank(usual) > 0 {
		return false // PCIe is wired so; only links can go down
	}
	if rank(text) == 0 && rank(usual) == 0 {
		return better(usual[2:], text[2:])
	}
	return rank(text) > rank(usual)
}

// designed reports whether a connection that is worse than the usual one is so by design: another node has the same,
// or each GPU of the node has as many of them, and others.
func (m *machine) designed(v *value, odd, all []*value) bool {
	of := map[string]int{}
	mine, pairs := 0, 0
	for _, o := range odd {
		if o.node == v.node {
			mine++
			for gpu := range strings.SplitSeq(o.part, " - ") {
				of[gpu]++
			}
		} else if o.part == v.part && o.last() == v.last() {
			return true
		}
	}
	gpus := map[string]bool{}
	for _, o := range all {
		if o.node == v.node {
			pairs++
			for gpu := range strings.SplitSeq(o.part, " - ") {
				gpus[gpu] = true
			}
		}
	}
	for gpu := range gpus {
		if of[gpu] != of[strings.Split(v.part, " - ")[0]] {
			return false
		}
	}
	return mine < pairs
}

// slower returns the parts with a number under nine tenths of the median of equal parts.
func (m *machine) slower(p *property, values []*value) (out []fault) {
	classes := map[string][]*value{}
	for _, v := range values {
		if m.class(v) != "" {
			classes[m.class(v)] = append(classes[m.class(v)], v)
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
			if all[i] < 0.9*median {
				other := fmt.Sprintf("%.0f %s", median, unitOf(v.last()))
				out = append(out, fault{value: v, property: p, now: v.last(), other: strings.TrimSpace(other)})
			}
		}
	}
	slices.SortFunc(out, func(a, b fault) int { return strings.Compare(a.node+a.part, b.node+b.part) })
	return out
}

// says returns what is wrong.
func (m *machine) says(f *fault) string {
	if f.said != "" {
		return f.said
	}
	words := map[string]string{"value": label.Clip(label.Clean(f.now), 80), "code": f.value.property[strings.LastIndexByte(f.value.property, '.')+1:],
		"other": label.Clip(label.Clean(f.other), 80), "name": label.Clip(label.Clean(f.name), 60)}
	for _, p := range []string{"gpu.temperature", "gpu.clock", "gpu.clock_max"} {
		if text := m.text(f.node, f.part, p); text != "" {
			words[p] = label.Clip(label.Clean(text), 20)
		}
	}
	text, more, _ := strings.Cut(f.property.text, "[")
	if more = rule.Fill(strings.TrimSuffix(more, "]"), words); !strings.Contains(more, "{gpu.") {
		text += more
	}
	return rule.Fill(text, words)
}

// A group has the faults of parts that one remedy helps.
type group struct {
	first *fault   // the worst
	parts []fault  // one of each part
	texts []string // what is wrong with each
}

// groups returns the faults of a rule: those of one part together, and parts with equal properties.
func (m *machine) groups(id string) (out []*group) {
	type key struct{ remedy, node, part string }
	byPart, order := map[key][]fault{}, []key{}
	for _, f := range faults(m) {
		if f.property.rule != id {
			continue
		}
		k := key{f.property.remedy, f.node, f.part}
		if f.property.kind == "any" { // a message is a fault of its own
			k.remedy += f.value.property
		}
		if byPart[k] == nil {
			order = append(order, k)
		}
		byPart[k] = append(byPart[k], f)
	}
	index := map[string]*group{}
	for _, k := range order {
		list := byPart[k]
		name, texts := k.remedy, []string{}
		for i := range list {
			name += list[i].property.name + list[i].property.kind
			texts = append(texts, m.says(&list[i]))
		}
		g := index[name]
		if g == nil {
			g = &group{first: &list[0]}
			index[name] = g
			out = append(out, g)
		}
		for i := range list {
			if list[i].level() > g.first.level() {
				g.first = &list[i]
			}
		}
		g.parts, g.texts = append(g.parts, list[0]), append(g.texts, strings.Join(slices.Compact(texts), "; "))
	}
	return out
}

// measure returns the findings of a rule.
func (e *Evaluator) measure(id string) (out []tree.Reading) {
	if len(e.Health) == 0 {
		return nil
	}
	m := machineOf(e.Summary)
	groups := m.groups(id)
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Compare(levels[b.first.property.level], levels[a.first.property.level])
	})
	for _, g := range groups {
		var same []fault
		var others []string
		for i, f := range g.parts {
			if g.texts[i] == g.texts[0] {
				same = append(same, f)
			} else if len(others) < 4 {
				others = append(others, m.names([]fault{f})+": "+g.texts[i])
			}
		}
		r, ok := e.Evaluate(tree.Measured{Rule: id, Value: float64(len(g.parts)),
			Words: map[string]string{"parts": m.names(same), "fault": g.texts[0], "remedy": g.first.property.remedy},
			Lists: map[string][]string{"others": others},
			Where: []finding.Place{{Input: g.first.input, Rank: e.Inputs[g.first.input].Rank}}})
		if ok {
			r.Level = g.first.level()
			out = append(out, r)
		}
	}
	return out
}

var levels = map[string]finding.Level{"info": finding.Info, "warning": finding.Warn, "critical": finding.Critical}

// Checked says what was checked, if the inputs are dumps of machines and nothing else: "16 GPUs, 288 NVLinks, 2 logs of
// the kernel". It is "" if nothing of them can be judged.
func Checked(s *summary.Summary) string {
	m, counted := machineOf(s), map[string]bool{}
	kinds := []string{"GPU", "NVLink", "port", "NVSwitch", "host", "kernel log"}
	counts := make([]int64, len(kinds))
	for _, v := range m.values {
		kind := "port"
		switch {
		case v.property == "kernel.log":
			kind = "kernel log"
		case strings.HasPrefix(v.property, "diag.") && slices.Contains([]string{"Skip", "Not Run"}, v.last()):
			continue // nothing was checked
		case !slices.ContainsFunc(properties(), func(p property) bool { return p.matches(v.property) }) || strings.HasPrefix(v.property, "topo."):
			continue
		case v.part == "host":
			kind = "host"
		case strings.Contains(v.part, " link "):
			kind = "NVLink"
		case strings.HasPrefix(v.part, "GPU "):
			kind = "GPU"
		case strings.HasPrefix(v.part, "NVSwitch "):
			kind = "NVSwitch"
		case strings.HasPrefix(v.property, "ib.") && !strings.Contains(v.part, " port "):
			continue
		}
		if key := kind + v.node + "\x00" + v.part; !counted[key] {
			counted[key] = true
			counts[slices.Index(kinds, kind)]++
		}
	}
	var out []string
	for i, n := range counts {
		if n > 0 {
			out = append(out, label.Plural(n, kinds[i]))
		}
	}
	return strings.Join(out, ", ")
}
