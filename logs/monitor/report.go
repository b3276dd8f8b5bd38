package monitor

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/logs"
)

const (
	smiReport = nvidiaSMI + " -q"

	// maxReportValues is the largest number of values of one GPU that are kept until its
	// report ends.
	maxReportValues = 256
	maxReportGPUs   = 64
)

// A report is one output of "nvidia-smi -q", as text or as XML, that is being read. Its values
// are added when it ends: the number of a GPU is its place among those of the report, which
// is known only if the report has all GPUs of the host.
type report struct {
	attached int // GPUs of the host, as the report counts them
	gpus     []reportedGPU
	path     []reportSection
	list     []logs.Setting // kept from report to report
}

// A reportedGPU has the values of one GPU.
type reportedGPU struct {
	bus      string
	readings []reportedValue // with the canonical names of properties
	values   []reportedValue
	reasons  uint64 // bits of the active reasons for reduced clocks
	reasoned bool   // the report has reasons
}

// A reportedValue is the text of a value with its place in the report, such as
// "fb_memory_usage.used".
type reportedValue struct {
	path, text string
	at         diag.Pos
}

// A reportSection is a heading or a value, below which lines are indented further.
type reportSection struct {
	indent int
	name   string
}

var reReportGPU = lazyregexp.New(`^GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f])$`)

// isReport reports whether a line is the heading of "nvidia-smi -q".
func isReport(text string) bool {
	return strings.Trim(text, "=") == "NVSMI LOG" && strings.HasPrefix(text, "==")
}

// reportRow reads a line of the text. A heading is a line of its own, and the values below it
// are indented.
func (f *Finder) reportRow(line string) bool {
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	name, value, isValue := strings.Cut(text, " : ")
	name = strings.TrimSpace(name)
	if m := reReportGPU().FindStringSubmatch(text); m != nil {
		f.report.path = append(f.report.path[:0], reportSection{indent, ""})
		f.report.begin(m[1])
		return true
	}
	switch {
	case text == "":
		return true
	case len(f.report.gpus) == 0:
		return isValue && f.reportTop(strings.ReplaceAll(strings.ToLower(name), " ", "_"), strings.TrimSpace(value))
	}
	for n := len(f.report.path); n > 1 && f.report.path[n-1].indent >= indent; n-- {
		f.report.path = f.report.path[:n-1]
	}
	if len(f.report.path) == 0 || indent <= f.report.path[0].indent || len(f.report.path) > 8 || len(name) > 80 {
		f.report.path = f.report.path[:0] // another text, until the next GPU
		return false
	}
	f.report.path = append(f.report.path, reportSection{indent, reportName(name)})
	if isValue {
		var names []string
		for _, s := range f.report.path[1:] {
			names = append(names, s.name)
		}
		f.report.value(strings.Join(names, "."), strings.TrimSpace(value), f.at)
	}
	return true
}

// reportName returns a name of the text as columns.txt has it: "SRAM Uncorrectable SEC-DED"
// is sram_uncorrectable_sec_ded.
func reportName(name string) string {
	return strings.NewReplacer(" ", "_", "-", "_", ".", "").Replace(strings.ToLower(name))
}

// reportTop reads a value above the GPUs, and reports whether it is one.
func (f *Finder) reportTop(name, value string) bool {
	switch name {
	case "timestamp":
		if m := rePanelDay().FindStringSubmatch(value); m != nil {
			f.panelTime(m)
		}
	case "driver_version":
		f.report.setting("driver version", value)
	case "attached_gpus":
		f.report.attached, _ = strconv.Atoi(value)
	default:
		return name == "cuda_version"
	}
	return true
}

// begin begins the values of a GPU.
func (r *report) begin(bus string) {
	if len(r.gpus) < maxReportGPUs {
		r.gpus = append(r.gpus, reportedGPU{bus: bus})
	}
}

// setting keeps the first value of a setting, and whether there are others.
func (r *report) setting(name, value string) {
	i := slices.IndexFunc(r.list, func(s logs.Setting) bool { return s.Key == name })
	if i < 0 && len(value) < logs.MaxName {
		r.list = append(r.list, logs.Setting{Producer: nvidiaSMI, Key: name, Value: value})
	} else if i >= 0 && r.list[i].Value != value {
		r.list[i].Varies = true
	}
}

// value keeps a value of the last GPU.
func (r *report) value(path, text string, at diag.Pos) {
	path = strings.TrimPrefix(path, "performance.") // of newer drivers
	gpu := &r.gpus[len(r.gpus)-1]
	gpu.read(path, text, at)
	switch section, name, _ := strings.Cut(path, "."); {
	case section == "clocks_event_reasons" || section == "clocks_throttle_reasons":
		gpu.reason(name[strings.LastIndexByte(name, '.')+1:], text)
	case path == "product_name":
		r.setting("product name", text)
	case columnOf("smiq", path).metric.Name == path: // of no use without a name of its own
	case len(gpu.values) < maxReportValues:
		gpu.values = append(gpu.values, reportedValue{path, text, at})
	}
}

