// Package flops reads the page that DeepSpeed's flops profiler prints into a log or a file: times and floating-point
// operations of an iteration, and of each module of the model in its forward pass.
//
// The page has a summary and a tree of modules. It becomes two tables: the parts of the iteration, and the modules by
// their place in the model, in which the numbers of repeated layers are one row.
package flops

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/redact"
)

// Limits bound the resources for reading one input. A field that is 0 has the default value.
type Limits struct {
	Rows int // of each table
}

const (
	defaultRows = 1 << 16
	maxPages    = 100
	maxDepth    = 200
	maxName     = 1 << 10

	// patience is the number of other lines within a page after which it has ended: other processes print between its
	// lines.
	patience = 200
)

var (
	pageStart = []byte("DeepSpeed Flops Profiler")
	isStart   = lazyregexp.New(`-{20,} ?DeepSpeed Flops Profiler ?-{20,}`)
	isEnd     = lazyregexp.New(`(^|\s)-{60,}\s*$`)
	atStep    = lazyregexp.New(`Profile Summary at step (\d+):`)
	keyValue  = lazyregexp.New(`(?:^|\s)((?:fwd\+bwd |fwd |bwd )?FLOPS per GPU\b[^:]*|(?:fwd|bwd|step|iter) latency):\s+([\d.]+ ?[a-zA-Z]+)\s*$`)
	opens     = lazyregexp.New(`(?:\((\S+)\): )?(?:\d+ x )?([A-Za-z_]\w*)\($`)
	leaf      = lazyregexp.New(`\((\S+)\): (?:\d+ x )?([A-Za-z_]\w*)\((.*)\)$`)
	costs     = lazyregexp.New(`([\d.]+ ?[kKMGT]?)(?:,| =) [\d.]+% Params, ([\d.]+ ?[KMGTP]?)MACs(?:,| =) [\d.]+% MACs, ([\d.]+ ?[a-zA-Z]+)(?:,| =) [\d.]+% latency, ([\d.]+ ?[KMGTP]?)FLOPS`)
)

// A Finder finds the pages in a text. It is a [textscan.Finder].
type Finder struct {
	file  string
	rows  int
	out   profile.Tables
	open  *page
	pages int
	seen  diag.Ledger
}

// A page is one page that is being read.
type page struct {
	line, other int
	step        string
	parts       []part
	modules     []*module
	byPath      map[string]*module
	path        []string // of the modules that are open
	left        int64
	done        bool
}

// A part is a part of the iteration.
type part struct {
	name    string
	latency profile.Cell
	rate    profile.Cell // GFLOP/s
}

// A module is a place in the model. Numbers are sums over the modules of that place.
type module struct {
	path          string
	line          int
	count         int64
	params, macs  float64
	latency       float64 // ns
	flops         float64
	rated, untold bool
}

// NewFinder returns a Finder for an input of that name.
func NewFinder(name string, limits Limits) *Finder {
	return &Finder{file: name, rows: cmp.Or(limits.Rows, defaultRows), out: profile.Tables{Tool: "deepspeed", Complete: true}}
}

// Hint reports whether a line is the first one of a page.
func (f *Finder) Hint(line []byte) bool {
	return bytes.HasSuffix(line, []byte("----")) && bytes.Contains(line, pageStart)
}

// Open reports whether a page is being read.
func (f *Finder) Open() bool { return f.open != nil }

// Line handles the next line.
func (f *Finder) Line(n int, line string) {
	line = strings.TrimRight(line, " \t\r")
	if isStart().MatchString(line) {
		f.close()
		if f.pages++; f.pages > maxPages {
			f.seen.Add(diag.Issue{Code: "too-many-tables", Severity: diag.DataLoss, First: diag.Pos{File: f.file, Line: n},
				Help: "Tables over the limit of one input were left out. Give them as separate inputs."})
			return
		}
		f.open = &page{line: n, byPath: map[string]*module{}}
		return
	}
	p := f.open
	if p == nil {
		return
	}
	switch {
	case isEnd().MatchString(line) && (len(p.modules) > 0 || p.done):
		f.close()
		return
	case p.take(n, line, f.rows):
		p.other = 0
		f.out.Records++
	default:
		p.other++
	}
	if p.other > patience {
		f.close()
	}
}

