package monitor

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// The producers for GPUs of AMD.
const (
	rocmSMI = "rocm-smi"
	amdSMI  = "amd-smi"
)

// isAmdCSV reports whether a line is the heading of "amd-smi metric --csv" or of "amd-smi
// monitor --csv".
func isAmdCSV(line []byte) bool {
	has := func(name string) bool { return bytes.Contains(line, []byte(name)) }
	return (bytes.HasPrefix(line, []byte("gpu,")) || has(",gpu,")) &&
		(has(",gfx_activity,") || has(",power_usage,") || has(",hotspot_temperature,") || has(",gfx_clk") || has("used_vram") || has("vram_used"))
}

// isRocmCSV reports whether a line is the heading of "rocm-smi --csv".
func isRocmCSV(line []byte) bool {
	for name := range strings.SplitSeq(string(line), ",") {
		if cardColumn(name) != "" {
			return true
		}
	}
	return false
}

// isRocmTable reports whether a line is the heading of the table of rocm-smi.
func isRocmTable(line []byte) bool {
	words := bytes.Fields(line)
	n := len(words)
	return n > 5 && (string(words[0]) == "GPU" || string(words[0]) == "Device") && string(words[n-1]) == "GPU%" && string(words[n-2]) == "VRAM%"
}

// amdHeader begins a table of amd-smi or of rocm-smi if a line is its heading.
func (f *Finder) amdHeader(line, text string) bool {
	switch {
	case strings.HasPrefix(text, "GPU["):
		if f.kind != rocmList {
			f.kind, f.time = rocmList, logs.NoTime
		}
		return f.rocmListRow(line)
	case strings.HasPrefix(text, "device,") && isRocmCSV([]byte(text)):
		f.kind = rocmCSV
	case strings.IndexByte(text, ',') > 0 && isAmdCSV([]byte(text)):
		f.kind = amdCSV
	default:
		return false
	}
	f.cols = strings.Split(text, ",")
	return true
}

// amdRow reads a row of one of the tables with commas. A cell with a list has quotes.
func (f *Finder) amdRow(line string) bool {
	cells := strings.Split(line, ",")
	if strings.Contains(line, `"`) {
		r := csv.NewReader(strings.NewReader(line))
		r.LazyQuotes = true
		cells, _ = r.Read()
	}
	if len(cells) != len(f.cols) {
		return false
	}
	if f.kind == rocmCSV {
		return f.rocmCSVRow(cells)
	}
	table, gpu := amdTable(f.cols), ""
	f.time = logs.NoTime
	for i, c := range f.cols {
		switch c {
		case "gpu":
			gpu = strings.TrimSpace(cells[i])
		case "timestamp":
			f.amdTime(cells[i])
		}
	}
	if _, err := strconv.Atoi(gpu); err != nil {
		return false
	}
	f.b.Record(amdSMI, false)
	for i, c := range f.cols {
		if c != "gpu" && c != "timestamp" && c != "xcp" {
			value, _, _ := strings.Cut(strings.TrimSpace(cells[i]), " ") // the unit may follow
			f.add(amdSMI, table, c, value, gpuLabel(gpu))
		}
	}
	return true
}

// amdTable returns the kind of the columns of amd-smi. The column mem is the temperature of
// the memory in those of metric, and its use in those of monitor.
func amdTable(cols []string) string {
	for _, c := range cols {
		switch c {
		case "gfx_activity", "umc_activity", "socket_power", "hotspot", "edge", "used_vram":
			return "amd"
		}
	}
	return "amdmon"
}

// amdTime sets the time of a row, in seconds since 1970.
func (f *Finder) amdTime(text string) {
	if n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil && n > 1e9 && n < 1<<33 {
		f.time = n * second
		f.b.Clock(f.time, true, true)
	}
}

// rocmCSVRow reads a row of "rocm-smi --csv": card0 and the values.
func (f *Finder) rocmCSVRow(cells []string) bool {
	gpu, ok := strings.CutPrefix(cells[0], "card")
	if _, err := strconv.Atoi(gpu); err != nil || !ok {
		return false
	}
	f.time = logs.NoTime
	f.b.Record(rocmSMI, false)
	for i, name := range f.cols[1:] {
		f.cardValue(name, strings.TrimSpace(cells[i+1]), gpu)
	}
	return true
}

// cardValue adds a value of rocm-smi by its name.
func (f *Finder) cardValue(name, text, gpu string) {
	column := cardColumn(name)
	if column == "" {
		return
	}
	if m := reMHz().FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	f.add(rocmSMI, "rocm", column, text, gpuLabel(gpu))
}

var (
	reRocmList  = lazyregexp.New(`^\s*GPU\[(\d{1,3})\]\s*: (.+?):\s+(\S.*)$`)
	reRocmTemp  = lazyregexp.New(`^(\d+(?:\.\d+)?)°?[cC]$`)
	reRocmPower = lazyregexp.New(`^(\d+(?:\.\d+)?)W$`)
)

// rocmListRow reads a line of the long form of rocm-smi: "GPU[0] : GPU use (%): 35".
func (f *Finder) rocmListRow(line string) bool {
	m := reRocmList().FindStringSubmatch(line)
	if m == nil {
		return strings.HasPrefix(line, "=")
	}
	if cardColumn(m[2]) != "" {
		f.b.Record(rocmSMI, false)
		f.cardValue(m[2], strings.TrimSpace(m[3]), m[1])
	}
	return true
}

// rocmTableRow reads a row of the table of rocm-smi. Names of GPUs have spaces, so that its
// values are known by their units, and the last two by their place.
func (f *Finder) rocmTableRow(words []string) bool {
	n := len(words)
	if n < 6 {
		return n > 0 && strings.HasPrefix(words[0], "=")
	}
	if _, err := strconv.Atoi(words[0]); err != nil || !strings.HasSuffix(words[n-1], "%") && words[n-1] != "N/A" {
		return false
	}
	f.time = logs.NoTime
	f.b.Record(rocmSMI, false)
	label := gpuLabel(words[0])
	var clocks []string
	power := false
	for _, w := range words[1 : n-2] {
		if m := reRocmTemp().FindStringSubmatch(w); m != nil {
			f.add(rocmSMI, "rocm", "junction", m[1], label)
		} else if m := reRocmPower().FindStringSubmatch(w); m != nil && !power { // the second is the limit
			power = true
			f.add(rocmSMI, "rocm", "power", m[1], label)
		} else if m := reMHz().FindStringSubmatch(w); m != nil {
			clocks = append(clocks, m[1])
		}
	}
	if len(clocks) == 2 {
		f.add(rocmSMI, "rocm", "sclk", clocks[0], label)
		f.add(rocmSMI, "rocm", "mclk", clocks[1], label)
	}
	f.add(rocmSMI, "rocm", "vramshare", words[n-2], label)
	f.add(rocmSMI, "rocm", "use", words[n-1], label)
	return true
}