// read keeps what says something of the health of a GPU.
func (g *reportedGPU) read(path, text string, at diag.Pos) {
	if section, name, _ := strings.Cut(path, "."); section == "clocks_event_reasons" || section == "clocks_throttle_reasons" {
		name = name[strings.LastIndexByte(name, '.')+1:]
		name = strings.TrimPrefix(strings.TrimPrefix(name, "clocks_event_reason_"), "clocks_throttle_reason_")
		path = "reason." + name
	}
	if property := logs.PropertyOf("smiq", path); property != "" && len(g.readings) < maxReportValues {
		g.readings = append(g.readings, reportedValue{property, text, at})
	}
}

// readings adds what is kept of the health of GPUs.
func (f *Finder) readings() {
	r := &f.report
	at := ""
	if f.time != logs.NoTime && f.time != 0 {
		at = time.Unix(0, f.time).UTC().Format(time.DateTime)
	}
	read := func(part, property string, line int, value string) {
		f.b.Read(logs.Reading{Part: part, Property: property, Line: int64(line), At: at}, value)
	}
	if r.attached > 0 {
		read("host", "host.gpus", f.at.Line, strconv.Itoa(r.attached))
		read("host", "host.gpus_reported", f.at.Line, strconv.Itoa(len(r.gpus)))
	}
	for _, s := range r.list {
		if s.Key == "driver version" && len(r.gpus) > 0 {
			read("host", "host.driver", f.at.Line, s.Value)
		}
	}
	for i := range r.gpus {
		g := &r.gpus[i]
		part := "GPU " + g.bus
		if r.attached == len(r.gpus) {
			read(part, "gpu.index", f.at.Line, strconv.Itoa(i))
		}
		for _, v := range g.readings {
			read(part, v.path, v.at.Line, v.text)
		}
	}
}

// reasonBits are the names of reasons for reduced clocks, without the prefix of XML and of
// queries, and their bits.
var reasonBits = map[string]uint64{
	"sw_power_cap": 0x4, "hw_slowdown": 0x8, "sw_thermal_slowdown": 0x20, "hw_thermal_slowdown": 0x40, "hw_power_brake_slowdown": 0x80,
}

// reason notes one reason for reduced clocks. "N/A" is no answer.
func (g *reportedGPU) reason(name, text string) {
	for _, prefix := range []string{"clocks_event_reason_", "clocks_throttle_reason_"} {
		name = strings.TrimPrefix(name, prefix)
	}
	bit, known := reasonBits[name]
	if !known || text != "Active" && text != "Not Active" {
		return
	}
	g.reasoned = true
	if text == "Active" {
		g.reasons |= bit
	}
}

// endReport adds the values of the report that ends.
func (f *Finder) endReport() {
	r := &f.report
	f.readings()
	for i := range r.gpus {
		label := gpuLabel(strconv.Itoa(i))
		if r.attached != len(r.gpus) { // of some GPUs only, whose numbers are unknown
			label.Value = r.gpus[i].bus
		}
		f.reported(&r.gpus[i], label)
	}
	f.report = report{list: r.list}
}

// reported adds the values of one GPU. Values of one metric that count something, such as the
// errors of several memories, are added up.
func (f *Finder) reported(gpu *reportedGPU, label logs.Label) {
	if len(gpu.values) == 0 && !gpu.reasoned {
		return
	}
	at := f.at
	defer func() { f.at = at }()
	f.b.Record(smiReport, false)
	if gpu.reasoned {
		f.addThrottled(smiReport, "Clocks Event Reasons", gpu.reasons, label.Value)
	}
	var counted []string // metrics
	sums := map[string]float64{}
	for _, v := range gpu.values {
		f.at = v.at
		c := columnOf("smiq", v.path)
		text, _, _ := strings.Cut(v.text, " ")
		switch text = strings.TrimSuffix(text, "x"); text {
		case "Yes":
			text = "1"
		case "No":
			text = "0"
		}
		n, number := parse(text)
		switch {
		case !number && c.metric.Role != logs.Utilization: // a GPU without this unit, or without this counter
		case number && c.metric.Unit == "count":
			if _, ok := sums[c.metric.Name]; !ok {
				counted = append(counted, c.metric.Name)
			}
			sums[c.metric.Name] += n
		default:
			f.add(smiReport, "smiq", v.path, text, label)
		}
	}
	for _, name := range counted {
		metric, _ := logs.MetricOf(name)
		f.b.Add(f.b.Of(metric, smiReport, name, []logs.Label{label}, at), sums[name], logs.NoStep, f.time, 0)
	}
}
