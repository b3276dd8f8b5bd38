package samplerun

import (
	"fmt"

	"assay/summary"
)

// Profile is a profile of a server in samples of the CPU: of 1000 ms, main has
// all, serve 900 and verify within it 700, of that 50 itself and 650 in parse,
// which is a library's. The other 200 of serve are 40 functions with 5 each.
func Profile() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{
		{Path: "runs/server.pb.gz", Format: "pprof", Compression: "gzip", Bytes: 4321, Events: 50, RankFrom: "assumed", Complete: true},
	}}
	row := func(name, file string, self, total int64) summary.TableRow {
		return summary.TableRow{Name: name, Labels: map[string]string{"file": file}, Values: []*int64{value(self * MS), value(total * MS)}}
	}
	t := summary.Table{Tool: "pprof", Name: "cpu", Of: summary.OfFunction, Clock: summary.ClockCPU, Columns: []summary.TableColumn{
		{Name: "self", Unit: "ns", Adds: summary.AddsSelf}, {Name: "total", Unit: "ns", Adds: summary.AddsTotal}}}
	t.Rows = []summary.TableRow{row("main", "/app/main.py", 100, 1000), row("serve", "/app/main.py", 0, 900),
		row("verify", "/app/judge.py", 50, 700), row("parse", "/usr/lib/python3/site-packages/sympy/parser.py", 650, 650)}
	f := summary.Flame{Name: "cpu", Unit: "ns", Total: 1000 * MS, Nodes: []summary.FlameNode{
		{Depth: 0, Name: "main", File: "/app/main.py", Value: 1000 * MS},
		{Depth: 1, Name: "serve", File: "/app/main.py", Value: 900 * MS},
		{Depth: 2, Name: "verify", File: "/app/judge.py", Value: 700 * MS},
		{Depth: 3, Name: "parse", File: "/usr/lib/python3/site-packages/sympy/parser.py", Value: 650 * MS},
		{Depth: 2, Value: 200 * MS, Others: 40},
	}}
	for i := range 40 {
		t.Rows = append(t.Rows, row(fmt.Sprintf("small%02d", i), "/app/main.py", 5, 5))
	}
	calls := summary.Table{Number: 1, Tool: "pprof", Name: "calls", Of: summary.OfEdge, Columns: []summary.TableColumn{{Name: "total", Unit: "ns", Adds: summary.AddsTotal}},
		Rows: []summary.TableRow{{Name: "parse", Labels: map[string]string{"caller": "verify"}, Values: []*int64{value(650 * MS)}}}}
	s.Tables, s.Flames = []summary.Table{t, calls}, []summary.Flame{f}
	s.Sort()
	return s
}

// StrangeFlames has more trees than a picture shows, deeper than it draws, with
// hostile names, and numbers that break what a flame promises.
func StrangeFlames() *summary.Summary {
	s := Profile()
	for i, name := range HostileNames() {
		f := summary.Flame{Input: i % 3, Name: name, Unit: []string{"ns", "bytes", "count", name}[i%4], Total: 1 << 40}
		for depth := range 40 {
			f.Nodes = append(f.Nodes, summary.FlameNode{Depth: depth, Name: name, File: name, Value: 1<<40 - int64(depth)<<32, Others: int64(depth % 2)})
		}
		f.Nodes = append(f.Nodes, summary.FlameNode{Depth: 5, Name: name, Value: -1}, summary.FlameNode{Depth: 900, Name: name, Value: 1 << 62},
			summary.FlameNode{Depth: -1, Value: 3}, summary.FlameNode{Depth: 0, Name: name, Value: 1<<63 - 1}, summary.FlameNode{Depth: 1, Name: name, Value: 1<<63 - 1})
		s.Flames = append(s.Flames, f)
	}
	return s
}
