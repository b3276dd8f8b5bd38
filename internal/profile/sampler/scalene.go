package sampler

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/profile"
)

// SniffScalene reports whether a file that begins with head is a profile of Scalene. Its members are sorted by name,
// so that those of lines may follow the members of the program.
func SniffScalene(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"elapsed_time_sec"`)) &&
		(bytes.Contains(head, []byte(`"alloc_samples"`)) || bytes.Contains(head, []byte(`"n_cpu_percent_python"`)))
}

// A scaleneLine is a line or a function of Scalene. Its text is not read: code may hold secrets.
type scaleneLine struct {
	Line   int64   `json:"lineno"`
	Name   string  `json:"line"` // of a function
	Python float64 `json:"n_cpu_percent_python"`
	Native float64 `json:"n_cpu_percent_c"`
	System float64 `json:"n_sys_percent"`
	GPU    float64 `json:"n_gpu_percent"`
	Malloc float64 `json:"n_malloc_mb"`
	Peak   float64 `json:"n_peak_mb"`
	Copy   float64 `json:"n_copy_mb_s"`
}

func (l *scaleneLine) cpu() float64 { return l.Python + l.Native + l.System }

// plus adds what adds up; the peak is the largest.
func (l *scaleneLine) plus(m *scaleneLine, sign float64) {
	l.Python, l.Native, l.System = l.Python+sign*m.Python, l.Native+sign*m.Native, l.System+sign*m.System
	l.GPU, l.Malloc, l.Copy = l.GPU+sign*m.GPU, l.Malloc+sign*m.Malloc, l.Copy+sign*m.Copy
	l.Peak = max(l.Peak, m.Peak)
}

// A scaleneRow is a function with its largest line.
type scaleneRow struct {
	scaleneLine
	file    string
	hottest scaleneLine
}

// A scalene reads one file.
type scalene struct {
	*jsonwalk.Reader
	file    string
	elapsed float64 // s
	rows    []*scaleneRow
	records int64
	most    int
	left    scaleneLine
	pooled  int64
	issues  diag.Ledger
}

// ReadScalene reads a profile of Scalene: a table of functions, in which the code outside functions is one of its file.
func ReadScalene(in io.Reader, file string, rows int) (*profile.Tables, error) {
	s := &scalene{Reader: jsonwalk.NewReader(in), file: file, most: cmp.Or(rows, 1<<18)}
	err := s.Object(func(key string) error {
		switch key {
		case "elapsed_time_sec":
			_, err := s.Value(&s.elapsed)
			return err
		case "files":
			return s.Object(s.source)
		}
		return s.Skip()
	})
	if err != nil {
		issueCut(file, s.Offset(), err, &s.issues)
	}
	busy := 0.0
	for _, r := range s.rows {
		busy += r.cpu()
	}
	if busy <= 0 || !(s.elapsed > 0) {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Offset: s.Offset()},
			Msg: "the profile of Scalene has no line with CPU time, or not the time that the program took; record again: scalene --cpu --json --outfile profile.json PROGRAM"}
	}
	s.issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: file},
		Help: "A table reached its row limit. The rows counted here are added up in one: sums are correct, but names are missing. Raise --max-memory."}, s.pooled)
	const over = 101 // percent, with rounding
	if busy > over {
		s.issues.Add(diag.Issue{Code: "share-mismatch", Severity: diag.Suspect, First: diag.Pos{File: file},
			Help: fmt.Sprintf("The lines have %.0f%% of the time that the program took. Several processes are in one profile, so shares are those of their sum. Give the profile of one process.", busy)})
	}
	return &profile.Tables{Tool: "scalene", List: []*profile.Table{s.table()}, Records: s.records, Complete: err == nil, Issues: s.issues.Issues()}, nil
}

// source reads what belongs to one source file.
func (s *scalene) source(name string) error {
	var lines, functions []scaleneLine
	read := func(to *[]scaleneLine) error {
		return s.Array(func() error {
			var l scaleneLine
			fits, err := s.Value(&l)
			if err != nil {
				return err
			}
			if s.records++; !fits || !l.sane() {
				s.issues.Add(diag.Issue{Code: "value-malformed", Severity: diag.DataLoss, First: diag.Pos{File: s.file, Offset: s.Offset()}})
				return nil
			}
			if l.cpu() > 0 || l.GPU > 0 || l.Malloc > 0 || l.Copy > 0 {
				*to = append(*to, l)
			}
			return nil
		})
	}
	err := s.Object(func(key string) error {
		switch key {
		case "lines":
			return read(&lines)
		case "functions":
			return read(&functions)
		}
		return s.Skip()
	})
	s.add(name, lines, functions)
	return err
}

// sane reports whether the numbers of a line are possible.
func (l *scaleneLine) sane() bool {
	for _, v := range []float64{l.Python, l.Native, l.System, l.GPU, l.Malloc, l.Peak, l.Copy} {
		if !(v >= 0) || v > 1e9 {
			return false
		}
	}
	return l.Line >= 0
}

// add makes the rows of a source file. What is in no function is code of the module.
func (s *scalene) add(name string, lines, functions []scaleneLine) {
	slices.SortFunc(functions, func(a, b scaleneLine) int { return cmp.Compare(a.Line, b.Line) })
	module := &scaleneRow{file: name}
	module.Name, module.Line = "<module>", 1
	rows := make([]*scaleneRow, len(functions))
	for i, f := range functions {
		f.Name = cut(f.Name)
		rows[i] = &scaleneRow{scaleneLine: f, file: name}
		module.plus(&f, -1)
	}
	for _, l := range lines {
		l.Name = ""
		at := module
		for _, r := range rows { // the last function that begins at or above the line, as far as the file tells
			if r.Line <= l.Line && r.cpu() >= l.cpu()*0.999 {
				at = r
			}
		}
		if module.plus(&l, 1); l.cpu() > at.hottest.cpu() {
			at.hottest = l
		}
	}
	const rounding = 0.05 // percent
	if module.cpu() > rounding {
		module.Malloc, module.Copy, module.GPU = max(0, module.Malloc), max(0, module.Copy), max(0, module.GPU)
		module.Python, module.Native, module.System = max(0, module.Python), max(0, module.Native), max(0, module.System)
		rows = append(rows, module)
	}
	for _, r := range rows {
		if len(s.rows) >= s.most {
			s.left.plus(&r.scaleneLine, 1)
			s.pooled++
			continue
		}
		s.rows = append(s.rows, r)
	}
}

// table makes the table of functions.
func (s *scalene) table() *profile.Table {
	t := &profile.Table{Name: "functions", Title: "Functions (Scalene)", Of: profile.OfFunction}
	t.Columns = []profile.Heading{{Name: "self", Unit: "nanoseconds", Adds: profile.Self}, {Name: "python", Unit: "nanoseconds", Adds: profile.Self}, {Name: "native", Unit: "nanoseconds", Adds: profile.Self},
		{Name: "system", Unit: "nanoseconds", Adds: profile.Self}}
	optional := []struct {
		profile.Heading
		value func(l *scaleneLine) float64
	}{
		{profile.Heading{Name: "GPU", Unit: "%"}, func(l *scaleneLine) float64 { return l.GPU }},
		{profile.Heading{Name: "allocated", Unit: "bytes", Adds: profile.Self}, func(l *scaleneLine) float64 { return l.Malloc * (1 << 20) }},
		{profile.Heading{Name: "peak", Unit: "bytes"}, func(l *scaleneLine) float64 { return l.Peak * (1 << 20) }},
		{profile.Heading{Name: "copied", Unit: "MB/s"}, func(l *scaleneLine) float64 { return l.Copy }},
	}
	shown := optional[:0]
	for _, o := range optional {
		if slices.ContainsFunc(s.rows, func(r *scaleneRow) bool { return o.value(&r.scaleneLine) >= 0.5 }) {
			shown = append(shown, o)
			t.Columns = append(t.Columns, o.Heading)
		}
	}
	cells := func(l *scaleneLine) (out []profile.Cell) {
		ns := func(percent float64) profile.Cell { return profile.Known(rounded(percent / 100 * s.elapsed * 1e9)) }
		out = []profile.Cell{ns(l.cpu()), ns(l.Python), ns(l.Native), ns(l.System)}
		for _, o := range shown {
			out = append(out, profile.Known(rounded(o.value(l))))
		}
		return out
	}
	slices.SortStableFunc(s.rows, func(a, b *scaleneRow) int { return cmp.Compare(b.cpu(), a.cpu()) })
	for _, r := range s.rows {
		name := fmt.Sprintf("%s:%d %s", path.Base(strings.ReplaceAll(r.file, `\`, "/")), r.Line, r.Name)
		row := profile.Row{Name: name, Cells: cells(&r.scaleneLine), Labels: []profile.Label{{Key: "file", Text: cut(r.file)}}}
		if share := r.hottest.cpu() / max(r.cpu(), math.SmallestNonzeroFloat64); share > 0 {
			row.Labels = append(row.Labels, profile.Label{Key: "largest line", Text: fmt.Sprintf("%d (%.0f%%)", r.hottest.Line, 100*min(1, share))})
		}
		t.Rows = append(t.Rows, row)
	}
	if t.Left = s.pooled; s.pooled > 0 {
		t.Rest = cells(&s.left)
	}
	return t
}
