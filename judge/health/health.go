// Package health has the rules on what machines say of their GPUs, links and ports. The properties are data
// (properties.txt): what is healthy, what a value means, and what helps. So a reader of another tool needs no rule.
//
// machine.go joins the rows of all inputs by node and part; checks.go compares values with what is healthy and with
// those of equal parts; health.go makes findings of the faults.
package health

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"

	"assay/internal/label"
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
	past     bool   // a later dump does not have it
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
	text = rule.Fill(text, words)
	for part := range strings.SplitSeq(strings.TrimSuffix(more, "]"), "][") {
		if part = rule.Fill(part, words); !strings.Contains(part, "{gpu.") {
			text += part
		}
	}
	return text
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
		case v.property == "dcgm.overall" && v.last() == "Healthy":
			kind = "host"
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
