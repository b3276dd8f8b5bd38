package monitor

import (
	"cmp"
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
	"assay/logs"
)

// The producers.
const (
	nvidiaSMI = "nvidia-smi"
	dcgm      = "DCGM"
)

// A tick counts rows without a time.
type tick struct {
	last string // the GPU of the last row
	gpus map[string]bool
}

func gpuLabel(index string) logs.Label { return logs.Label{Name: "gpu", Value: index} }

// dmonRow reads a row of dmon.
func (f *Finder) dmonRow(words []string) bool {
	if len(words) != len(f.cols) {
		return false
	}
	var gpu, date, clock string
	f.time = logs.NoTime
	for i, c := range f.cols {
		switch c {
		case "gpu":
			gpu = words[i]
		case "Date":
			date = words[i]
		case "Time":
			clock = words[i]
		}
	}
	if _, err := strconv.Atoi(gpu); err != nil {
		return false
	}
	f.stamp(date, clock)
	f.b.Record(nvidiaSMI+" dmon", false)
	for i, c := range f.cols {
		if c != "gpu" && c != "Date" && c != "Time" && c != "gi" && c != "ci" {
			f.add(nvidiaSMI+" dmon", "dmon", c, words[i], gpuLabel(gpu))
		}
	}
	return true
}

// pmonRow reads a row of pmon. A GPU without processes has a row without values.
func (f *Finder) pmonRow(words []string) bool {
	if len(words) < len(f.cols) {
		return false
	}
	var gpu, pid string
	f.time = logs.NoTime
	for i, c := range f.cols[:len(f.cols)-1] {
		switch c {
		case "gpu":
			gpu = words[i]
		case "pid":
			pid = words[i]
		case "Date":
			f.stamp(words[i], "")
		case "Time":
			f.stamp("", words[i])
		}
	}
	if _, err := strconv.Atoi(gpu); err != nil {
		return false
	}
	if pid == "-" {
		return true
	}
	f.b.Record(nvidiaSMI+" pmon", false)
	command := strings.Join(words[len(f.cols)-1:], " ") // may have spaces
	for i, c := range f.cols[:len(f.cols)-1] {
		switch c {
		case "gpu", "pid", "type", "Date", "Time", "gi", "ci":
			continue
		}
		f.add(nvidiaSMI+" pmon", "pmon", c, words[i], gpuLabel(gpu), logs.Label{Name: "process", Value: command + " " + pid})
	}
	return true
}

// stamp sets the time of a row from a date (20240104) and a time of the day.
func (f *Finder) stamp(date, clock string) {
	if len(date) == 8 {
		if d, ok := dayOf(date[:4], date[4:6], date[6:]); ok {
			f.day = d
		}
	}
	if clock == "" {
		return
	}
	if s, ok := secondsOf(clock); ok {
		f.setTime(s, date != "")
	}
}

// queryHeader begins the CSV of a query.
func (f *Finder) queryHeader(text string) bool {
	var cols, units []string
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		unit := ""
		if i := strings.LastIndex(name, " ["); i > 0 {
			name, unit = name[:i], strings.TrimSuffix(name[i+2:], "]")
		}
		if name == "" || strings.Contains(name, " ") {
			return false
		}
		cols, units = append(cols, name), append(units, unit)
	}
	f.kind, f.cols, f.units, f.tick = query, cols, units, tick{}
	return true
}

