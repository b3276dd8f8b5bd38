package health

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"assay/internal/label"
	"assay/internal/lazyregexp"
	"assay/judge/finding"
	"assay/summary"
)

// An origin is where a value comes from.
type origin struct {
	input   int
	at      string // when it was true, if the input says so
	earlier bool   // another value of the input came later
}

// dated reports whether a time has a year, so that times can be compared.
func dated(at string) bool { return at != "" && at[0] >= '0' && at[0] <= '9' }

// inOrder orders the values by their times if all are known; otherwise they stay in the order of the inputs.
func (v *value) inOrder() {
	if !slices.ContainsFunc(v.from, func(o origin) bool { return !dated(o.at) }) {
		order := make([]int, len(v.from))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(v.from[a].at, v.from[b].at) })
		texts, from := v.texts, v.from
		v.texts, v.from = nil, nil
		for _, i := range order {
			v.texts, v.from = append(v.texts, texts[i]), append(v.from, from[i])
		}
	}
	v.input = v.latest().input
}

func (v *value) latest() origin { return v.from[len(v.from)-1] }

// earlier returns the machine before the last dump of each of its parts.
func (m *machine) earlier() *machine {
	old := &machine{index: map[string]*value{}, nodes: m.nodes, inputs: m.inputs, numbered: m.numbered}
	for _, v := range m.values {
		was := *v
		if n := len(v.texts) - 1; n > 0 {
			was.texts, was.from = v.texts[:n], v.from[:n]
			was.input = was.latest().input
		}
		old.values = append(old.values, &was)
		old.index[was.key()] = &was
	}
	old.count()
	return old
}

// faults returns the faults that a summary shows: those of the last dumps, and for information those that an earlier dump
// had and the last one has not.
func faults(m *machine) (out []fault) {
	now := map[string]bool{}
	for _, f := range present(m) {
		now[f.value.key()] = true
		m.setDate(&f)
		out = append(out, f)
	}
	if !slices.ContainsFunc(m.values, func(v *value) bool { return len(v.texts) > 1 }) {
		return out
	}
	old := m.earlier()
	for _, f := range present(old) {
		last := m.index[f.value.key()]
		if now[f.value.key()] || len(last.texts) < 2 || !slices.Contains([]string{"not", "over", "below", "down", "fewer"}, f.property.kind) {
			continue
		}
		f.said = old.says(&f) + ", in " + m.dump(f.latest()) + "; no longer in " + m.dump(last.latest())
		p := *f.property
		p.level, p.remedy, p.kind = "info", "none", p.kind+" once"
		f.property = &p
		out = append(out, f)
	}
	return out
}

// dump names a dump by its time, or by its file.
func (m *machine) dump(o origin) string {
	name := label.Clip(label.Clean(m.inputs[o.input]), 40)
	switch {
	case o.earlier:
		return "an earlier part of " + name
	case o.at != "":
		return "the dump of " + o.at
	}
	return name
}

// longAgo is the age from which on a message about a GPU that works since then is history.
const longAgo = 7 * 24 * time.Hour

// setDate adds to a message of the kernel when it was written. Where a later dump of the GPU shows that it answers, the
// message is no fault of today.
func (m *machine) setDate(f *fault) {
	at := f.latest().at
	if at == "" || f.property.kind != "any" {
		return
	}
	answers := ""
	for _, v := range m.values {
		if o := v.latest(); v.node == f.node && strings.HasPrefix(v.property, "gpu.") && busOf(v.part) == busOf(f.part) && dated(o.at) {
			answers = max(answers, o.at)
		}
	}
	if !dated(at) || answers <= at {
		f.said = m.says(f) + " (" + at + ")"
		return
	}
	f.said = m.says(f) + " (" + at + "; the GPU answers in the dump of " + answers + ")"
	then, _ := time.Parse(time.DateTime, at)
	since, _ := time.Parse(time.DateTime, answers)
	level := "warning"
	if since.Sub(then) > longAgo {
		level = "info"
	}
	if levels[level] < f.level() {
		p := *f.property
		p.level = level
		f.property = &p
	}
}

func (f *fault) level() finding.Level { return levels[f.property.level] }

var (
	reStamp  = lazyregexp.New(`20\d\d[-_.]?\d\d[-_.]?\d\d([-_.Tt ]?\d\d[-_.:h]?\d\d([-_.:m]?\d\d)?)?[Zz]?`)
	reMoment = lazyregexp.New(`^(before|after|pre|post|start|end|begin|first|last|old|new|now|later|earlier|again|idle|load|busy|t|day|run|step|` +
		`mon|tue|wed|thu|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|rdma|ethtool|perfquery|counters?|stats?|statistics?|ports?|nics?|samples?|snapshots?|dump|out|log)$|` +
		`^(t|day|run|step|sample|snapshot)\d+$`)
)

// hostWords returns the name of a file without what names a moment or a tool, and the numbers that may be of a moment or
// of a host: "node-3-rdma-2.txt" has "node-3" and "2".
func hostWords(file string) (host, number string) {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	base = reStamp().ReplaceAllString(strings.TrimSuffix(base, path.Ext(base)), "")
	ofHost := false
	for _, w := range strings.FieldsFunc(base, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		switch {
		case strings.Trim(w, "0123456789") != "":
			if ofHost = !reMoment().MatchString(strings.ToLower(w)); ofHost {
				host += " " + w
			}
		case ofHost:
			host += "-" + w
		default:
			number += " " + w
		}
	}
	return strings.TrimSpace(host), number
}

// separatePorts tells counters of one port in several files of a folder apart, which do not say whose they are: files
// whose names differ in more than a moment are of several nodes. It returns the inputs whose names differ in a number.
func separatePorts(s *summary.Summary, nodes map[int]string) (numbered map[int]bool) {
	type port struct{ folder, part string }
	hosts, numbers := map[port]map[string]bool{}, map[port]map[string]bool{}
	inputs := map[int][]port{}
	for _, h := range s.Health {
		if p := (port{folderOf(s, h.Input), h.Part}); strings.HasPrefix(h.Property, "port.") && h.Node == "" {
			if hosts[p] == nil {
				hosts[p], numbers[p] = map[string]bool{}, map[string]bool{}
			}
			host, number := hostWords(s.Inputs[h.Input].Path)
			hosts[p][host], numbers[p][number] = true, true
			inputs[h.Input] = append(inputs[h.Input], p)
		}
	}
	numbered = map[int]bool{}
	for i, ports := range inputs {
		if slices.ContainsFunc(ports, func(p port) bool { return len(hosts[p]) > 1 }) {
			host, _ := hostWords(s.Inputs[i].Path)
			nodes[i] = label.Clip(label.Clean(cmp.Or(host, nodes[i])), 40)
		}
		numbered[i] = slices.ContainsFunc(ports, func(p port) bool { return len(numbers[p]) > 1 })
	}
	return numbered
}
