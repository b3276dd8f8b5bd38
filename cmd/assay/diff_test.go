package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"assay/compare"
	"assay/judge"
	"assay/report"
	"assay/summary"
)

// savedSeeds are summaries as others could hand them over.
var savedSeeds = []string{
	`{"schema":"assay/summary/1","inputs":[{"path":"a"}],"devices":[{"input":0,"name":"H","window_ns":10,"activity":[{"classes":["compute"],"ns":6},{"classes":[],"ns":4}],"strip":{"bin_ns":0,"ns":{"compute":[1,2]}},"kernel_durations":{"buckets":[{"from_ns":0,"count":-1,"total_ns":9223372036854775807}]}}],"steps":[{"input":0,"wall_ns":9223372036854775807,"activity":[{"classes":["copy"],"ns":9223372036854775807}]}],"kernels":[{"name":"k","class":"","count":-9223372036854775808,"total_ns":-9223372036854775808}],"idle":[{"owner":"host-late","ns":-1}],"issues":[]}`,
	`{"schema":"assay/summary/1","inputs":[{"path":"a"}],"devices":[{"input":0,"window_ns":10,"activity":[{"classes":[],"ns":10}]}],"launches":[{"input":0,"launched":-5,"queue":[{"from":-1,"ns":-1}],"queue_strip":[1],"per_step":[-1]}],"memory":[{"input":0,"peak_allocated":-1,"strip":{"bin_ns":-1,"allocated":[-1],"reserved":[]}}],"graphs":[{"input":0,"launches":0,"nodes":-1}],"ops":[{"name":"o","gpu_self_ns":9,"shapes":-1,"top_shapes":[{"dims":"[[1]]"}]}],"modules":[{"path":"//"}],"calls":[{"kind":"sync","count":-1}],"kernels":null,"issues":null}`,
	`{"schema":"assay/summary/1","inputs":[{"path":"a"}],"tables":[{"input":0,"tool":"\u001b[2J","name":"n","of":"kernel","columns":[{"name":"total","unit":"ns","adds":"self"}],"rows":[{"name":"r","values":[-9223372036854775808]}],"rest":[9223372036854775807]}],"counters":[{"input":0,"kernel":"k","launches":1,"timed":-1,"total_ns":5,"compute_pct":1e308,"waves":-1,"stalls":[{"reason":"r","cycles":-1}],"work":[{"precision":"fp32","flops":-1,"ns":0}]}]}`,
	`{"schema":"assay/summary/1","inputs":[{"path":"a"}],"snapshots":[{"input":0,"owners_at":"peak","owners_bytes":-5,"owners":[{"kind":"k","frame":"\u001b","bytes":-9223372036854775808}],"peak":{"entry":-1,"live":-1}}],"memory_timelines":[{"input":0}],"flames":[{"input":0}]}`,
	`{"schema":"assay/summary/1"}`, `{"schema":"assay/summary/2"}`, `{"schema":"assay/summary/1","inputs":[],"ops":[{"input":3}]}`,
}

// FuzzDiff holds the report and the comparison of summaries to what they promise
// of any: they end without a panic, print nothing that steers a terminal, and
// draw what they say. Budgets add up whatever is in them.
func FuzzDiff(f *testing.F) {
	for _, seed := range savedSeeds {
		f.Add([]byte(seed), []byte(savedSeeds[0]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a)+len(b) > fuzzSize {
			return
		}
		base, err := summary.Read(bytes.NewReader(a), "base.json")
		if err != nil {
			return
		}
		new, err := summary.Read(bytes.NewReader(b), "new.json")
		if err != nil {
			new = base
		}
		checkDoc(t, report.Build(base, judge.Judge(base, judge.DefaultThresholds())))
		c, err := compare.Summaries(base, new, compare.Options{Force: true})
		if err != nil {
			t.Fatalf("refused by force: %v", err)
		}
		var sum int64
		for _, r := range c.Budget.Rows {
			sum += r.DeltaNS
		}
		if sum != c.Budget.DeltaNS || c.Budget.NewNS-c.Budget.BaseNS != sum {
			t.Errorf("budget moves by %d, its rows by %d", c.Budget.DeltaNS, sum)
		}
		checkDoc(t, report.BuildDiff(c))
	})
}

// checkDoc renders a report in every way.
func checkDoc(t *testing.T, doc report.Report) {
	t.Helper()
	var text, md, data strings.Builder
	if err := errors.Join(doc.Text(&text, textWidth), doc.Markdown(&md), doc.StepSummary(io.Discard), doc.JSON(&data)); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{text.String(), md.String(), data.String()} {
		if steers(s) {
			t.Errorf("steers a terminal: %q", s)
		}
	}
	for _, chart := range doc.Charts() {
		if err := chart.PNG(io.Discard); err != nil {
			t.Fatal(err)
		}
	}
}