// take reads a line of a page, and reports whether it is one.
func (p *page) take(n int, line string, rows int) bool {
	if m := atStep().FindStringSubmatch(line); m != nil {
		p.step = m[1]
		return true
	}
	if m := keyValue().FindStringSubmatch(line); m != nil {
		p.summary(m[1], m[2])
		return true
	}
	if m := leaf().FindStringSubmatch(line); m != nil {
		if c := costs().FindStringSubmatch(m[3]); c != nil {
			p.add(append(slices.Clone(p.path), nameOf(m[1], m[2])), c, n, rows)
			return true
		}
	}
	if m := opens().FindStringSubmatch(line); m != nil && len(p.path) < maxDepth {
		p.path = append(p.path, nameOf(m[1], m[2]))
		return true
	}
	if c := costs().FindStringSubmatch(line); c != nil {
		p.add(p.path, c, n, rows)
		return true
	}
	if (strings.HasSuffix(line, " )") || line == ")") && len(p.path) > 0 {
		p.path = p.path[:len(p.path)-1]
		p.done = len(p.path) == 0
		return true
	}
	return strings.Contains(line, "depth ") || strings.Contains(line, "- {'")
}

// nameOf names a module by its attribute, with a star for numbers, and its class.
func nameOf(attribute, class string) string {
	if _, err := strconv.Atoi(attribute); err == nil || strings.Trim(attribute, "0123456789-") == "" && attribute != "" {
		attribute = "*"
	}
	return strings.Trim(attribute+":"+class, ":")
}

// summary reads a line of the summary.
func (p *page) summary(key, value string) {
	names := map[string]string{"fwd": "forward", "bwd": "backward", "step": "weights update", "iter": "iteration", "FLOPS": "iteration"}
	word, rest, _ := strings.Cut(key, " ")
	name := names[word]
	if name == "" { // forward and backward together
		return
	}
	i := slices.IndexFunc(p.parts, func(o part) bool { return o.name == name })
	if i < 0 {
		i = len(p.parts)
		p.parts = append(p.parts, part{name: name})
	}
	if rest == "latency" {
		p.parts[i].latency = cellOf(duration(value))
		return
	}
	p.parts[i].rate = cellOf(scaled(strings.TrimSuffix(value, "FLOPS"), 1e-9))
}

// add adds a module.
func (p *page) add(path []string, c []string, line, rows int) {
	if len(path) == 0 {
		return
	}
	name := strings.Join(path, " / ")
	if len(name) > maxName {
		name = redact.Cut(name, maxName)
	}
	m := p.byPath[name]
	if m == nil {
		if len(p.modules) >= rows {
			p.left++
			return
		}
		m = &module{path: name, line: line}
		p.byPath[name] = m
		p.modules = append(p.modules, m)
	}
	m.count++
	params, ok1 := scaled(c[1], 1)
	macs, ok2 := scaled(c[2], 1)
	latency, ok3 := duration(c[3])
	rate, ok4 := scaled(c[4], 1)
	if !ok1 || !ok2 || !ok3 || !ok4 {
		m.untold = true
		return
	}
	m.params, m.macs, m.latency, m.flops = m.params+params, m.macs+macs, m.latency+latency, m.flops+rate*latency/1e9
	m.rated = m.rated || rate > 0
}

