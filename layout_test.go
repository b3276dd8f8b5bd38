package assay

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mayImport is the architecture: for each package, the packages of this module
// that it may import. A package that is not listed may import none. Formats
// import models; only ingest imports several formats; judge and
// report see no events; nothing imports back. Of the packages of analyze that share
// a trace each builds on the one before: gpu, launches, steps, calls, attribute, detail; the others
// know nothing of each other.
var mayImport = map[string]string{
	"trace":                        "internal/diag internal/eventscan internal/jsonscan internal/label internal/lazyregexp internal/redact",
	"internal/eventscan":           "internal/jsonscan",
	"trace/ascend":                 "internal/database internal/diag internal/interval internal/jsonwalk internal/lazyregexp internal/profile internal/redact internal/textscan internal/unit trace",
	"trace/proton":                 "internal/diag internal/lazyregexp internal/profile internal/redact trace",
	"trace/xplane":                 "internal/diag internal/jsonscan internal/label internal/lazyregexp internal/profile internal/protoscan internal/redact trace",
	"nsys":                         "internal/database internal/diag internal/parquet internal/redact internal/unit trace",
	"nsys/ncu":                     "internal/diag internal/lazyregexp internal/redact internal/textscan",
	"ingest":                       "analyze/ranks/collective ingest/refused internal/database internal/diag internal/inflate internal/lazyregexp internal/outfile internal/pickle internal/profile internal/profile/pyprof internal/profile/sampler internal/redact internal/textscan internal/unit logs logs/bars logs/bench logs/comm logs/forms logs/health logs/monitor nsys nsys/ncu nsys/stats rocm summary torchprof torchprof/compile torchprof/et torchprof/flops torchprof/memory trace trace/ascend trace/perfetto trace/proton trace/unitrace trace/xplane",
	"internal/early":               "internal/addrspace",
	"internal/membudget":           "internal/addrspace",
	"internal/test/damage":         "internal/test/tracegen",
	"internal/test/loadtrace":      "internal/inflate trace",
	"internal/test/nsysgen":        "internal/test/tracegen trace",
	"analyze/hosttree":             "internal/runsort trace",
	"internal/outfile":             "",
	"ingest/partial":               "analyze analyze/clocks analyze/critical/change analyze/efficiency/graphjoin analyze/goodput analyze/ranks analyze/ranks/collective analyze/roles analyze/samples analyze/whatif ingest internal/diag internal/interval internal/label internal/profile internal/redact internal/unit summary summary/view summary/view/efficiency summary/view/hang trace trace/window",
	"internal/redact":              "internal/lazyregexp",
	"internal/settings":            "internal/diag internal/redact",
	"ingest/export":                "ingest/partial internal/eventscan internal/jsonscan internal/outfile internal/redact internal/unit trace trace/window",
	"summary/view/efficiency":      "internal/label internal/lazyregexp summary summary/view",
	"summary/view/hang":            "summary",
	"trace/window":                 "internal/unit",
	"analyze/critical/change":      "internal/lazyregexp",
	"analyze/critical/graph":       "analyze/classify analyze/critical/change internal/interval internal/label internal/lazyregexp internal/profilercost internal/runsort trace",
	"analyze/critical":             "analyze/critical/graph internal/interval trace",
	"analyze/critical/forecast":    "analyze/critical analyze/critical/change analyze/critical/graph internal/interval internal/lazyregexp internal/profilercost internal/unit trace",
	"analyze/whatif":               "analyze/classify analyze/critical analyze/critical/change analyze/critical/forecast analyze/critical/graph analyze/efficiency analyze/efficiency/hardware analyze/gpu analyze/operations analyze/phase analyze/steps internal/diag internal/interval internal/stat summary trace",
	"report/whatif":                "analyze/operations analyze/whatif internal/label internal/unit report/doc report/words summary",
	"analyze/inspect":              "analyze analyze/attribute analyze/critical analyze/gpu analyze/hosttree analyze/launches analyze/layers analyze/limits analyze/steps analyze/whatif internal/diag internal/interval internal/label internal/stat summary trace",
	"report/nsystables":            "analyze/nsysstats internal/diag internal/label report/doc",
	"report/inspection":            "analyze/inspect internal/label internal/unit report/doc report/words summary",
	"analyze/clocks":               "internal/label internal/lazyregexp internal/stat logs summary",
	"analyze/ranks/collective":     "internal/diag",
	"cmd/assay-beam":               "cmd/assay-beam/pipeline internal/unit",
	"cmd/assay-beam/pipeline":      "analyze analyze/ranks analyze/ranks/collective ingest ingest/partial internal/diag internal/redact judge judge/rule report summary trace",
	"internal/profile":             "internal/diag internal/lazyregexp",
	"nsys/stats":                   "internal/diag internal/lazyregexp internal/profile internal/redact internal/textscan trace",
	"torchprof":                    "internal/diag internal/label internal/lazyregexp internal/profile internal/redact internal/textscan internal/unit",
	"summary":                      "internal/diag internal/jsonscan internal/stat internal/unit summary/row",
	"analyze":                      "analyze/attribute analyze/classify analyze/counters analyze/detail analyze/efficiency analyze/efficiency/hardware analyze/efficiency/operators analyze/fusion analyze/goodput analyze/gpu analyze/launches analyze/layers analyze/limits analyze/logs analyze/memory analyze/occupancy analyze/phase analyze/profile analyze/ranks/collective analyze/roles analyze/samples analyze/steps internal/diag internal/interval internal/lazyregexp internal/profile internal/runsort logs nsys/ncu summary torchprof/compile torchprof/memory trace",
	"analyze/calls":                "analyze/classify analyze/gpu analyze/launches analyze/limits analyze/steps internal/interval internal/runsort summary trace",
	"analyze/attribute":            "analyze/calls analyze/gpu analyze/hosttree analyze/launches analyze/limits analyze/ranks/collective analyze/steps internal/diag internal/interval internal/label internal/profile internal/redact internal/runsort summary trace",
	"analyze/detail":               "analyze/attribute analyze/gpu analyze/limits analyze/steps internal/interval internal/stat summary trace",
	"analyze/gpu":                  "analyze/classify analyze/limits analyze/ranks/collective internal/diag internal/interval internal/runsort internal/stat internal/unit summary trace",
	"analyze/launches":             "analyze/classify analyze/gpu analyze/limits internal/diag internal/interval internal/runsort internal/unit summary trace",
	"analyze/steps":                "analyze/classify analyze/gpu analyze/launches analyze/limits analyze/phase internal/diag internal/interval internal/runsort internal/stat summary trace",
	"analyze/efficiency":           "analyze/classify analyze/efficiency/hardware analyze/efficiency/operators analyze/gpu analyze/launches analyze/limits analyze/phase analyze/ranks/collective internal/diag internal/interval internal/lazyregexp summary trace",
	"analyze/profile":              "analyze/classify analyze/limits internal/diag internal/label internal/profile summary",
	"analyze/counters":             "analyze/classify analyze/limits internal/diag internal/redact nsys/ncu summary",
	"analyze/samples":              "analyze/attribute analyze/gpu analyze/limits internal/diag internal/interval internal/label internal/profile internal/unit summary",
	"analyze/limits":               "internal/diag internal/interval summary",
	"analyze/logs":                 "analyze/phase internal/diag internal/stat logs summary",
	"analyze/memory":               "analyze/limits internal/diag internal/interval internal/lazyregexp internal/profile internal/redact summary torchprof/memory",
	"analyze/nsysstats":            "analyze/gpu analyze/hosttree analyze/launches internal/interval internal/stat summary trace",
	"internal/profile/pyprof":      "internal/diag internal/lazyregexp internal/profile internal/textscan",
	"torchprof/memory":             "internal/diag internal/lazyregexp internal/pickle internal/redact",
	"logs":                         "internal/diag internal/redact internal/stat",
	"logs/bench":                   "internal/diag internal/lazyregexp internal/textscan logs",
	"logs/comm":                    "internal/diag internal/lazyregexp internal/pickle logs",
	"logs/monitor":                 "internal/diag internal/lazyregexp internal/protoscan internal/redact logs",
	"logs/forms":                   "internal/diag internal/lazyregexp internal/redact internal/settings internal/textscan logs logs/bars logs/config",
	"internal/textscan":            "internal/redact",
	"internal/pickle":              "internal/diag internal/redact",
	"analyze/classify":             "internal/settings",
	"analyze/phase":                "internal/settings",
	"summary/view":                 "internal/label internal/lazyregexp internal/profilercost internal/stat internal/unit summary summary/row",
	"summary/view/bench":           "internal/lazyregexp summary",
	"judge":                        "judge/capture judge/compiled judge/counters judge/finding judge/health judge/logs judge/memory judge/monitors judge/profile judge/ranks judge/rule judge/tables judge/timeline judge/tree summary summary/view summary/view/hang",
	"judge/finding":                "internal/unit",
	"judge/rule":                   "internal/lazyregexp internal/settings internal/unit judge/finding summary summary/view summary/view/bench summary/view/goodput",
	"judge/tree":                   "internal/unit judge/finding judge/rule summary summary/view",
	"judge/advice":                 "internal/label internal/lazyregexp internal/unit judge/finding judge/rule summary summary/view",
	"judge/capture":                "internal/label internal/lazyregexp internal/stat internal/unit judge/finding judge/rule judge/tree summary summary/view",
	"judge/timeline":               "internal/label internal/stat internal/unit judge/advice judge/capture judge/finding judge/monitors judge/ranks judge/rule judge/tree summary summary/view summary/view/efficiency",
	"judge/ranks":                  "internal/label internal/stat internal/unit judge/advice judge/finding judge/health judge/rule judge/tree summary summary/view",
	"judge/tables":                 "internal/label internal/unit judge/advice judge/finding judge/rule judge/tree summary",
	"judge/profile":                "internal/label internal/lazyregexp internal/unit judge/finding judge/rule judge/tree summary",
	"judge/counters":               "internal/label internal/unit judge/finding judge/rule judge/tree summary",
	"judge/logs":                   "internal/label internal/stat internal/unit judge/advice judge/finding judge/rule judge/tree summary summary/view summary/view/bench summary/view/comparability summary/view/goodput summary/view/hang",
	"judge/memory":                 "internal/label internal/unit judge/finding judge/rule judge/tree summary summary/view",
	"judge/doctor":                 "internal/label internal/unit judge judge/capture judge/finding judge/rule summary summary/view summary/view/bench summary/view/efficiency",
	"compare":                      "compare/efficiency compare/layers compare/logs compare/phases compare/ranks internal/lazyregexp internal/stat internal/unit judge judge/rule summary summary/row summary/view summary/view/comparability",
	"compare/efficiency":           "summary summary/view/efficiency",
	"compare/history":              "compare gate gate/metric internal/label internal/stat summary summary/view",
	"report/history":               "compare/history gate/metric internal/label internal/unit report/doc report/plot report/words",
	"compare/phases":               "internal/stat summary summary/view summary/view/comparability",
	"compare/ranks":                "summary summary/view summary/view/comparability",
	"compare/logs":                 "internal/stat summary summary/view summary/view/comparability",
	"gate/metric":                  "internal/label internal/query internal/stat internal/unit summary summary/row summary/view summary/view/bench summary/view/efficiency summary/view/goodput summary/view/layers",
	"gate/baseline":                "internal/diag internal/jsonscan internal/outfile summary",
	"gate":                         "gate/metric internal/label internal/settings internal/unit judge judge/rule summary summary/view summary/view/comparability",
	"internal/test/marktest":       "judge/rule",
	"report/check":                 "gate gate/metric internal/jsonscan internal/label internal/unit report/doc report/words summary",
	"report/section/counters":      "internal/label internal/unit judge/counters report/doc report/section report/words summary summary/view",
	"report/diff":                  "compare compare/efficiency compare/layers compare/logs compare/phases compare/ranks internal/label internal/unit report/doc report/pictures report/plot report/words summary summary/view summary/view/efficiency",
	"report/doc":                   "internal/label internal/unit report/plot",
	"report/section/logs":          "internal/label internal/unit report/doc report/section report/words summary summary/view summary/view/bench summary/view/goodput summary/view/hang",
	"report/section/memory":        "internal/label internal/unit report/doc report/section summary summary/view",
	"report/section/efficiency":    "internal/label internal/unit report/doc report/section report/words summary summary/view summary/view/efficiency",
	"report/section":               "compare/phases internal/unit judge judge/finding judge/rule judge/timeline report/doc report/plot summary summary/row summary/view summary/view/comparability",
	"report/section/tables":        "internal/label internal/stat internal/unit report/doc report/section summary summary/view",
	"report/section/timeline":      "internal/label internal/stat internal/unit judge judge/finding judge/rule judge/timeline report/doc report/section report/show report/words summary summary/row summary/view summary/view/layers",
	"report":                       "compare compare/history compare/phases internal/diag internal/jsonscan internal/label internal/lazyregexp internal/redact internal/unit judge judge/counters judge/doctor judge/finding judge/rule judge/timeline report/diff report/doc report/history report/page report/pictures report/plot report/section report/section/counters report/section/efficiency report/section/logs report/section/memory report/section/ranks report/section/tables report/section/timeline report/words summary summary/view",
	"cmd/assay":                    "analyze analyze/classify analyze/clocks analyze/critical/change analyze/detail analyze/efficiency/floor analyze/efficiency/hardware analyze/efficiency/transformer analyze/events analyze/inspect analyze/memory analyze/nsysstats analyze/phase analyze/roles analyze/whatif compare compare/history docs gate gate/baseline gate/metric ingest ingest/export ingest/partial internal/agent internal/diag internal/early internal/excerpt internal/interval internal/jsonscan internal/jsonschema internal/label internal/loopback internal/membudget internal/outfile internal/profile internal/query internal/redact internal/settings internal/tabular internal/unit judge judge/doctor judge/rule logs/forms report report/check report/doc report/history report/inspection report/nsystables report/pictures report/plot report/rowfile report/show report/whatif summary summary/columns summary/view trace trace/window",
	"internal/label":               "internal/lazyregexp internal/unit",
	"internal/loopback":            "internal/lazyregexp",
	"internal/test/samplerun":      "compare judge judge/finding judge/rule judge/timeline summary summary/view",
	"analyze/efficiency/graphjoin": "analyze/efficiency analyze/efficiency/hardware analyze/efficiency/operators summary",
	"analyze/fusion":               "analyze/efficiency analyze/efficiency/operators analyze/gpu analyze/launches analyze/limits summary trace",
	"analyze/occupancy":            "analyze/efficiency/hardware analyze/gpu analyze/limits summary trace",
	"analyze/efficiency/floor":     "analyze/efficiency/hardware analyze/efficiency/transformer analyze/ranks summary",
	"analyze/efficiency/operators": "internal/jsonscan internal/lazyregexp",
	"analyze/efficiency/hardware":  "analyze/efficiency/operators internal/settings",
	"analyze/ranks":                "analyze/ranks/collective internal/diag internal/label internal/stat internal/unit summary",
	"report/section/ranks":         "internal/label internal/unit report/doc report/section summary summary/view",
	"report/plot":                  "internal/label internal/stat internal/unit report/plot/raster",
	"report/plot/raster":           "",
	"report/page":                  "compare internal/label internal/unit judge/timeline report/doc report/plot report/words summary summary/row summary/view summary/view/efficiency",
	"report/pictures":              "compare internal/label internal/stat internal/unit judge judge/counters judge/finding judge/rule report/pictures/layers report/pictures/logs report/plot report/words summary summary/row summary/view summary/view/efficiency",
	"report/pictures/logs":         "internal/label internal/stat internal/unit report/plot report/words summary summary/view summary/view/bench summary/view/goodput",
	"report/words":                 "compare gate internal/label internal/unit judge/counters judge/finding judge/timeline summary summary/view summary/view/efficiency",
	"internal/test/gen":            "internal/test/layergen internal/test/nsysgen internal/test/rankgen internal/test/snapgen internal/test/tracegen",
	"internal/test/captures":       "analyze ingest",
	"summary/row":                  "internal/label internal/unit",
	"report/show":                  "compare internal/jsonscan internal/label internal/query internal/tabular internal/unit report/doc report/words summary summary/row",
	"logs/bars":                    "internal/lazyregexp",
	"logs/config":                  "logs",
	"judge/monitors":               "internal/label internal/stat internal/unit judge/finding judge/rule judge/tree summary",
	"analyze/operations":           "analyze/critical/change internal/interval internal/lazyregexp trace",
	"analyze/layers":               "analyze/classify analyze/gpu analyze/launches analyze/limits analyze/steps internal/diag internal/stat summary trace",
	"compare/layers":               "summary summary/view summary/view/layers",
	"report/pictures/layers":       "internal/label internal/stat internal/unit report/plot report/words summary summary/view summary/view/layers",
	"analyze/events":               "analyze analyze/attribute analyze/classify analyze/gpu analyze/limits analyze/steps internal/diag internal/interval internal/redact internal/tabular summary trace",
	"summary/columns":              "internal/tabular summary summary/row",
	"internal/parquet":             "internal/tabular",
	"internal/query":               "internal/label internal/redact internal/tabular internal/unit",
	"report/rowfile":               "internal/jsonscan internal/label internal/parquet internal/tabular report/doc",
	"internal/agent":               "internal/excerpt internal/redact",
	"internal/excerpt":             "",
	"internal/jsonschema":          "",
	"trace/perfetto":               "internal/diag internal/label internal/lazyregexp internal/protoscan internal/redact trace",
	"internal/database":            "internal/diag internal/unit",
	"internal/test/rocmgen":        "trace",
	"internal/test/pfgen":          "trace",
	"rocm":                         "internal/database internal/diag internal/jsonwalk internal/label internal/lazyregexp internal/profile internal/redact internal/textscan trace",
	"torchprof/compile":            "internal/diag internal/lazyregexp internal/redact internal/textscan",
	"judge/compiled":               "internal/label internal/unit judge/finding judge/rule judge/tree summary summary/view",
	"ingest/refused":               "internal/lazyregexp trace/perfetto trace/xplane",
	"internal/profile/sampler":     "internal/diag internal/jsonwalk internal/lazyregexp internal/profile internal/redact internal/textscan",
	"torchprof/flops":              "internal/diag internal/lazyregexp internal/profile internal/redact",
	"torchprof/et":                 "internal/diag internal/jsonwalk internal/lazyregexp internal/profile internal/redact trace",
	"analyze/roles":                "analyze/clocks internal/stat logs summary summary/view",
	"analyze/goodput":              "internal/lazyregexp internal/stat logs summary",
	"summary/view/comparability":   "internal/unit summary summary/view",
	"summary/view/layers":          "internal/stat summary",
	"summary/view/goodput":         "summary",
	"logs/health":                  "internal/lazyregexp internal/redact logs",
	"judge/health":                 "internal/label internal/lazyregexp internal/stat internal/unit judge/finding judge/rule judge/tree summary",
	"trace/unitrace":               "internal/lazyregexp trace",
	"internal/test/vendorgen":      "internal/test/pfgen trace",
}