// queryRow reads a row of a query. Rows without a number of the GPU are in the order of the
// GPUs, which is known if they have a uuid, a bus id, or a time.
func (f *Finder) queryRow(line string) bool {
	values := strings.Split(strings.TrimSpace(line), ",")
	if len(values) != len(f.cols) || len(values) < 2 {
		return false
	}
	gpu := ""
	f.time = logs.NoTime
	for i, c := range f.cols {
		values[i] = strings.TrimSpace(values[i])
		switch c {
		case "timestamp":
			if t, ok := dateTime(values[i]); ok {
				f.time = t
				f.b.Clock(t, true, false)
			}
		case "index":
			gpu = values[i]
		case "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial":
			if gpu == "" {
				gpu = values[i]
			}
		}
	}
	if gpu == "" {
		gpu = f.byOrder()
	}
	f.b.Record(nvidiaSMI+" query", false)
	for i, c := range f.cols {
		switch c {
		case "timestamp", "index", "uuid", "name", "serial", "driver_version", "vbios_version", "pci.bus_id", "gpu_uuid", "gpu_name", "gpu_bus_id", "gpu_serial":
			continue
		}
		value, unit, _ := strings.Cut(values[i], " ")
		if unit = cmp.Or(unit, f.units[i]); unit == "mW" || unit == "kW" { // other programs write the same table
			value = inWatts(value, unit)
		}
		if strings.HasPrefix(value, "0x") {
			f.throttled(c, value, gpu)
			continue
		}
		f.add(nvidiaSMI+" query", "query", c, value, gpuLabel(gpu))
	}
	return true
}

// inWatts returns a power in another unit in watts.
func inWatts(value, unit string) string {
	v, err := strconv.ParseFloat(value, 64)
	_, factor, ok := logs.ScaleOf(unit, false)
	if err != nil || !ok {
		return value
	}
	return strconv.FormatFloat(v*factor, 'g', -1, 64)
}

// byOrder returns the number of the GPU of a row without one, from the order of the rows.
// Rows of one sample are milliseconds apart; samples are at least ten times further apart.
func (f *Finder) byOrder() string {
	t := &f.tick
	if t.gpus == nil {
		t.gpus = map[string]bool{}
		t.last = "-1"
	}
	n, _ := strconv.Atoi(t.last)
	n++
	if f.time != logs.NoTime && f.clock != 0 && f.time-f.clock > 50e6 { // a new sample
		n = 0
	}
	f.clock = f.time
	if f.time == logs.NoTime {
		return "unknown"
	}
	t.last = strconv.Itoa(n)
	return t.last
}

// throttleBits are the reasons for reduced clocks that are limits: software power cap,
// hardware slowdown, software and hardware thermal slowdown, power brake. The other bits,
// such as idle and application clocks, are not.
const throttleBits = 0x4 | 0x8 | 0x20 | 0x40 | 0x80

// throttled adds 1 if clocks were reduced because of a limit, else 0.
func (f *Finder) throttled(column, value, gpu string) {
	bits, err := strconv.ParseUint(strings.TrimPrefix(value, "0x"), 16, 64)
	if err != nil || !strings.HasSuffix(column, ".active") || !strings.HasPrefix(column, "clocks_") {
		return
	}
	f.addThrottled(nvidiaSMI+" query", column, bits, gpu)
}

func (f *Finder) addThrottled(producer, column string, bits uint64, gpu string) {
	metric, _ := logs.MetricOf("gpu.throttled")
	v := 0.0
	if bits&throttleBits != 0 {
		v = 1
	}
	f.b.Add(f.b.Of(metric, producer, column, []logs.Label{gpuLabel(gpu)}, f.at), v, logs.NoStep, f.time, 0)
	for _, s := range slowed {
		metric, _ := logs.MetricOf(s.metric)
		v := 0.0
		if bits&s.bits != 0 && bits&s.not == 0 {
			v = 1
		}
		f.b.Add(f.b.Of(metric, producer, column, []logs.Label{gpuLabel(gpu)}, f.at), v, logs.NoStep, f.time, 0)
	}
}

// slowed are the metrics of single reasons for reduced clocks. Hardware slowdown is active
// together with its own reason, which is the temperature or a signal of the power supply.
var slowed = []struct {
	metric    string
	bits, not uint64
}{
	{"gpu.slowed_by_heat", 0x20 | 0x40, 0}, {"gpu.slowed_by_power_limit", 0x4, 0}, {"gpu.slowed_by_supply", 0x8 | 0x80, 0x40},
}