// scaled reads a number with a prefix, times a factor.
func scaled(text string, factor float64) (float64, bool) {
	text = strings.TrimSpace(text)
	prefixes := map[byte]float64{'k': 1e3, 'K': 1e3, 'M': 1e6, 'G': 1e9, 'T': 1e12, 'P': 1e15}
	if n := len(text); n > 0 && prefixes[text[n-1]] > 0 {
		factor *= prefixes[text[n-1]]
		text = strings.TrimSpace(text[:n-1])
	}
	v, err := strconv.ParseFloat(text, 64)
	return v * factor, err == nil && v >= 0 && v*factor < 1e30
}

// duration reads a duration in ns. A unit that no duration of a step has, such as the "Gs" of a damaged sum, has no value.
func duration(text string) (float64, bool) {
	number, unit, _ := strings.Cut(strings.TrimSpace(text), " ")
	size := map[string]float64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]
	v, err := strconv.ParseFloat(number, 64)
	return v * size, err == nil && size > 0 && v >= 0 && v*size < 1e18
}

func cellOf(v float64, ok bool) profile.Cell {
	if !ok || v >= math.MaxInt64 {
		return profile.Cell{}
	}
	return profile.Known(int64(math.Round(v)))
}

// close ends the open page.
func (f *Finder) close() {
	p := f.open
	if f.open = nil; p == nil {
		return
	}
	run := ""
	if p.step != "" {
		run = "step " + p.step
	}
	if len(p.parts) > 0 {
		t := &profile.Table{Name: "deepspeed_flops", Title: "Iteration (DeepSpeed flops profiler)", Of: profile.OfRange, Run: run, Line: p.line,
			Columns: []profile.Heading{{Name: "total", Unit: "nanoseconds", Adds: profile.Total}, {Name: "FLOP rate", Unit: "GFLOP/s"}}}
		for _, it := range p.parts {
			t.Rows = append(t.Rows, profile.Row{Name: it.name, Cells: []profile.Cell{it.latency, it.rate}})
		}
		f.out.List = append(f.out.List, t)
	}
	if len(p.modules) > 0 {
		f.out.List = append(f.out.List, p.table(run))
	}
	f.seen.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: f.file, Line: p.line},
		Help: "A table reached its row limit. The modules counted here are left out; those that contain them have their time. Raise --max-memory."}, p.left)
	if len(p.path) > 0 || len(p.modules) == 0 && len(p.parts) > 0 && !p.done {
		f.seen.Add(diag.Issue{Code: "table-unfinished", Severity: diag.Info, First: diag.Pos{File: f.file, Line: p.line},
			Help: "The page of DeepSpeed's flops profiler has no end, or no tree of modules (detailed: false). Modules may be missing."})
	}
}

// table makes the table of modules, the one with the most time first.
func (p *page) table(run string) *profile.Table {
	t := &profile.Table{Name: "deepspeed_modules", Title: "Forward pass by module (DeepSpeed flops profiler)", Of: profile.OfRange, Run: run, Line: p.line,
		Columns: []profile.Heading{{Name: "total", Unit: "nanoseconds", Adds: profile.Total}, {Name: "count", Unit: "count", Adds: profile.Total},
			{Name: "mean", Unit: "nanoseconds"}, {Name: "FLOP rate", Unit: "GFLOP/s"}, {Name: "MACs", Unit: "count", Adds: profile.Total},
			{Name: "parameters", Unit: "count", Adds: profile.Total}}}
	slices.SortStableFunc(p.modules, func(a, b *module) int { return cmp.Compare(b.latency, a.latency) })
	for _, m := range p.modules {
		known := !m.untold
		t.Rows = append(t.Rows, profile.Row{Name: m.path, Line: m.line, Cells: []profile.Cell{
			cellOf(m.latency, known), profile.Known(m.count), cellOf(m.latency/float64(m.count), known),
			cellOf(m.flops/m.latency, known && m.latency > 0 && m.rated), cellOf(m.macs, known), cellOf(m.params, known)}})
	}
	return t
}

// Tables ends the reading and returns the tables. The list is empty if there was no page.
func (f *Finder) Tables() *profile.Tables {
	f.close()
	f.out.Issues = f.seen.Issues()
	return &f.out
}
