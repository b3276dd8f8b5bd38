package ascend

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/profile"
	"assay/internal/redact"
	"assay/internal/textscan"
)

// Formats of tables without a timeline: step_trace_time.csv and communication.json, of one rank or of a cluster.
const (
	FormatSteps       = "ascend-steps"
	FormatCollectives = "ascend-collectives"
)

// stepColumns are the columns of the parts of a step, as they are shown and as they are in the file. The first three add up
// to the step; the profiler calls idle time free.
var stepColumns = [][2]string{{"compute", parts[0]}, {"exposed comm", parts[2]}, {"idle", parts[3]}, {"overlapped comm", overlapped},
	{"bubble", "Bubble"}}

// SniffSteps reports whether a file that begins with head is a table of steps.
func SniffSteps(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	cells := split(nil, strings.TrimPrefix(string(line), "\ufeff"))
	return !slices.ContainsFunc(append([]string{"Step"}, parts...), func(name string) bool { return !slices.Contains(cells, name) })
}

// ReadSteps reads a table of steps.
func ReadSteps(in io.Reader, file string, rows int) (*profile.Tables, error) {
	out := &profile.Tables{Tool: "ascend", Complete: true}
	t := &profile.Table{Name: "ascend_steps", Title: "Parts of steps (Ascend profiler)", Of: profile.OfRow, Line: 1,
		Columns: []profile.Heading{{Name: "total", Unit: "nanoseconds", Adds: profile.Total}}}
	for _, c := range stepColumns {
		t.Columns = append(t.Columns, profile.Heading{Name: c[0], Unit: "nanoseconds", Adds: profile.Total})
	}
	var issues diag.Ledger
	lines := textscan.NewReader(in, maxLine)
	header, _, err := lines.Next()
	names := split(nil, strings.TrimPrefix(header, "\ufeff"))
	at := func(cells []string, name string) string {
		if i := slices.Index(names, name); i >= 0 && i < len(cells) {
			return cells[i]
		}
		return ""
	}
	for err == nil {
		var line string
		var cut bool
		if line, cut, err = lines.Next(); strings.TrimSpace(line) == "" {
			continue
		}
		out.Records++
		cells := split(nil, line)
		if kind := at(cells, "Type"); kind != "" && kind != "rank" {
			continue // the largest values of the ranks of a stage
		}
		row := profile.Row{Name: stepName(func(name string) string { return at(cells, name) }), Line: lines.N, Cells: []profile.Cell{{}}}
		whole := int64(0)
		for i, c := range stepColumns {
			ns, ok := floating(at(cells, c[1]), 1000)
			if row.Cells = append(row.Cells, profile.Cell{Value: ns, Known: ok}); i < 3 {
				whole += ns
				cut = cut || !ok
			}
		}
		if row.Cells[0] = profile.Known(whole); cut || len(t.Rows) >= cmp.Or(rows, 1<<16) {
			issues.Add(diag.Issue{Code: "row-malformed", Severity: diag.DataLoss, First: diag.Pos{File: file, Line: lines.N},
				Help: "Rows of the table without usable times, or over the limit of rows, were left out. Copy the file again, or raise --max-memory."})
			continue
		}
		t.Rows = append(t.Rows, row)
	}
	if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(t.Rows) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Line: lines.N}, Msg: "no row of the table has the times of a step; copy the file again"}
	}
	out.List, out.Issues = []*profile.Table{t}, issues.Issues()
	return out, nil
}

// stepName returns the name of a row, by its cells.
func stepName(cell func(string) string) string {
	var words []string
	for _, name := range [][2]string{{"Step", "step "}, {"Index", "rank "}, {"Device_id", "NPU "}} {
		if text := cell(name[0]); text != "" {
			words = append(words, name[1]+redact.Cut(text, 64))
		}
	}
	return cmp.Or(strings.Join(words, ", "), "all steps")
}

// floating returns a decimal number times a factor, and false for anything that is no time.
func floating(text string, factor float64) (int64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	if v *= factor; err != nil || !(v >= 0) || v > math.MaxInt64/1024 {
		return 0, false
	}
	return int64(math.Round(v)), true
}

