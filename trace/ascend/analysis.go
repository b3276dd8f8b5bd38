package ascend

import (
	"errors"
	"fmt"

	"assay/internal/database"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/redact"
)

// ErrNoCollectives means that a database of communication has no collective with times.
var ErrNoCollectives = errors.New("the database has no collective with times")

// stepTable is the table of the parts of steps.
const stepTable = "StepTraceTime"

// mostCollectives is the number of collectives whose links are kept; about 500 bytes each.
const mostCollectives = 1 << 18

// A collectiveKey is a collective of a step.
type collectiveKey struct{ name, group, step string }

// ReadAnalysis reads the collectives of analysis.db of torch_npu and communication_analyzer.db of msprof, which say what
// communication.json says. It returns false if the database at path is none of them. The table StepTraceTime does not say
// its unit, so it is only compared with a timeline ([CompareAnalysis]).
func ReadAnalysis(path, file string, rows int) (out *profile.Tables, ok bool, err error) {
	db, err := database.Open(path)
	if err != nil {
		return nil, false, nil // the reader of other databases says why
	}
	defer db.Close()
	if len(db.Columns("CommAnalyzerTime"))+len(db.Columns(stepTable)) == 0 {
		return nil, false, nil
	}
	var issues diag.Ledger
	scan := func(table string, columns []string, each func(*database.Row) bool) {
		if err := db.Scan(table, columns, each); err != nil && len(db.Columns(table)) > 0 {
			issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Path: table},
				Help: fmt.Sprintf("A table of the database ends early (%v). What follows is missing. Copy the file again.", err)})
		}
	}
	if is, cut := db.Cut(file); cut {
		issues.Add(is)
	}
	links := make(map[collectiveKey]map[string]link)
	key := func(row *database.Row) collectiveKey {
		text := func(column int) string { return redact.Cut(string(row.Text(column)), maxName) }
		return collectiveKey{text(0), text(1), text(2)}
	}
	// A link has a row for each size of its packets, all with the same sum.
	scan("CommAnalyzerBandwidth", []string{"hccl_op_name", "group_name", "step", "transport_type", "transit_size"}, func(row *database.Row) bool {
		k, kind := key(row), redact.Cut(string(row.Text(3)), 16)
		if links[k] == nil {
			links[k] = make(map[string]link)
		}
		if len(links[k]) < 16 {
			links[k][kind] = link{row.Float(4)}
		}
		return len(links) < mostCollectives
	})
	out, all := &profile.Tables{Tool: "ascend"}, make(sums)
	scan("CommAnalyzerTime", []string{"hccl_op_name", "group_name", "step", "elapse_time", "transit_time", "wait_time"}, func(row *database.Row) bool {
		k := key(row)
		if k.name == "Total Op Info" {
			return true
		}
		out.Records++
		o := operation{Links: links[k]}
		if !row.NotNumber(3) && !row.Null(3) {
			o.Time = &times{row.Float(3), row.Float(4), row.Float(5)}
		}
		if !all.add(taskOf(k.name, "").Name, &o, rows) {
			issues.Add(diag.Issue{Code: "record-malformed", Severity: diag.DataLoss, First: diag.Pos{File: file, Path: "CommAnalyzerTime"},
				Help: "Collectives without usable times were left out. Copy the file again."})
		}
		return true
	})
	if len(all) == 0 {
		return nil, true, ErrNoCollectives
	}
	out.List, out.Issues = []*profile.Table{collectiveTable(all)}, issues.Issues()
	out.Complete = len(out.Issues) == 0
	return out, true, nil
}