// TestHeavyApart checks that the main module needs nothing of Apache Beam, whose SDK brings
// over a hundred modules: the pipeline is a module of its own, which needs the main one.
// Of the standard library the command does without templates.
func TestHeavyApart(t *testing.T) {
	deps := func(dir string, args ...string) string {
		t.Helper()
		list := exec.Command("go", append([]string{"list"}, args...)...)
		list.Dir = dir
		out, err := list.Output()
		if err != nil {
			t.Skipf("go list: %v", err)
		}
		return string(out)
	}
	if out := deps(".", "-deps", "./..."); strings.Contains(out, "beam") || !strings.Contains(out, "assay/ingest/partial\n") {
		t.Error("the main module needs packages of Apache Beam")
	}
	// It finds methods by name, so the linker would keep every exported method of every type.
	if out := deps(".", "-deps", "./cmd/assay"); strings.Contains(out, "\ntext/template\n") {
		t.Error("the command needs text/template, which makes it a tenth larger")
	}
	if out := deps(".", "-m", "all"); strings.Contains(out, "apache/beam") {
		t.Error("the main module requires the module of Apache Beam")
	}
	module, err := os.ReadFile(filepath.Join("cmd", "assay-beam", "go.mod"))
	if err != nil || !strings.Contains(string(module), "github.com/apache/beam/sdks/v2 v2.") || !strings.Contains(string(module), "replace assay => ../") {
		t.Errorf("cmd/assay-beam/go.mod does not require Apache Beam and this module: %v", err)
	}
}

