package monitor

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// A dstatColumn is a column of dstat, dool or pcp dstat with its group: read of dsk/sda.
type dstatColumn struct{ group, name string }

// dstatColumns maps columns to those of columns.txt. The group is without its device.
var dstatColumns = map[dstatColumn]struct{ table, name, label string }{
	{"total cpu usage", "wai"}: {"cpu", "%iowait", ""},
	{"dsk", "read"}:            {"dstat", "read", "device"}, {"dsk", "writ"}: {"dstat", "writ", "device"},
	{"net", "recv"}: {"dstat", "recv", "device"}, {"net", "send"}: {"dstat", "send", "device"},
	{"load avg", "1m"}: {"sar", "ldavg-1", ""},
	{"procs", "run"}:   {"vmstat", "r", ""}, {"procs", "blk"}: {"vmstat", "b", ""},
}

var (
	reDstat     = lazyregexp.New(`^"(?:Dstat|dool|pcp-dstat)\b.*CSV output"`)
	reDstatHead = lazyregexp.New(`^(?:-[-a-z0-9/_.]*[a-z][-a-z0-9/_.]*-?(?: |$))+$`)
)

// isDstat reports whether a line is the first one of dstat: of its CSV, or the names of
// groups of columns between dashes.
func isDstat(text string) bool {
	return reDstat().MatchString(text) || isDstatHead(text)
}

func isDstatHead(text string) bool {
	return (strings.Contains(text, "-cpu-usage-") || strings.Contains(text, "-dsk/") || strings.Contains(text, "-net/")) && reDstatHead().MatchString(text)
}

// dstatHeader begins a table of dstat if a line is its heading.
func (f *Finder) dstatHeader(text string) bool {
	switch {
	case reDstat().MatchString(text):
		f.kind, f.day = dstatCSV, logs.NoTime
	case isDstatHead(text):
		f.kind = dstat
	default:
		return false
	}
	f.cols, f.dstat, f.time, f.clock = nil, nil, logs.NoTime, 0
	if f.kind == dstat {
		for _, w := range strings.Fields(text) {
			f.cols = append(f.cols, dstatGroup(strings.ReplaceAll(strings.Trim(w, "-"), "-", " ")))
		}
	}
	return true
}

// dstatGroup returns the name of a group in one form. Narrow groups are shortened.
func dstatGroup(name string) string {
	if strings.HasSuffix(name, "cpu usage") || strings.HasPrefix(name, "total cpu") {
		return "total cpu usage"
	}
	return name
}

// dstatRow reads a line of the table on a screen, whose groups are separated by bars.
func (f *Finder) dstatRow(line string) bool {
	parts := strings.Split(strings.TrimRight(strings.TrimSpace(line), "|"), "|")
	if len(parts) != len(f.cols) {
		return false
	}
	if f.dstat == nil || strings.Contains(line, "usr") || strings.Contains(line, "read") || strings.Contains(line, "recv") {
		f.dstat, f.widths = f.dstat[:0], f.widths[:0]
		for i, p := range parts {
			f.widths = append(f.widths, len(strings.Fields(p)))
			for _, name := range strings.Fields(p) {
				f.dstat = append(f.dstat, dstatColumn{f.cols[i], name})
			}
		}
		return len(f.dstat) > 0
	}
	var cells []string
	for i, p := range parts {
		words := strings.Fields(p)
		n := f.widths[i]
		if n == 1 && len(words) == 2 && strings.Contains(words[1], ":") { // a date and a time
			words = []string{p}
		}
		if len(words) != n {
			return false
		}
		cells = append(cells, words...)
	}
	return f.dstatValues(cells)
}

// dstatCSVRow reads a line of the CSV: who recorded it, the groups, the names, and values.
func (f *Finder) dstatCSVRow(line string) bool {
	r := csv.NewReader(strings.NewReader(line))
	r.LazyQuotes = true
	cells, err := r.Read()
	if err != nil || len(cells) == 0 {
		return line == ""
	}
	switch {
	case strings.HasSuffix(cells[0], ":"):
		if i := slices.Index(cells, "Date:"); i >= 0 && i+1 < len(cells) {
			if date := strings.Fields(cells[i+1]); len(date) >= 4 {
				if t, err := time.Parse("2 Jan 2006", strings.Join(date[:3], " ")); err == nil {
					f.day = t.UnixNano()
				}
			}
		}
	case f.cols == nil || slices.Contains(cells, "total cpu usage"):
		f.cols, f.dstat = cells, nil
		for i := range f.cols {
			if f.cols[i] == "" && i > 0 { // of a group of several columns
				f.cols[i] = f.cols[i-1]
			}
		}
	case f.dstat == nil:
		if len(cells) != len(f.cols) {
			return false
		}
		for i, name := range cells {
			f.dstat = append(f.dstat, dstatColumn{dstatGroup(f.cols[i]), name})
		}
	default:
		return f.dstatValues(cells)
	}
	return true
}

// dstatValues adds the values of one row. The first row has the means since the start.
func (f *Finder) dstatValues(cells []string) bool {
	if len(cells) != len(f.dstat) {
		return false
	}
	const key = "dstat"
	for i, c := range f.dstat {
		if c.name == "epoch" {
			if s, err := strconv.ParseFloat(cells[i], 64); err == nil && s > 1e9 && s < 1<<33 {
				f.time = int64(s * 1e9)
				f.b.Clock(f.time, true, true)
			}
		} else if c.name == "time" {
			words := strings.Fields(cells[i])
			if s, ok := secondsOf(words[max(0, len(words)-1):][0]); ok && len(words) > 0 {
				f.setTime(s, false)
			}
		}
	}
	isFirst := !f.first["dstat row"]
	f.first["dstat row"] = true
	f.b.Record("dstat", false)
	memory := map[string]float64{}
	for i, c := range f.dstat {
		v, ok := dstatNumber(cells[i])
		if !ok {
			continue
		}
		if c.group == "memory usage" {
			memory[c.name] = v
		}
		if c.group == "total cpu usage" && c.name == "idl" {
			f.use("dstat", v, key, isFirst)
			continue
		}
		group, device, _ := strings.Cut(c.group, "/")
		to, known := dstatColumns[dstatColumn{group, c.name}]
		if !known {
			continue
		}
		var labels []logs.Label
		if to.label != "" {
			labels = []logs.Label{{Name: to.label, Value: device}}
		}
		f.addAfterFirst("dstat", to.table, to.name, strconv.FormatFloat(v, 'f', -1, 64), key, isFirst, labels...)
	}
	if total := memory["used"] + memory["free"] + memory["buff"] + memory["cach"]; total > 0 && memory["free"] > 0 {
		f.add("dstat", "sar", "%memused", strconv.FormatFloat(100*memory["used"]/total, 'f', -1, 64))
	}
	return true
}

// dstatNumber reads a number with the letter of a power of 1024: "77k", "5408B".
func dstatNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	factor := 1.0
	if n := len(s); n > 1 {
		if i := strings.IndexByte("BkMGT", s[n-1]); i >= 0 {
			for range i {
				factor *= 1024
			}
			s = s[:n-1]
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * factor, err == nil && v >= 0
}
