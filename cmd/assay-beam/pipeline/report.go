package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"assay/analyze/ranks"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/redact"
	"assay/judge"
	"assay/judge/rule"
	"assay/report"
	"assay/summary"
)

// reportFn joins what was measured and compared, and writes the report. It emits the names
// of the files.
type reportFn struct{ Output string }

func (f *reportFn) ProcessElement(ctx beamContext, _ []byte, plan func(*[]byte) bool, summaries, solved, failed func(*int, *[]byte) bool, emit func(string)) error {
	p, err := planOf(plan)
	if err != nil {
		return err
	}
	unread := unreadable(failed)
	if len(p.Parts) == 0 {
		return fmt.Errorf("no input could be read: %s", unread.First)
	}
	records := map[string][]byte{}
	err = each(summaries, func(r record) error { records[r.Name] = r.JSON; return nil })
	if err != nil {
		return err
	}
	jobs, err := jobs(p, solved)
	if err != nil {
		return err
	}
	list := make([][]byte, len(p.Parts))
	for i, name := range p.Parts {
		list[i] = records[name]
	}
	s, err := p.Join(list, jobs)
	if err != nil {
		return err
	}
	if unread.Count > 0 {
		s = summary.Join(s, &summary.Summary{Issues: []summary.Issue{unread}})
	}
	partial.NoteRepeatedRanks(s)
	return f.write(ctx, s, emit)
}

// each calls use for each value of a side input.
func each[T any](side func(*int, *[]byte) bool, use func(T) error) error {
	var key int
	for b := []byte(nil); side(&key, &b); {
		v, err := decoded[T](b)
		if err == nil {
			err = use(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// jobs returns the comparisons of all runs; nil for those that cannot be compared.
func jobs(p partial.Plan, solved func(*int, *[]byte) bool) ([]*ranks.Job, error) {
	of := make([][]ranks.Solved, len(p.Jobs))
	err := each(solved, func(f found) error {
		var one ranks.Solved
		err := json.Unmarshal(f.Solved, &one)
		of[f.Job] = append(of[f.Job], one)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]*ranks.Job, len(p.Jobs))
	for i, job := range p.Jobs {
		if len(job.Members) == 0 {
			continue
		}
		if out[i], err = ranks.Assemble(job.Members, of[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// unreadable returns the issue that counts the inputs that could not be read.
func unreadable(failed func(*int, *[]byte) bool) summary.Issue {
	var list []string
	var key int
	for b := []byte(nil); failed(&key, &b); {
		list = append(list, string(b))
	}
	is := summary.Issue{
		Code: "input-unreadable", Severity: diag.Suspect.String(), Count: int64(len(list)),
		Help: "Files could not be read, and no number has them. A rank that is missing may be the one that the others wait for. Copy or record these files again.",
	}
	if slices.Sort(list); len(list) > 0 {
		is.First = list[0]
	}
	return is
}

// write writes the files of a report.
func (f *reportFn) write(ctx beamContext, s *summary.Summary, emit func(string)) error {
	doc := report.Build(s, judge.Judge(s, rule.DefaultThresholds()))
	hide := redact.New(false)
	hide.Strings(&doc)
	for _, part := range doc.Texts() {
		hide.Strings(part)
	}
	file := func(name string, encode func(io.Writer) error) error {
		var text bytes.Buffer
		if err := encode(&text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		emit(name)
		return writeFile(ctx, join(f.Output, name), text.Bytes())
	}
	if err := file("summary.json", doc.RolledUp(false).JSON); err != nil {
		return err
	}
	for _, chart := range doc.Charts() {
		if err := file(chart.File(), chart.PNG); err != nil {
			return err
		}
	}
	if err := file("report.html", doc.HTML); err != nil {
		return err
	}
	return file("report.md", doc.Markdown)
}