// forbidden are names under which anything could be filed.
var forbidden = []string{"util", "utils", "common", "types", "helpers"}

func TestLayout(t *testing.T) {
	seen := make(map[string]bool)
	eachFile(t, func(pkg, file string) {
		seen[pkg] = true
		if slices.Contains(forbidden, path.Base(pkg)) {
			t.Errorf("%s: no package of that name", pkg)
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range f.Imports {
			dep, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "assay/")
			if ours && !slices.Contains(strings.Fields(mayImport[pkg]), dep) {
				t.Errorf("%s imports %s, which mayImport in layout_test.go does not list for %s", file, dep, pkg)
			}
		}
	})
	for pkg, deps := range mayImport {
		for _, p := range append(strings.Fields(deps), pkg) {
			if !seen[p] {
				t.Errorf("mayImport names %s, which is not there", p)
			}
		}
	}
}

// TestLength checks that no file is over 500 lines. A longer one needs a reason here;
// generated files are exempt, because their sources are read instead.
func TestLength(t *testing.T) {
	const most = 500
	eachFile(t, func(_, file string) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		generated := strings.HasPrefix(string(b), "// Code generated ")
		if n := strings.Count(string(b), "\n"); n > most && !generated {
			t.Errorf("%s has %d lines, over %d", file, n, most)
		}
	})
}

