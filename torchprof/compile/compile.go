// Package compile reads the structured log of torch.compile that TORCH_TRACE asks for, the input of tlparse: what was
// compiled, how long that took, and why: graph breaks, and guards that failed.
//
// Each record is a line with the head of glog and a JSON object. Lines of its payload begin with a tab. Payloads have
// the code of the program; assay keeps only the reasons of graph breaks and recompilations.
package compile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/redact"
	"assay/internal/textscan"
)

// A Log has the compilations of one process, in the order in which they began.
type Log struct {
	Compilations []*Compilation
	Rank         int // -1 if the log does not state it
	Records      int64
	Complete     bool
	Issues       []diag.Issue
}

// A Compilation is one compilation of one frame: a function, or the rest of one behind a graph break.
type Compilation struct {
	Frame, Again int64 // number of the frame, and of its compilation: 0 for the first one
	Function     string
	File         string
	Line         int64

	StartNS  int64 // Unix time; 0 if unknown
	WallNS   int64
	Backend  int64 // ns of WallNS in the backend, inductor and Triton; 0 if unknown
	Inductor int64
	Triton   int64

	Reason string // the guard that failed, so that the frame was compiled again; "" if unknown
	Fails  string // kind of error that ended the compilation
	Breaks []Break
	Hits   int64 // of caches of compiled code
	Misses int64
	Ended  bool

	restart string // why it began again
}

// A Break is a graph break.
type Break struct {
	Reason, File string
	Line         int64
}

// Limits bound the resources for reading one input. A field that is 0 has the default value.
type Limits struct {
	Rows int // compilations
}

const (
	defaultRows = 1 << 16
	maxLine     = 4 << 20
	maxPayload  = 16 << 10
	maxText     = 1 << 10
	maxBreaks   = 64 // of one compilation
)

var (
	recordHead = lazyregexp.New(`^[VIWEC]\d{3,4} \d\d:\d\d:\d\d\.\d+ .*?\] (\{.*)$`)
	breakPlace = lazyregexp.New(`(?m)^\s*Graph break in user code at (.+):(\d{1,9})\s*$`)
	breakWhy   = lazyregexp.New(`(?m)^\s*(?:Graph Break )?Reason: (?:Unsupported: )?(.+)$`)
	recordMark = lazyregexp.New(`(?m)^[VIWEC]\d{3,4} \d\d:\d\d:\d\d\.\d+ .*\] \{"(?:str|dynamo_\w+|chromium_event|compilation_metrics|artifact|describe_\w+|aot_\w+|inductor_\w+|link|bwd_compilation_metrics)"`)
)

// Sniff reports whether a file that begins with head is such a log.
func Sniff(head []byte) bool { return recordMark().Match(head) }

// A record is the object of a line.
type record struct {
	Frame  *int64 `json:"frame_id"`
	Again  int64  `json:"frame_compile_id"`
	Rank   *int   `json:"rank"`
	Starts *struct {
		Stack []struct {
			Name string `json:"name"`
			Line int64  `json:"line"`
		} `json:"stack"`
	} `json:"dynamo_start"`
	Artifact *struct {
		Name string `json:"name"`
	} `json:"artifact"`
	Metrics *metrics `json:"compilation_metrics"`
	BWD     *metrics `json:"bwd_compilation_metrics"`
}

// metrics are what PyTorch measures of a compilation. Versions until 2.5 have seconds, later ones microseconds, too.
type metrics struct {
	Name      string  `json:"co_name"`
	File      string  `json:"co_filename"`
	Line      int64   `json:"co_firstlineno"`
	Start     float64 `json:"start_time"`
	StartUS   int64   `json:"start_time_us"`
	Whole     float64 `json:"entire_frame_compile_time_s"`
	Backend   float64 `json:"backend_compile_time_s"`
	Inductor  float64 `json:"inductor_compile_time_s"`
	TritonUS  int64   `json:"triton_compile_time_us"`
	WholeUS   int64   `json:"duration_us"`
	DynamoUS  int64   `json:"dynamo_cumulative_compile_time_us"`
	FailType  string  `json:"fail_type"`
	Recompile string  `json:"recompile_reason"`

	Restarts []string `json:"restart_reasons"`
}

// A reader reads one log.
type reader struct {
	out     Log
	file    string
	lines   *textscan.Reader
	most    int
	left    int64
	damaged int64
	of      map[[2]int64]*Compilation

	payload []byte // of the last record, if it is kept
	kept    *record
}

