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
// import models; only internal/ingest imports several formats; judge and
// report see no events; nothing imports back. Of the packages of analyze that share
// a trace each builds on the one before: gpu, linking, steps, hostcalls, attribute, detail; the others
// know nothing of each other.
var mayImport = map[string]string{
	"trace":                          "diag internal/eventscan internal/jsonscan internal/redact",
	"internal/eventscan":             "internal/jsonscan",
	"nsys":                           "diag internal/redact trace unit",
	"counters":                       "diag internal/redact",
	"ncu":                            "counters diag internal/redact internal/textline",
	"internal/ingest":                "collective counters diag internal/foreign internal/inflate internal/lazyregexp internal/pickle internal/tempfile internal/textscan memory ncu nsys nsys/stats profile pyprof series series/bench series/comm series/forms series/monitor summary torchprof torchprof/snapshot torchprof/timeline trace unit",
	"internal/foreign":               "internal/lazyregexp",
	"internal/early":                 "internal/addrspace",
	"internal/membudget":             "internal/addrspace",
	"internal/loadtrace":             "internal/inflate trace",
	"internal/gen/nsysgen":           "internal/gen/tracegen",
	"internal/gen/nsysgen/gennsys":   "internal/gen/nsysgen",
	"internal/gen/tracegen/gentrace": "internal/gen/nsysgen internal/gen/tracegen",
	"internal/gen/snapgen/gensnap":   "internal/gen/snapgen",
	"internal/gen/rankgen/genranks":  "internal/gen/rankgen",
	"internal/hosttree":              "internal/runsort trace",
	"internal/outfile":               "internal/tempfile",
	"internal/placing":               "internal/ingest internal/label summary/view",
	"internal/redact":                "internal/lazyregexp",
	"internal/settings":              "diag internal/redact internal/yamltree",
	"internal/timeline":              "internal/eventscan internal/jsonscan trace",
	"internal/trim":                  "internal/outfile internal/partial internal/redact internal/timeline trace unit window",
	"summary/view/efficiency":        "internal/label internal/lazyregexp summary summary/view",
	"summary/view/hang":              "summary",
	"window":                         "unit",
	"internal/partial":               "analyze analyze/roofline collective diag fleet internal/ingest internal/label internal/redact summary summary/view summary/view/hang trace unit wallclock window",
	"inspect":                        "analyze analyze/attribute analyze/gpu analyze/limits analyze/linking analyze/steps diag internal/hosttree internal/label internal/pyname interval summary trace",
	"report/nsystables":              "analyze/nsysstats diag internal/label report/doc",
	"report/inspection":              "inspect internal/label report/doc report/words unit",
	"wallclock":                      "internal/label series summary",
	"collective":                     "diag",
	"beam/cmd/assay-beam":            "beam/pipeline unit",
	"beam/pipeline":                  "analyze collective diag fleet internal/ingest internal/partial internal/redact judge judge/rule report summary trace",
	"profile":                        "diag internal/lazyregexp",
	"nsys/stats":                     "diag internal/lazyregexp internal/redact internal/textline profile",
	"torchprof":                      "diag internal/lazyregexp internal/redact internal/textscan profile",
	"summary":                        "internal/jsontext unit",
	"analyze":                        "analyze/attribute analyze/detail analyze/functions analyze/gpu analyze/kernelcounters analyze/limits analyze/linking analyze/logs analyze/roofline analyze/snapshot analyze/steps classify collective counters diag efficiency efficiency/hardware internal/lazyregexp internal/runsort interval memory phase profile series summary trace",
	"analyze/hostcalls":              "analyze/gpu analyze/limits analyze/linking analyze/steps classify internal/runsort interval summary trace",
	"analyze/attribute":              "analyze/gpu analyze/hostcalls analyze/limits analyze/linking analyze/steps diag internal/hosttree internal/pyname internal/redact internal/runsort interval profile summary trace",
	"analyze/detail":                 "analyze/attribute analyze/gpu analyze/limits analyze/steps interval summary trace",
	"analyze/gpu":                    "analyze/limits classify collective diag internal/runsort interval summary trace",
	"analyze/linking":                "analyze/gpu analyze/limits classify diag internal/runsort interval summary trace",
	"analyze/steps":                  "analyze/gpu analyze/limits analyze/linking classify diag internal/runsort interval phase summary trace",
	"analyze/roofline":               "analyze/gpu analyze/limits analyze/linking classify collective diag efficiency efficiency/hardware internal/lazyregexp interval phase summary trace",
	"analyze/functions":              "analyze/limits classify diag profile summary",
	"analyze/kernelcounters":         "analyze/limits classify counters diag internal/redact summary",
	"analyze/limits":                 "diag interval summary",
	"analyze/logs":                   "diag phase series summary",
	"analyze/snapshot":               "analyze/limits diag internal/lazyregexp internal/redact interval memory profile summary",
	"analyze/nsysstats":              "analyze/gpu analyze/linking internal/hosttree interval summary trace",
	"pyprof":                         "diag internal/lazyregexp internal/textline profile",
	"memory":                         "diag",
	"series":                         "diag",
	"series/bench":                   "diag internal/lazyregexp internal/textline series",
	"series/comm":                    "diag internal/lazyregexp internal/pickle series",
	"series/monitor":                 "diag internal/lazyregexp series",
	"series/forms":                   "diag internal/lazyregexp internal/textline internal/yamltree series",
	"torchprof/snapshot":             "diag internal/pickle memory",
	"torchprof/timeline":             "diag internal/lazyregexp memory",
	"internal/textline":              "internal/redact",
	"internal/textscan":              "internal/redact",
	"internal/pickle":                "diag internal/redact",
	"classify":                       "internal/yamltree",
	"phase":                          "internal/yamltree",
	"summary/view":                   "internal/label internal/lazyregexp summary unit",
	"summary/view/bench":             "summary",
	"judge":                          "judge/capture judge/counters judge/finding judge/functions judge/memory judge/ranks judge/rule judge/series judge/sums judge/timeline judge/tree summary summary/view summary/view/hang",
	"judge/finding":                  "unit",
	"judge/rule":                     "internal/yamltree judge/finding summary unit",
	"judge/tree":                     "judge/finding judge/rule summary unit",
	"judge/advice":                   "internal/label internal/lazyregexp judge/finding judge/rule summary summary/view unit",
	"judge/capture":                  "internal/label internal/lazyregexp judge/finding judge/rule judge/tree summary summary/view unit",
	"judge/timeline":                 "internal/label judge/advice judge/capture judge/finding judge/ranks judge/rule judge/tree summary summary/view unit",
	"judge/ranks":                    "internal/label judge/advice judge/finding judge/rule judge/tree summary summary/view unit",
	"judge/sums":                     "internal/label judge/advice judge/finding judge/rule judge/tree summary unit",
	"judge/functions":                "internal/label internal/lazyregexp judge/finding judge/rule judge/tree summary unit",
	"judge/counters":                 "internal/label judge/finding judge/rule judge/tree summary unit",
	"judge/series":                   "internal/label judge/advice judge/finding judge/rule judge/tree summary summary/view summary/view/bench summary/view/hang unit",
	"judge/memory":                   "internal/label judge/finding judge/rule judge/tree summary unit",
	"doctor":                         "internal/label judge judge/capture judge/finding judge/rule summary summary/view summary/view/efficiency unit",
	"compare":                        "compare/efficiency compare/headline compare/phases compare/ranks compare/series internal/lazyregexp summary summary/view unit",
	"compare/efficiency":             "summary summary/view/efficiency",
	"compare/headline":               "unit",
	"compare/phases":                 "summary summary/view",
	"compare/ranks":                  "summary summary/view",
	"compare/series":                 "summary summary/view",
	"gate/metric":                    "internal/label summary summary/view/efficiency unit",
	"gate/provenance":                "summary",
	"gate/baseline":                  "diag gate/provenance internal/jsontext internal/tempfile summary",
	"gate":                           "gate/metric internal/label internal/yamltree judge judge/rule summary summary/view unit",
	"internal/marktest":              "judge/rule",
	"report/check":                   "gate gate/metric internal/jsontext internal/label report/doc report/words summary unit",
	"report/counters":                "internal/label judge/counters report/doc report/section report/words summary summary/view unit",
	"report/diff":                    "compare compare/efficiency compare/phases compare/ranks compare/series internal/label report/doc report/pictures report/plot report/words summary summary/view summary/view/efficiency unit",
	"report/doc":                     "internal/label report/plot unit",
	"report/logs":                    "internal/label report/doc report/section summary summary/view summary/view/bench summary/view/hang unit",
	"report/memory":                  "internal/label report/doc report/section summary summary/view unit",
	"report/efficiency":              "internal/label report/doc report/section report/words summary summary/view summary/view/efficiency unit",
	"report/section":                 "compare/phases judge judge/finding judge/rule report/doc report/plot summary summary/view unit",
	"report/tables":                  "internal/label report/doc report/section summary summary/view unit",
	"report/timeline":                "internal/label judge/finding judge/rule judge/timeline report/doc report/section report/words summary summary/view unit",
	"report":                         "compare compare/phases diag doctor internal/jsontext internal/label internal/lazyregexp judge judge/counters judge/finding judge/rule judge/timeline report/counters report/diff report/doc report/efficiency report/logs report/memory report/page report/pictures report/plot report/ranks report/section report/tables report/timeline report/words summary summary/view unit",
	"cmd/assay":                      "analyze analyze/detail analyze/nsysstats analyze/snapshot classify compare diag docs doctor efficiency/hardware efficiency/transformer gate gate/baseline gate/metric gate/provenance inspect internal/early internal/ingest internal/jsontext internal/label internal/loopback internal/membudget internal/outfile internal/partial internal/placing internal/redact internal/settings internal/tempfile internal/timeline internal/trim judge judge/rule phase profile report report/check report/doc report/inspection report/nsystables report/pictures report/plot series/forms summary summary/view trace unit wallclock window",
	"internal/label":                 "internal/lazyregexp unit",
	"internal/loopback":              "internal/lazyregexp",
	"internal/samplerun":             "compare judge judge/finding judge/rule judge/timeline summary summary/view",
	"efficiency":                     "internal/jsonscan internal/lazyregexp",
	"efficiency/hardware":            "efficiency internal/yamltree",
	"fleet":                          "collective diag summary",
	"report/ranks":                   "internal/label report/doc report/section summary summary/view unit",
	"report/plot":                    "internal/label report/plot/raster unit",
	"internal/corpus/captures":       "analyze internal/ingest",
	"report/plot/raster":             "",
	"report/page":                    "compare internal/label judge/timeline report/doc report/plot report/words summary summary/view summary/view/efficiency",
	"report/pictures":                "compare internal/label judge judge/counters judge/finding judge/rule report/pictures/logged report/plot report/words summary summary/view summary/view/efficiency unit",
	"report/pictures/logged":         "internal/label report/plot report/words summary summary/view summary/view/bench unit",
	"report/words":                   "compare gate internal/label judge/counters judge/finding judge/timeline summary summary/view summary/view/efficiency unit",
}