// largePackages are the packages of more than mostLines lines, each with the reason.
var largePackages = map[string]string{
	"internal/test/tracegen":       "a generator of traces with known results, its scenes, stories and troubles; for tests only",
	"analyze/efficiency/operators": "the table of formulas, one file per subject; the formulas share the private reader of arguments",
	"analyze/attribute":            "one walk along the threads of the host; its questions share what is open on them",
	"internal/redact":              "one search with one file per kind of place; its parts share the marks and what was found",
	"judge/logs":                   "one file per question about logs, benchmarks and monitors; the rules share the evaluator of one set of series",
	"judge/timeline":               "one file per question about what ran when; the rules share the evaluator of one timeline",
	"summary":                      "the rows of the contract, one file per subject; what is done with all rows walks the private table of their kinds",
	"trace":                        "the model, its reader and what cuts parts out of it, which know the private fields of the model for speed",
	"logs/forms":                   "one reader of lines; how it splits, dates and joins them shares the private state of a record",
	"gate/metric":                  "one file per subject of metrics; all measure a private selection of a run",
	"cmd/assay":                    "one file per subcommand; package main cannot be imported in parts",
	"summary/view":                 "one file per question about a summary that rules, reports and gates ask alike",
	"report/plot":                  "one file per form of drawing; all draw on the private canvas and share its axes",
	"ingest":                       "one file per family of formats, which says how they are recognized and loaded; the table of formats is private",
	"compare":                      "one file per question that two runs are asked; its parts share the private rows of both sides",
}

