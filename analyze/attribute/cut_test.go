package attribute_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/hosttree"
	"assay/analyze/limits"
	"assay/analyze/ranks/collective"
	"assay/analyze/steps"
	"assay/internal/diag"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// never is more events than any thread has.
const never = 1 << 40

// attributed returns everything that attribution says of a trace if threads with so many
// events are cut.
func attributed(t *trace.Trace, least int) *summary.Summary {
	var issues diag.Ledger
	opt := analyze.DefaultOptions()
	words := steps.NewVocabulary(t, nil)
	marks := steps.MarksOf(words, &issues)
	tl := gpu.NewTimeline(t, opt.Rules, &issues)
	a := attribute.Work(tl, attribute.HostOf(t), marks, attribute.Options{Rows: limits.MaxRows, Gaps: 40, Shapes: true, Passes: true, LeastCut: least})
	s := &summary.Summary{Schema: summary.Schema, Steps: analyze.Steps(t, 0, opt)}
	for _, d := range tl.Devices {
		s.Devices = append(s.Devices, tl.Measure(d, 0, 10))
	}
	none := func(int, *trace.Activity) collective.Op { return collective.Other }
	attribute.Fill(s, a, none, 0, 10, limits.NewBudget(limits.MaxRows), &issues)
	for _, is := range issues.Issues() {
		s.Issues = append(s.Issues, summary.Issue{Code: is.Code, Count: is.Count})
	}
	s.Sort()
	return s
}

// TestCutOfCaptures: nothing depends on whether a thread is walked along in two parts.
func TestCutOfCaptures(t *testing.T) {
	paths := test.Files(t, filepath.Join("..", "..", "testdata", "gen", "*.json.gz"))
	if len(paths) < 5 {
		t.Fatalf("%d generated traces", len(paths))
	}
	for _, path := range paths {
		sameIfCut(t, path)
	}
}

// TestCutOfCorpus: the same of real captures; of all with ASSAY_LONG.
func TestCutOfCorpus(t *testing.T) {
	most := int64(1 << 19)
	if test.Long() {
		most = 1 << 30
	}
	seen := 0
	err := filepath.WalkDir(test.Corpus(t, "kineto"), func(path string, e os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".json.gz") {
			return err
		}
		if info, err := os.Stat(path); err != nil || info.Size() > most {
			return err
		}
		seen++
		sameIfCut(t, path)
		return nil
	})
	if err != nil || seen < 10 {
		t.Fatalf("%d captures: %v", seen, err)
	}
}

func sameIfCut(t *testing.T, path string) {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, path)), path, trace.SelectAll())
	if err != nil {
		return // the readers' tests say why
	}
	if got, want := attributed(tr, 1), attributed(tr, never); !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %s", path, difference(got, want))
	}
}

// difference names the first field that differs.
func difference(got, want *summary.Summary) string {
	x, y := reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem()
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			got, want := fmt.Sprintf("%+v", x.Field(i).Interface()), fmt.Sprintf("%+v", y.Field(i).Interface())
			at := 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			from := max(0, at-200)
			return fmt.Sprintf("%s: … %.400s\nwant … %.400s", x.Type().Field(i).Name, got[from:], want[from:])
		}
	}
	return "equal"
}

// TestCutOfRandom: the same for events that overlap, end together, outlive each other by up
// to a microsecond, have equal times and names, and launch work at any depth.
func TestCutOfRandom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 11))
	for range 400 {
		text := randomTrace(rnd)
		tr, err := trace.Read(strings.NewReader(text), "in", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := attributed(tr, 1), attributed(tr, never); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n%s", text, difference(got, want))
		}
	}
}

// TestCutOfLapping: what is open at the cut is guessed wrong where hundreds of events outlive
// the one around them by a microsecond each. Then the second part is walked along again.
func TestCutOfLapping(t *testing.T) {
	var events []string
	for i := range 300 {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"python_function","name":"a.py(%d): f","pid":1,"tid":1,"ts":%d,"dur":1000,"args":{"Python id":%d}}`, i, i, i))
	}
	for i := range 320 {
		ts := 1040 + i
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d.5,"dur":0.25,"args":{"correlation":%d}}`, ts, i+1),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":0.5,"args":{"correlation":%d,"device":0,"stream":7}}`, ts+1, i+1))
	}
	tr, err := trace.Read(strings.NewReader(`{"traceEvents":[`+strings.Join(events, ",\n")+`]}`), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	th := hosttree.Threads(tr)[0]
	at := th.Quantile(0.5)
	before, _ := th.Cut(at)
	if guess := before.OpenAt(at); len(guess) == 0 || len(guess) >= 300 {
		t.Errorf("%d events are open as guessed, want some of the 300 that are", len(guess))
	}
	if got, want := attributed(tr, 1), attributed(tr, never); !reflect.DeepEqual(got, want) {
		t.Error(difference(got, want))
	}
}

func randomTrace(rnd *rand.Rand) string {
	var events []string
	add := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	span := func() (ts, dur float64) {
		ts, dur = float64(rnd.IntN(400)), float64(rnd.IntN(60))
		switch rnd.IntN(4) {
		case 0:
			dur = float64(rnd.IntN(400)) // open at the cut
		case 1:
			dur += float64(rnd.IntN(3000)) / 1000 // not on the microsecond
		}
		return ts, dur
	}
	names := []string{"aten::mm", "aten::add", "autograd::engine::evaluate_function: MmBackward0", "ProfilerStep#1", "Optimizer.step#SGD.step", "zz"}
	functions := []string{"a.py(1): f", "a.py(2): g", "nn.Module: Linear_0", "nn.Module: MLP_1", "torch/nn/functional.py(3): h"}
	others := rnd.IntN(9)
	for i := range 20 + rnd.IntN(60) {
		ts, dur := span()
		thread := 1
		if rnd.IntN(8) < others {
			thread = 2 + rnd.IntN(4)/3
		}
		switch rnd.IntN(5) {
		case 0:
			add(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":%d,"ts":%v,"dur":%v,"args":{"External id":%d,"Sequence number":%d,"Fwd thread id":%d,"Input Dims":[[%d]]}}`,
				names[rnd.IntN(len(names))], thread, ts, dur, i+1, rnd.IntN(6), rnd.IntN(2), rnd.IntN(3))
		case 1:
			add(`{"ph":"X","cat":"python_function","name":%q,"pid":1,"tid":%d,"ts":%v,"dur":%v,"args":{"Python id":%d}}`, functions[rnd.IntN(len(functions))], thread, ts, dur, i)
		case 2:
			add(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":%d,"ts":%v,"dur":%v}`, names[rnd.IntN(len(names))], thread, ts, dur)
		case 3:
			add(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":%d,"ts":%v,"dur":%v,"args":{"correlation":%d}}`,
				[]string{"cudaLaunchKernel", "cudaDeviceSynchronize", "cudaMemcpyAsync", "cudaGraphLaunch"}[rnd.IntN(4)], thread, ts, dur, i+1)
			if rnd.IntN(3) > 0 {
				add(`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%v,"dur":%v,"args":{"correlation":%d,"device":0,"stream":7}}`,
					rnd.IntN(3), ts+float64(rnd.IntN(50)), rnd.IntN(20), i+1)
			}
		default:
			add(`{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":%d,"ts":%v,"s":"t","args":{"Addr":%d,"Bytes":%d,"Device Type":1,"Device Id":0,"Total Allocated":%d}}`,
				thread, ts, rnd.IntN(5), 64*(1+rnd.IntN(4)), 64*rnd.IntN(40))
		}
	}
	return `{"traceEvents":[` + strings.Join(events, ",\n") + `]}`
}