// SniffCollectives reports whether a file that begins with head has the collectives of a capture.
func SniffCollectives(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"Communication Time Info"`))
}

// An operation is what communication.json says of a collective on one rank.
type operation struct {
	Time  *times          `json:"Communication Time Info"`
	Links map[string]link `json:"Communication Bandwidth Info"`
}

type times struct {
	Elapse  float64 `json:"Elapse Time(ms)"`
	Transit float64 `json:"Transit Time(ms)"`
	Wait    float64 `json:"Wait Time(ms)"`
}

type link struct {
	MB float64 `json:"Transit Size(MB)"`
}

// bytes returns what was sent. SDMA is the sum of the links within a machine.
func (o *operation) bytes() float64 {
	near := o.Links["SDMA"].MB
	if near == 0 {
		near = o.Links["HCCS"].MB + o.Links["PCIE"].MB + o.Links["SIO"].MB
	}
	return 1e6 * (near + o.Links["RDMA"].MB)
}

// A sum is the calls of a collective on a rank. The times are in ms.
type sum struct {
	count                       int64
	elapse, transit, wait, sent float64
}

// sums are the sums of collectives by name.
type sums map[string]*sum

// add adds a collective. It returns false if its times are unusable; those over the limit of rows are left out.
func (s sums) add(name string, o *operation, rows int) bool {
	if o.Time == nil || !(o.Time.Elapse >= 0 && o.Time.Elapse < 1e12) {
		return false
	}
	of := s[name]
	if of == nil {
		if len(s) >= cmp.Or(rows, 1<<16) {
			return true
		}
		of = new(sum)
		s[name] = of
	}
	of.count, of.elapse, of.transit, of.wait = of.count+1, of.elapse+o.Time.Elapse, of.transit+o.Time.Transit, of.wait+o.Time.Wait
	of.sent += o.bytes()
	return true
}

// ReadCollectives reads the collectives of a capture: by step and kind those of a rank, by group and step those of a cluster,
// which have a member for each rank.
func ReadCollectives(in io.Reader, file string, rows int) (*profile.Tables, error) {
	r := jsonwalk.NewReader(in)
	sums := make(sums)
	out := &profile.Tables{Tool: "ascend"}
	var issues diag.Ledger
	add := func(name string, body json.RawMessage) {
		var o operation
		if err := json.Unmarshal(body, &o); err != nil || !sums.add(name, &o, rows) {
			issues.Add(diag.Issue{Code: "record-malformed", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: r.Offset()},
				Help: "Collectives without usable times were left out. Copy the file again."})
		}
	}
	err := r.Object(func(string) error {
		return r.Object(func(string) error {
			return r.Object(func(name string) error {
				var body map[string]json.RawMessage
				if _, err := r.Value(&body); err != nil || name == "Total Op Info" {
					return err
				}
				out.Records++
				kind := redact.Cut(taskOf(name, "").Name, maxName)
				if body["Communication Time Info"] != nil {
					whole, _ := json.Marshal(body)
					add(kind, whole)
					return nil
				}
				for rank, part := range body {
					add(kind+" (rank "+redact.Cut(rank, 16)+")", part)
				}
				return nil
			})
		})
	})
	if err != nil {
		issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: r.Offset()},
			Help: fmt.Sprintf("The file cannot be read to its end (%v). What follows is missing. Copy the file again.", err)})
	}
	if len(sums) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Offset: r.Offset()}, Msg: "the file has no collective with times; copy it again"}
	}
	out.List, out.Complete, out.Issues = []*profile.Table{collectiveTable(sums)}, err == nil, issues.Issues()
	return out, nil
}

// collectiveTable makes a table of sums, the one with the most time first.
func collectiveTable(sums sums) *profile.Table {
	ns := func(heading string, adds profile.Adds) profile.Heading {
		return profile.Heading{Name: heading, Unit: "nanoseconds", Adds: adds}
	}
	t := &profile.Table{Name: "ascend_collectives", Title: "Collectives (Ascend profiler)", Of: profile.OfRow,
		Columns: []profile.Heading{ns("total", profile.Total), {Name: "count", Unit: "count", Adds: profile.Total}, ns("transfer", profile.Total),
			ns("wait", profile.Total), {Name: "bytes", Unit: "bytes", Adds: profile.Total}}}
	for name, s := range sums {
		cells := []profile.Cell{}
		for _, ms := range []float64{s.elapse, s.transit, s.wait} {
			cells = append(cells, profile.Cell{Value: int64(math.Round(ms * 1e6)), Known: ms >= 0 && ms < 1e12})
		}
		cells = slices.Insert(cells, 1, profile.Known(s.count))
		t.Rows = append(t.Rows, profile.Row{Name: name, Cells: append(cells, profile.Cell{Value: int64(math.Round(s.sent)), Known: s.sent >= 0 && s.sent < 1e18})})
	}
	slices.SortFunc(t.Rows, func(a, b profile.Row) int {
		return cmp.Or(cmp.Compare(b.Cells[0].Value, a.Cells[0].Value), strings.Compare(a.Name, b.Name))
	})
	return t
}