// TestPackageLength checks that no package has more than 3,000 lines of Go, without tests
// and generated files, unless largePackages has a reason. It prints the reasons.
func TestPackageLength(t *testing.T) {
	const mostLines = 3000
	lines := map[string]int{}
	eachFile(t, func(pkg, file string) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(b), "// Code generated ") {
			lines[pkg] += strings.Count(string(b), "\n")
		}
	})
	checkReasons(t, "lines", lines, mostLines, largePackages)
}

// largeTypes are the types of more than 40 methods, each with the reason.
var largeTypes = map[string]string{
	"internal/redact.text":             "one method per place or form of a secret, which all read one text",
	"logs/forms.Reader":                "one method per part of a line (prefix, time, fields, marks, progress bars), which all add to one log",
	"logs/monitor.Finder":              "one method per kind of heading and of row, which all add to one log",
	"nsys.loader":                      "one method per table of an export, which all add to one trace",
	"internal/test/tracegen.generator": "one method per part of a trace, which share one stream of random numbers; for tests only",
}

// TestMethods checks that no type has more than 40 methods, unless largeTypes has a
// reason. It prints the reasons.
func TestMethods(t *testing.T) {
	methods := map[string]int{}
	eachFile(t, func(pkg, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[pkg+"."+receiver(fn.Recv.List[0].Type)]++
			}
		}
	})
	if len(methods) < 100 {
		t.Errorf("%d types with methods were found", len(methods))
	}
	checkReasons(t, "methods", methods, 40, largeTypes)
}

