package words

import (
	"strings"

	"assay/compare"
	"assay/gate"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/timeline"
	"assay/summary"
	"assay/summary/view"
)

// wordOr returns the display name of an id. An id of a later version of the schema has none; it is returned
// itself, in at most the given number of columns.
func wordOr(words map[string]string, id string, columns int) string {
	if w, ok := words[id]; ok {
		return w
	}
	return label.Clip(label.Clean(id), columns)
}

// Cause returns the cause of idle time: "host wait: data loading". A name, if there
// is one, follows: "host wait: data loading in NAME". It is "" if nothing is known.
func Cause(owner, state, name string) string {
	text := view.Cause(owner, state)
	name = label.Clip(label.Clean(name), 44)
	switch {
	case name == "":
		return text
	case text == "":
		return name
	}
	return text + " in " + name
}

// Phase returns the last part of a phase's path, indented by its depth. The empty
// path is the time outside phases.
func Phase(path string) string {
	if path == "" {
		return "outside phases"
	}
	last := strings.LastIndexByte(path, '/') + 1
	return strings.Repeat("· ", strings.Count(path, "/")) + PhaseName(path[last:])
}

// PhaseName returns the name of a phase without its place in a path.
func PhaseName(id string) string {
	return wordOr(map[string]string{"weight-sync": "weight sync", "sleep-wake": "engine sleep/wake"}, id, 30)
}

// Verdict returns the bottleneck that a verdict names.
func Verdict(b finding.Bound) string {
	if b == "" {
		b = finding.BoundUnknown
	}
	if w, ok := b.Words(); ok {
		return w.Headline
	}
	return wordOr(nil, string(b), 40)
}

// TotalsOnly is the verdict for tables without a timeline.
const TotalsOnly = "totals only, no timeline"

// SeveralRuns is the verdict for captures that no verdict describes together.
const SeveralRuns = "several runs"

// ValuesOnly is the verdict for logs.
const ValuesOnly = "values of a log, no timeline"

// MachinesOnly is the verdict for dumps of machines.
const MachinesOnly = "machines, no program"

// WaitsForOthers returns the verdict for a GPU that waits for something other than the CPU. Owner is the
// cause of most of the idle time.
func WaitsForOthers(owner string) string {
	if owner == summary.OwnerDependency {
		return "dependency-bound"
	}
	return "GPU idle"
}

// LimitedBy returns the bound of a phase or a step, for a column of a table.
func LimitedBy(b finding.Bound) string {
	if w, ok := b.Words(); ok {
		return w.Short
	}
	return wordOr(nil, string(b), 20)
}

// Side returns the limiting side of a kernel with counters, or [unit.None] if it is not known.
func Side(s counters.Side) string {
	w, ok := s.Side.Words()
	switch {
	case !ok:
		return unit.None
	case s.Near && s.Side != counters.SideUnknown:
		return w.Short + ", " + Verdict(finding.BoundNearLimit)
	}
	return w.Short
}

// Level returns the level of a finding.
func Level(l finding.Level) string {
	if l == finding.Warn {
		return "warning"
	}
	return l.String()
}

// Outcome returns the result of a gate.
func Outcome(r gate.Result) string {
	if r == gate.Skipped {
		return "not measured"
	}
	return r.String()
}

// Match returns how a row of a comparison was matched, or "" if its name is the same
// on both sides.
func Match(match string) string {
	return map[string]string{
		compare.OnlyNew: "added", compare.OnlyBase: "removed", compare.ByCanonical: "renamed", compare.ByPlace: "replaced",
	}[match]
}

// Step returns why a step is excluded or remarkable.
func Step(s timeline.StepState) string {
	if s == timeline.StepEdge {
		return "partial step"
	}
	return string(s)
}

// Format returns the name of an input's format.
func Format(id string) string {
	return wordOr(map[string]string{
		"kineto":                "Kineto",
		"chrome-trace":          "Chrome trace",
		"xla-trace":             "XLA profiler",
		"torch-trace":           "torch.compile log",
		"xplane":                "XLA profiler (XPlane)",
		"proton-trace":          "Triton Proton",
		"ascend-trace":          "Ascend profiler",
		"unitrace":              "unitrace",
		"ascend-csv":            "Ascend profiler (table)",
		"ascend-steps":          "Ascend profiler (steps)",
		"ascend-collectives":    "Ascend profiler (collectives)",
		"ascend-sqlite":         "Ascend profiler (database)",
		"proton-tree":           "Triton Proton (tree)",
		"tf-timeline":           "TensorFlow timeline",
		"nccl-profiler":         "NCCL profiler plugin",
		"ncu":                   "Nsight Compute",
		"nsys-sqlite":           "Nsight Systems SQLite",
		"nsys-stats":            "nsys stats",
		"nsys-csv":              "Nsight Systems CSV",
		"rocprof-stats":         "rocprof totals",
		"rocprof-counters":      "rocprof counters",
		"execution-trace":       "PyTorch execution trace",
		"deepspeed-flops":       "DeepSpeed flops profiler",
		"perf-script":           "perf script",
		"cpuprofile":            "CPU profile of V8",
		"scalene":               "Scalene",
		"torch-tables":          "PyTorch tables",
		"ncu-rep":               "Nsight Compute",
		"nsys-rep":              "Nsight Systems",
		"nsys-json":             "Nsight Systems JSON",
		"nsys-parquet":          "Nsight Systems Parquet directory",
		"rocprofv3-sqlite":      "rocprofv3 database",
		"rocprofv3-csv":         "rocprofv3 CSV",
		"rocprofv3-json":        "rocprofv3 JSON",
		"rpd":                   "rocmProfileData",
		"rpd-json":              "rocmProfileData JSON",
		"rocprof-sqlite":        "rocprof database",
		"rocprof-csv":           "rocprof CSV",
		"rocprof-json":          "rocprof JSON",
		"perfetto":              "Perfetto trace",
		"kineto-perfetto":       "PyTorch profiler (Perfetto)",
		"rocprofv3-perfetto":    "rocprofv3 (Perfetto)",
		"pstats-file":           "pstats",
		"torch-memory-snapshot": "PyTorch memory snapshot",
		"torch-memory-timeline": "PyTorch memory timeline",
	}, id, 30)
}