// TestBeamApart checks that the main module needs nothing of Apache Beam, whose SDK brings
// over a hundred modules: the pipeline is a module of its own, which needs the main one.
func TestBeamApart(t *testing.T) {
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
	if out := deps(".", "-deps", "./..."); strings.Contains(out, "beam") || !strings.Contains(out, "assay/internal/partial\n") {
		t.Error("the main module needs packages of Apache Beam")
	}
	if out := deps(".", "-m", "all"); strings.Contains(out, "apache/beam") {
		t.Error("the main module requires the module of Apache Beam")
	}
	module, err := os.ReadFile(filepath.Join("beam", "go.mod"))
	if err != nil || !strings.Contains(string(module), "github.com/apache/beam/sdks/v2 v2.") || !strings.Contains(string(module), "replace assay => ../") {
		t.Errorf("beam/go.mod does not require Apache Beam and this module: %v", err)
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
	"internal/gen/tracegen": "a generator of traces with known results, its scenes, stories and troubles; for tests only",
	"efficiency":            "the table of formulas, one file per subject; the formulas share the private reader of arguments",
	"analyze/attribute":     "one walk along the threads of the host; its questions share what is open on them",
	"internal/redact":       "one search with one file per kind of place; its parts share the marks and what was found",
	"judge/timeline":        "one file per question about what ran when; the rules share the evaluator of one timeline",
	"summary":               "the rows of the contract, one file per subject; what is done with all rows walks the private table of their kinds",
	"trace":                 "the model, its reader and what cuts parts out of it, which know the private fields of the model for speed",
	"cmd/assay":             "one file per subcommand; package main cannot be imported in parts",
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
	"internal/redact.text":            "one method per place or form of a secret, which all read one text",
	"series/monitor.Finder":           "one method per kind of heading and of row, which all add to one log",
	"nsys.loader":                     "one method per table of an export, which all add to one trace",
	"internal/gen/tracegen.generator": "one method per part of a trace, which share one stream of random numbers; for tests only",
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