// isQuiet reports whether a series is of a fault that never occurred. Uncorrected errors are
// shown even if there are none.
func isQuiet(s *logs.Series) bool {
	fault := strings.HasPrefix(s.Metric.Name, "gpu.slowed_by_") || strings.HasPrefix(s.Metric.Name, "gpu.remap")
	switch s.Metric.Name {
	case "gpu.retired_pages", "gpu.ecc_corrected", "gpu.pcie_replays":
		fault = true
	}
	return fault && s.N > 0 && s.Max == 0
}

// dcgmRow reads a row of the long form: GPU, time in µs, field, value.
func (f *Finder) dcgmRow(words []string) bool {
	if len(words) != 4 {
		return false
	}
	us, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil || us < 0 || us > 1<<52 {
		return false
	}
	f.time = us * 1000
	f.b.Clock(f.time, true, true)
	f.b.Record(dcgm, false)
	if words[2] == "current_clock_throttle_reasons" {
		if bits, err := strconv.ParseUint(words[3], 10, 64); err == nil {
			f.addThrottled(dcgm, words[2], bits, words[0])
		}
		return true
	}
	if !strings.HasPrefix(words[2], "throttle_reason") {
		f.add(dcgm, "dcgm", words[2], words[3], gpuLabel(words[0]))
	}
	return true
}

// dcgmDmonRow reads a row of dcgmi dmon, whose entity is two words: "GPU 0".
func (f *Finder) dcgmDmonRow(words []string) bool {
	if len(words) != len(f.cols)+2 || !strings.HasPrefix(words[0], "GPU") && words[0] != "CI" {
		return false
	}
	f.time = logs.NoTime
	f.b.Record(dcgm, false)
	label := gpuLabel(words[1])
	if words[0] != "GPU" {
		label.Value = words[0] + " " + words[1]
	}
	for i, c := range f.cols {
		f.add(dcgm, "dcgm", c, words[i+2], label)
	}
	return true
}

// A panel is the table that nvidia-smi prints without options, in which a GPU has two lines.
type panel struct {
	gpu int // of the first line, or -1
}

var (
	rePanelGPU = lazyregexp.New(`^\|\s+(\d{1,3})\s+\S`)
	rePanelRow = lazyregexp.New(`^\|\s*(?:N/A|ERR!|\d+%)\s+(\d+)C\s+P\d+\s+(\d+|N/A)W?\s*/\s*(\d+|\S+?)W?\s*\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|\s*(\d+%|N/A)`)
	rePanelDay = lazyregexp.New(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d:\d\d:\d\d) (\d{4})`)
)

func (f *Finder) endPanel() { f.panel = panel{gpu: -1} }

// panelRow reads a line of the panel.
func (f *Finder) panelRow(line string) bool {
	text := strings.TrimSpace(line)
	if m := rePanelDay().FindStringSubmatch(text); m != nil {
		f.panelTime(m)
		return true
	}
	if !strings.HasPrefix(text, "|") && !strings.HasPrefix(text, "+") {
		return false
	}
	if m := rePanelRow().FindStringSubmatch(text); m != nil && f.panel.gpu >= 0 {
		label := gpuLabel(strconv.Itoa(f.panel.gpu))
		f.b.Record(nvidiaSMI, false)
		f.add(nvidiaSMI, "panel", "temp", m[1], label)
		f.add(nvidiaSMI, "panel", "power", m[2], label)
		f.add(nvidiaSMI, "panel", "limit", m[3], label)
		f.add(nvidiaSMI, "panel", "memory", m[4], label)
		f.add(nvidiaSMI, "panel", "total", m[5], label)
		f.add(nvidiaSMI, "panel", "util", m[6], label)
		f.panel.gpu = -1
		return true
	}
	f.panel.gpu = -1
	if m := rePanelGPU().FindStringSubmatch(text); m != nil {
		f.panel.gpu, _ = strconv.Atoi(m[1])
	}
	return true
}

func (f *Finder) panelTime(m []string) {
	month := 1 + strings.Index("JanFebMarAprMayJunJulAugSepOctNovDec", m[1])/3
	day, ok1 := dayOf(m[4], strconv.Itoa(month), m[2])
	s, ok2 := secondsOf(m[3])
	if ok1 && ok2 {
		f.time = day + s
		f.b.Clock(f.time, true, false)
	}
}
