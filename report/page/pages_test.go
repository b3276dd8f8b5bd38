package page_test

import (
	"bytes"
	"fmt"
	"testing"

	"assay/analyze"
	"assay/analyze/detail"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/compare"
	"assay/internal/test/rankgen"
	"assay/internal/test/samplerun"
	"assay/internal/test/tracegen"
	"assay/judge"
	"assay/report"
	"assay/summary"
	"assay/trace"
)

// measured returns the summary of the traces of ranks, with details.
func measured(t testing.TB, name string, files [][]byte) *summary.Summary {
	t.Helper()
	var all []*summary.Summary
	var members []ranks.Member
	for rank, text := range files {
		tr, err := trace.Read(bytes.NewReader(text), name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		opt := analyze.DefaultOptions()
		opt.Detail = &detail.Request{Inputs: len(files)}
		opt.Collectives = func(device int64, c *collective.Columns) {
			members = append(members, ranks.Member{Input: rank, Rank: rank, Device: device, Columns: c})
		}
		in := summary.Input{Path: fmt.Sprintf("%s/rank%d.json", name, rank), Format: "kineto", Rank: rank, RankFrom: "trace", WorldSize: len(files)}
		if len(files) == 1 {
			in.Path = name + ".json"
		}
		all = append(all, analyze.Trace(tr, in, opt))
	}
	s := summary.Merge(all...)
	if job := ranks.Match(members); job != nil {
		job.AddTo(s)
	}
	return s
}

// train is one rank with steps, phases, communication and gaps.
func train(t testing.TB) *summary.Summary {
	var b bytes.Buffer
	for _, p := range tracegen.Presets() {
		if p.Name == "llm_train_step" {
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	return measured(t, "llm_train_step", [][]byte{b.Bytes()})
}

// rankJob is a job of so many ranks. One of them is late.
func rankJob(t testing.TB, n int) *summary.Summary {
	var files [][]byte
	var given []int
	for i := range n {
		given = append(given, i)
	}
	for _, f := range rankgen.SlowHost(n, 4, n/2).Files(given) {
		files = append(files, f.JSON)
	}
	return measured(t, "job", files)
}

// htmlOf returns the page of a summary.
func htmlOf(t testing.TB, s *summary.Summary) []byte {
	t.Helper()
	return written(t, report.Build(s, samplerun.Judged(s)))
}

func written(t testing.TB, r report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// diffOf returns the page of a comparison.
func diffOf(t testing.TB, base, new *summary.Summary) []byte {
	t.Helper()
	c, err := compare.Summaries(base, new, compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	return written(t, report.BuildDiff(c))
}

// reportOf returns the report of a summary with a result.
func reportOf(s *summary.Summary, r judge.Result) report.Report { return report.Build(s, r) }

// diffPage returns the page of a comparison.
func diffPage(t testing.TB, c *compare.Comparison) []byte { return written(t, report.BuildDiff(c)) }