// receiver returns the name of the type of a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// checkReasons checks that exactly the names over a limit have a reason.
func checkReasons(t *testing.T, what string, counts map[string]int, most int, reasons map[string]string) {
	t.Helper()
	for name, n := range counts {
		switch why := reasons[name]; {
		case n > most && why == "":
			t.Errorf("%s has %d %s, over %d: split it, or give the reason here", name, n, what, most)
		case n > most:
			t.Logf("%s has %d %s: %s", name, n, what, why)
		case why != "":
			t.Errorf("%s has %d %s, so it needs no reason any more", name, n, what)
		}
	}
	for name := range reasons {
		if counts[name] == 0 {
			t.Errorf("a reason names %s, which is not there", name)
		}
	}
}

// TestExpressions: what is compiled when it is first used compiles.
func TestExpressions(t *testing.T) {
	n := 0
	eachFile(t, func(_, file string) {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 1 {
				return true
			}
			f, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || fmt.Sprint(f.X) != "lazyregexp" {
				return true
			}
			if lit, ok := call.Args[0].(*ast.BasicLit); ok {
				n++
				if expr, err := strconv.Unquote(lit.Value); err != nil {
					t.Errorf("%s: %v", file, err)
				} else if _, err := regexp.Compile(expr); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
			return true
		})
	})
	if n < 30 {
		t.Errorf("%d expressions were found", n)
	}
}

// eachFile calls f with every Go file of the module that is no test.
func eachFile(t *testing.T, f func(pkg, file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != ".") {
			return fs.SkipDir
		}
		if !d.IsDir() && filepath.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") {
			f(path.Dir(filepath.ToSlash(file)), file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