// Read reads a log. A log without any compilation is an error.
func Read(in io.Reader, name string, limits Limits) (*Log, error) {
	r := &reader{file: name, lines: textscan.NewReader(in, maxLine), most: limits.Rows, of: map[[2]int64]*Compilation{}}
	r.out.Rank, r.out.Complete = -1, true
	if r.most <= 0 {
		r.most = defaultRows
	}
	for {
		line, cut, err := r.lines.Next()
		if cut {
			r.damaged++
		} else {
			r.line(line)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			if len(r.out.Compilations) == 0 {
				return nil, err
			}
			r.issue("input-truncated", diag.DataLoss, 1, fmt.Sprintf("The log cannot be read to its end (%s); later compilations are missing.", err))
			r.out.Complete = false
			break
		}
	}
	r.endPayload()
	if len(r.out.Compilations) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: name, Line: 1},
			Msg: "the log of torch.compile (TORCH_TRACE) has no compilation; set TORCH_TRACE=DIR before the program imports torch, and let it run until it has compiled"}
	}
	r.breaks()
	r.note()
	return &r.out, nil
}

var resumed = lazyregexp.New(`^torch_dynamo_resume_in_(.+)_at_(\d{1,9})$`)

// breaks adds the graph breaks of versions that log none: a compilation that began again, whose rest is a function of its
// own with the number of the line in its name.
func (r *reader) breaks() {
	for i, c := range r.out.Compilations {
		if c.restart == "" || len(c.Breaks) > 0 {
			continue
		}
		of, from := c.Function, int64(0)
		if m := resumed().FindStringSubmatch(of); m != nil {
			of, from = m[1], number([]byte(m[2]))
		}
		for _, rest := range r.out.Compilations[i+1:] {
			if m := resumed().FindStringSubmatch(rest.Function); m != nil && m[1] == of && number([]byte(m[2])) > from {
				c.Breaks = []Break{{Reason: c.restart, File: c.File, Line: number([]byte(m[2]))}}
				break
			}
		}
	}
}

func (r *reader) issue(code string, severity diag.Severity, n int64, help string) {
	r.out.Issues = append(r.out.Issues, diag.Issue{Code: code, Severity: severity, Count: n, First: diag.Pos{File: r.file, Line: r.lines.N}, Help: help})
}

func (r *reader) note() {
	if r.left > 0 {
		r.issue("compilations-left-out", diag.DataLoss, r.left, "Compilations over the limit were left out. Raise --max-memory to keep them.")
	}
	if r.damaged > 0 {
		r.issue("record-malformed", diag.DataLoss, r.damaged, "Records that are not complete, or whose numbers cannot be true, were left out.")
	}
}

// line takes a line.
func (r *reader) line(line string) {
	if strings.HasPrefix(line, "\t") {
		if r.kept != nil && len(r.payload) < maxPayload {
			r.payload = append(append(r.payload, line[1:min(len(line), maxPayload)]...), '\n')
		}
		return
	}
	r.endPayload()
	if !strings.Contains(line, `"dynamo_start"`) && !strings.Contains(line, `"artifact"`) && !strings.Contains(line, `compilation_metrics"`) {
		if recordHead().MatchString(line) {
			r.out.Records++
		}
		return
	}
	m := recordHead().FindStringSubmatch(line)
	if m == nil {
		return
	}
	r.out.Records++
	var rec record
	if err := json.Unmarshal([]byte(m[1]), &rec); err != nil {
		r.damaged++
		return
	}
	r.record(&rec)
}

func (r *reader) record(rec *record) {
	if rec.Rank != nil && *rec.Rank >= 0 && r.out.Rank < 0 {
		r.out.Rank = *rec.Rank
	}
	if rec.Frame == nil || *rec.Frame < 0 || rec.Again < 0 {
		return // of no frame, such as compiled autograd
	}
	switch {
	case rec.Starts != nil:
		if c := r.compilation(rec); c != nil && len(rec.Starts.Stack) > 0 && c.Function == "" {
			last := rec.Starts.Stack[len(rec.Starts.Stack)-1]
			c.Function, c.Line = short(last.Name), last.Line
		}
	case rec.Metrics != nil:
		r.metrics(rec, rec.Metrics)
	case rec.BWD != nil:
		r.metrics(rec, rec.BWD)
	case rec.Artifact != nil:
		r.artifact(rec)
	}
}

