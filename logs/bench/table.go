package bench

import (
	"bytes"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// A Finder finds results that programs print. It is a finder of package textscan.
type Finder struct {
	name string
	b    *logs.Builder
	open *producer
	out  logs.Benchmark
	from int
	left int // number of further lines after which an open result ends

	columns []string // the columns of a table with one column for each statistic
	warm    bool     // the open result is that of a warm-up

	samples     string       // samples per prompt in the last heading of benchmark_n_sampling
	concurrency string       // of the announced run of SFLLM
	announced   []logs.Label // load of the next result of vLLM, which prints it before the progress bar

	k6Seen map[string]bool // names in the open summary of k6

	mlperf *logs.Benchmark // the open result of loadgen, which logs one number per line
}

const maxRows = 120

// NewFinder returns a finder for an input of the given name.
func NewFinder(name string, limits logs.Limits) *Finder {
	return &Finder{name: name, b: logs.NewBuilder(limits)}
}

// Log returns what was found. The finder must not be used afterwards.
func (f *Finder) Log() *logs.Log {
	f.close()
	if f.mlperf != nil && len(f.mlperf.Metrics) > 0 {
		f.b.Record(mlperf, false)
		f.b.Benchmark(*f.mlperf, diag.Pos{File: f.name, Line: int(f.mlperf.Line)})
	}
	return f.b.Log(0, true)
}

// headings are parts of the lines with which results begin.
var headings = [][]byte{
	[]byte("Benchmark Result"), []byte("PERFORMANCE OVERVIEW"), []byte("MLPerf Results Summary"), []byte("| LLM Metrics"),
}

// Hint reports whether a result may begin with a line.
func (f *Finder) Hint(line []byte) bool {
	if len(line) > 0 && line[len(line)-1] == '}' && len(line) < 64<<10 {
		return isMLLog(line)
	}
	if len(line) == 0 || len(line) > 300 {
		return false
	}
	if isScript(line) || announces(line) || isK6(line) {
		return true
	}
	switch line[len(line)-1] {
	case '=', '-', 'y', 'W':
	case 's': // of LLM Metrics, tokens/s and seconds
		return bytes.HasSuffix(line, []byte("tokens/s")) && bytes.Contains(line, []byte("Throughput: ")) ||
			bytes.HasSuffix(line, []byte(" seconds")) && bytes.Contains(line, []byte("Avg latency: ")) ||
			bytes.HasSuffix(line, headings[3])
	case '.':
		return bytes.HasSuffix(line, []byte("Benchmark ...")) || bytes.HasSuffix(line, []byte("Warmup ..."))
	default:
		return false
	}
	for _, h := range headings {
		if bytes.Contains(line, h) {
			return true
		}
	}
	return false
}

// Open reports whether a result is being read.
func (f *Finder) Open() bool { return f.open != nil }

// Line receives a line.
func (f *Finder) Line(n int, line string) {
	if strings.HasSuffix(strings.TrimSpace(line), "}") {
		f.mllog(n, line)
	}
	if f.begin(n, line) || f.open == nil {
		f.announce(line)
		return
	}
	if f.left--; f.left <= 0 {
		f.close()
		return
	}
	text := withoutPrefix(line)
	switch {
	case f.open.name == k6 && text != "```": // headings, and metrics of scripts
	case text == "" || text == "```":
		if text != "" || f.open.name == oneBatch || f.open.name == script || f.open.name == nSampling {
			f.close()
		}
	case f.columns != nil || strings.ContainsAny(text, "┃│"):
		f.boxRow(text)
	case strings.Trim(text, "=") == "" && len(text) >= 10:
		if f.open.name != mlperf && f.open.name != trtllm && !(f.open.name == weightSync && len(f.out.Metrics) == 0) {
			f.close()
		}
	case f.open.name == oneBatch:
		f.batchRow(text)
	case f.open.name == vllmLatency:
		f.percentileRow(text)
	case f.open.name == mlperf && strings.Contains(text, ":"):
		f.row(text)
	default:
		f.row(text)
	}
}

// The producers whose printed results differ from lists of names and values.
const (
	sglang         = "SGLang bench_serving"
	vllmServe      = "vLLM bench serve"
	oneBatch       = "SGLang bench_one_batch"
	vllmThroughput = "vLLM bench throughput"
	vllmLatency    = "vLLM bench latency"
	mlperf         = "MLPerf loadgen"
	trtllm         = "TensorRT-LLM trtllm-bench"
)

// begin opens a result if a line is the heading of one.
func (f *Finder) begin(n int, line string) bool {
	if len(line) > 300 {
		return false
	}
	text := strings.TrimSpace(line)
	if f.script(text, n) || f.k6Row(withoutPrefix(text), n) {
		return true
	}
	switch {
	case strings.HasSuffix(text, "Benchmark ..."), strings.HasSuffix(text, "Warmup ..."):
		f.start(producerNamed(oneBatch), n)
		f.warm = strings.HasSuffix(text, "Warmup ...")
		return true
	case strings.Contains(text, "Throughput: ") && strings.HasSuffix(text, " tokens/s"):
		f.start(producerNamed(vllmThroughput), n)
		f.throughputLine(text)
		f.close()
		return true
	case strings.Contains(text, "Avg latency: ") && strings.HasSuffix(text, " seconds"):
		f.start(producerNamed(vllmLatency), n)
		f.percentileRow(text)
		return true
	}
	for _, p := range producers() {
		if p.line == "" || !strings.Contains(text, p.line) || !f.Hint([]byte(text)) {
			continue
		}
		f.start(p, n)
		return true
	}
	return false
}

// producerNamed returns the producer with the given name.
func producerNamed(name string) *producer {
	for _, p := range producers() {
		if p.name == name {
			return p
		}
	}
	return nil
}

func (f *Finder) start(p *producer, n int) {
	f.close()
	f.open, f.from, f.left, f.columns, f.warm = p, n, maxRows, nil, false
	f.out = logs.Benchmark{Producer: p.name, Line: int64(n), Time: logs.NoTime}
	if p.name == sfllm && f.concurrency != "" {
		f.setting("concurrency", f.concurrency)
		f.concurrency = ""
	}
}

// close ends an open result. It drops a result without numbers and that of a warm-up.
func (f *Finder) close() {
	p := f.open
	f.open = nil
	if p == nil || len(f.out.Metrics) == 0 || f.warm {
		return
	}
	if p.name == sglang && f.out.Setting("Backend") == "" { // both print the same heading
		f.out.Producer = vllmServe
		f.takeAnnounced()
	}
	f.b.Record(f.out.Producer, false)
	f.b.Benchmark(f.out, diag.Pos{File: f.name, Line: f.from})
}

// withoutPrefix returns a line without the prefix of Ray and similar programs.
func withoutPrefix(line string) string {
	line = strings.TrimSpace(line)
	for strings.HasPrefix(line, "(") {
		end := strings.Index(line, ") ")
		if end < 0 || !strings.Contains(line[:end], "pid=") {
			break
		}
		line = strings.TrimSpace(line[end+1:])
	}
	return line
}

// row reads a name and its value.
func (f *Finder) row(text string) {
	name, rest, ok := strings.Cut(text, ":")
	name, rest = strings.TrimSpace(name), strings.TrimSpace(rest)
	if !ok || name == "" || rest == "" || len(name) > 80 || len(rest) > logs.MaxName {
		return
	}
	if f.open.name == nSampling { // "5, Samples/prompt: 4"
		rest, _, _ = strings.Cut(rest, ",")
	}
	if f.open.settings[name] {
		f.out.Settings = append(f.out.Settings, logs.Label{Name: name, Value: rest})
		return
	}
	t, ok := f.open.find(name)
	if !ok {
		return
	}
	word, _, _ := strings.Cut(rest, " ")
	if f.open.name == nSampling { // "123.4ms", "2.10x"
		word = strings.TrimSuffix(strings.TrimSuffix(word, "ms"), "x")
	}
	if v, ok := parseNumber(word); ok {
		add(&f.out, t, name, v, t.factor)
	}
}

// parseNumber reads a number with or without commas between thousands. It rejects a comma
// after more than three digits or after a leading 0, which may be a decimal comma.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimSuffix(s, "%")
	if strings.Contains(s, ",") {
		parts := strings.Split(s, ",")
		if first := strings.TrimLeft(parts[0], "+-"); first == "" || len(first) > 3 || first[0] == '0' {
			return 0, false
		}
		for i, p := range parts {
			whole, _, _ := strings.Cut(p, ".")
			if i > 0 && len(whole) != 3 || i < len(parts)-1 && whole != p {
				return 0, false
			}
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	if s == "" || !(s[0] >= '0' && s[0] <= '9' || s[0] == '-' || s[0] == '+' || s[0] == '.') {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// throughputLine reads the line that vllm bench throughput prints: "Throughput: 3.1
// requests/s, 1200.5 total tokens/s, 620.1 output tokens/s".
func (f *Finder) throughputLine(text string) {
	_, rest, _ := strings.Cut(text, "Throughput: ")
	for part := range strings.SplitSeq(rest, ", ") {
		number, name, _ := strings.Cut(part, " ")
		if t, ok := f.open.find(name); ok {
			if v, ok := parseNumber(number); ok {
				add(&f.out, t, name, v, t.factor)
			}
		}
	}
}

// percentileRow reads a line that vllm bench latency prints: "Avg latency: 2.1 seconds",
// "90% percentile latency: 2.3 seconds".
func (f *Finder) percentileRow(text string) {
	name, rest, ok := strings.Cut(text, " latency: ")
	number, unit, _ := strings.Cut(rest, " ")
	if i := strings.LastIndexByte(name, ' '); i >= 0 && strings.HasSuffix(name, "percentile") {
		name = strings.TrimSuffix(name[:i], "%")
	}
	if i := strings.LastIndexByte(name, ' '); i >= 0 {
		name = name[i+1:]
	}
	v, isNumber := parseNumber(number)
	t, known := f.open.find("percentiles." + name)
	if !ok || !isNumber || !known || unit != "seconds" {
		f.close()
		return
	}
	add(&f.out, t, strings.TrimSpace(strings.Split(text, ":")[0]), v, t.factor)
}

// batchRow reads a line of bench_one_batch. Lines of single decode steps are not read.
func (f *Finder) batchRow(text string) {
	kind, rest, ok := strings.Cut(text, ". ")
	if !ok || kind != "Prefill" && kind != "Decode" && kind != "Total" {
		if n, isStep := strings.CutPrefix(kind, "Decode "); isStep && f.out.Setting("batch_size") == "" {
			if _, size, ok := strings.Cut(rest, "Batch size: "); ok && n != "" {
				size, _, _ = strings.Cut(size, ",")
				f.out.Settings = append(f.out.Settings, logs.Label{Name: "batch_size", Value: size})
			}
		}
		return
	}
	for part := range strings.SplitSeq(rest, ", ") {
		name, value, _ := strings.Cut(part, ":")
		name = kind + " " + strings.TrimSpace(name)
		number, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		t, known := f.open.find(name)
		if v, ok := parseNumber(number); ok && known {
			add(&f.out, t, name, v, t.factor)
		}
	}
	if kind == "Total" {
		f.close()
	}
}

// boxRow reads a row of a table drawn with lines, whose columns are statistics.
func (f *Finder) boxRow(text string) {
	if strings.HasPrefix(text, "└") {
		f.close()
		return
	}
	cells := strings.FieldsFunc(text, func(r rune) bool { return r == '┃' || r == '│' || r == '|' })
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) < 2 {
		return
	}
	if f.columns == nil {
		if strings.EqualFold(cells[0], "Metric") || strings.EqualFold(cells[0], "Statistic") {
			f.columns = cells
		}
		return
	}
	name, unit, ok := strings.Cut(cells[0], " (")
	unit = strings.TrimSuffix(unit, ")")
	if !ok { // the unit is in the next row
		if t, known := f.open.find(name + "/avg"); known && strings.HasSuffix(t.metric.Unit, "token/s") {
			unit = "tokens/sec"
		}
	}
	for i, cell := range cells[1:min(len(cells), len(f.columns))] {
		t, known := f.open.find(name + "/" + f.columns[i+1])
		v, isNumber := parseNumber(cell)
		if !known || !isNumber {
			continue
		}
		if t.stat == "mean" && t.metric.Role != logs.Latency && t.metric.Role != logs.Load {
			t.stat = ""
		}
		if factor, ok := statedFactor(t.metric, unit); ok {
			add(&f.out, t, cells[0]+" "+f.columns[i+1], v, factor)
		}
	}
}