// compilation returns that of a record, or nil if it is over the limit.
func (r *reader) compilation(rec *record) *Compilation {
	id := [2]int64{*rec.Frame, rec.Again}
	c := r.of[id]
	if c == nil {
		if len(r.out.Compilations) >= r.most {
			r.left++
			return nil
		}
		c = &Compilation{Frame: id[0], Again: id[1]}
		r.of[id] = c
		r.out.Compilations = append(r.out.Compilations, c)
	}
	return c
}

func (r *reader) metrics(rec *record, m *metrics) {
	c := r.compilation(rec)
	if c == nil {
		return
	}
	c.Ended = true
	if m.Name != "" {
		c.Function, c.File, c.Line = short(m.Name), short(m.File), m.Line
	}
	if m.FailType != "" {
		c.Fails = short(m.FailType)
	}
	if len(m.Restarts) > 0 {
		c.restart = short(strings.Trim(m.Restarts[len(m.Restarts)-1], `'"`))
	}
	if m.Recompile != "" {
		c.Reason = firstReason(m.Recompile)
	}
	if c.StartNS == 0 {
		c.StartNS = r.ns(m.Start, 1e9)
		if m.StartUS > 0 && m.StartUS < math.MaxInt64/1000 {
			c.StartNS = m.StartUS * 1000
		}
	}
	whole := r.ns(m.Whole, 1e9)
	if whole == 0 {
		whole = r.ns(float64(cmp.Or(m.WholeUS, m.DynamoUS)), 1e3)
	}
	c.WallNS += whole
	c.Backend += r.ns(m.Backend, 1e9)
	c.Inductor += r.ns(m.Inductor, 1e9)
	c.Triton += r.ns(float64(m.TritonUS), 1e3)
}

// mostNS is the largest time in ns that is believed: Unix times until the year 2200.
const mostNS = 7.3e18

// ns returns a number in a unit of so many ns; 0 if it cannot be true.
func (r *reader) ns(v, unit float64) int64 {
	if v *= unit; v < 0 || v > mostNS || math.IsNaN(v) {
		r.damaged++
		return 0
	}
	return int64(v)
}

func (r *reader) artifact(rec *record) {
	name := rec.Artifact.Name
	switch {
	case name == "recompile_reasons", name == "dynamo_graph_break_reason":
		r.kept, r.payload = rec, r.payload[:0]
	case strings.HasSuffix(name, "_cache_hit"):
		if c := r.compilation(rec); c != nil {
			c.Hits++
		}
	case strings.HasSuffix(name, "_cache_miss"):
		if c := r.compilation(rec); c != nil {
			c.Misses++
		}
	}
}

// endPayload takes the payload of the last record.
func (r *reader) endPayload() {
	rec := r.kept
	if r.kept = nil; rec == nil || len(r.payload) == 0 {
		return
	}
	c := r.compilation(rec)
	if c == nil {
		return
	}
	if rec.Artifact.Name == "recompile_reasons" {
		var list []string
		if json.Unmarshal(r.payload, &list) == nil && len(list) > 0 {
			c.Reason = firstReason(list[0])
		} else {
			c.Reason = firstReason(string(bytes.TrimSpace(r.payload)))
		}
		return
	}
	var b Break
	if m := breakPlace().FindSubmatch(r.payload); m != nil {
		b.File, b.Line = short(string(m[1])), number(m[2])
	}
	if m := breakWhy().FindSubmatch(r.payload); m != nil {
		b.Reason = short(string(bytes.TrimSpace(m[1])))
	}
	if len(c.Breaks) < maxBreaks && !slices.Contains(c.Breaks, b) && (b.Reason != "" || b.File != "") {
		c.Breaks = append(c.Breaks, b)
	}
}

var earlier = lazyregexp.New(`^\d+/\d+: `)

// firstReason returns the guard of the latest earlier compilation, without its number.
func firstReason(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	return short(strings.TrimSpace(earlier().ReplaceAllString(text, "")))
}

func number(digits []byte) (n int64) {
	for _, d := range digits {
		n = n*10 + int64(d-'0')
	}
	return n
}

// short returns a copy of a text within the limit, without a part of a secret.
func short(text string) string {
	if len(text) > maxText {
		text = redact.Cut(text, maxText)
	}
	return strings.Clone(text)
}
