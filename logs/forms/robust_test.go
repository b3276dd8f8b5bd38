package forms

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/diag"
	"assay/logs"
)

// valuesOf returns the values of all series that a name is of, in the order of series.
func valuesOf(log *logs.Log, name string) (out []float64) {
	for _, s := range log.Series {
		if s.Metric.Name == name || s.As == name {
			out = append(out, s.Points.Value...)
		}
	}
	return out
}

const (
	decode  = "[2026-01-04 05:01:%02d DP%d TP0] Decode batch, #running-req: %d, #token: 9, token usage: 0.58, gen throughput (token/s): %d.5, #queue-req: 0, "
	verlRow = "step:%d - timing_s/gen:%d.5 - timing_s/step:20.0"
)

// TestRobust: logs as they are on disks. Each case has the values of one metric.
func TestRobust(t *testing.T) {
	one := fmt.Sprintf(decode, 1, 0, 3, 100)
	two := fmt.Sprintf(decode, 2, 0, 4, 200)
	for name, tc := range map[string]struct {
		text, metric string
		want         []float64
	}{
		// Trap: ANSI sequences inside a record.
		"colours within a record": {"\x1b[36m(A pid=7)\x1b[0m \x1b[1m" + strings.ReplaceAll(one, "#queue", "\x1b[31m#queue"), "requests.running", []float64{3}},
		// Trap: lone carriage returns, and CRLF.
		"CRLF":                    {one + "\r\n" + two + "\r\n", "requests.running", []float64{3, 4}},
		"a progress bar before":   {" 10%|#  | 1/9 [00:01<00:09]\r 20%|## | 2/9 [00:02]\r" + one + "\r 30%|###| 3/9 [00:03]\n" + two, "requests.running", []float64{3, 4}},
		"no end of the last line": {one + "\n" + two, "requests.running", []float64{3, 4}},
		"zeros of a crash":        {one + "\n" + strings.Repeat("\x00", 5000) + two + "\n", "requests.running", []float64{3, 4}},
		"no UTF-8":                {"\xff\xfe" + one + "\xff\n" + two + "\n", "requests.running", []float64{3, 4}},
		// Trap: glued records.
		"two records on one line":       {one + two + "\n", "requests.running", []float64{3, 4}},
		"a record behind other talk":    {"mew0:65704:65704 [1] NCCL INFO AllReduce: opCount 0 " + one + "\n", "requests.running", []float64{3}},
		"torn in the middle of a value": {one[:strings.Index(one, "throughput (token/s): 1")+len("throughput (token/s): 1")] + "\n" + two, "requests.running", []float64{3, 4}},
		"torn in a name":                {one[:40] + "\n" + two, "throughput.output_tokens", []float64{200.5}},
		"SLURM, pdsh and mpirun":        {"55: " + one + "\nnode-07-14: " + two + "\n[1,3]<stdout>:" + one, "requests.running", []float64{3, 4, 3}},
		// Trap: Ray's repeated suffix.
		"Ray merged lines":             {fmt.Sprintf(verlRow, 1, 7) + "\x1b[32m [repeated 3x across cluster]\x1b[0m\n", "timing_s/gen", []float64{7.5e9}},
		"Ray merged lines, last value": {fmt.Sprintf(verlRow, 1, 7) + " [repeated 3x across cluster]\n", "step.time", []float64{20e9}},
		// Trap: repeated lines.
		"a step that is printed twice":    {fmt.Sprintf(verlRow, 1, 7) + "\n" + fmt.Sprintf(verlRow, 2, 8) + "\n" + fmt.Sprintf(verlRow, 2, 9), "timing_s/gen", []float64{7.5e9, 9.5e9}},
		"a text that has the word step":   {"the answer of step:3 is step 1 - **1** - {x:1}\nglobal_step:5 - timing_s/gen:1.0\n" + fmt.Sprintf(verlRow, 1, 7), "timing_s/gen", []float64{7.5e9}},
		"units within the values":         {"Model Parameters: 0.3 B, Latency: 140ms, TFLOPs: 1.97, Samples/sec: 14.04, x\nModel Parameters: 0.3 B, Latency: 0.28s, TFLOPs: 1.97, Samples/sec: 14.04, x", "step.time", []float64{140e6, 280e6}},
		"a unit that is none of a metric": {"Model Parameters: 0.3 B, Latency: 14GB, TFLOPs: 1.97, Samples/sec: 14.04, x", "step.time", nil},
		// Trap: number forms (thousands), and the decimal comma.
		"thousands":                      {"[rank0]:[titan] step: 20  loss: 1.5  grad_norm: 1.0  memory: 1.00GiB(2.00%)  tps: 1,271,101  tflops: 4.0  mfu: 1.0%", "throughput.tokens_per_gpu", []float64{1271101}},
		"a decimal comma is not guessed": {"[rank0]:[titan] step: 20  loss: 1,5  grad_norm: 1.0  memory: 1.00GiB(2.00%)  tps: 71  tflops: 4.0  mfu: 1.0%", "train.loss", nil},
	} {
		log := readText(t, Default(), tc.text)
		if got := valuesOf(log, tc.metric); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %s is %v, want %v", name, tc.metric, got, tc.want)
		}
	}
}

// TestMissing: what is missing or not finite is counted, and is not zero.
func TestMissing(t *testing.T) {
	// Trap: missing is not zero.
	log := readText(t, Default(), strings.Join([]string{
		"step:1 - critic/kl:nan - timing_s/gen:5.0 - perf/throughput:None - timing_s/step:10.0",
		"step:2 - critic/kl:inf - timing_s/gen:6.0 - perf/throughput:340.0 - timing_s/step:11.0",
		"step:3 - critic/kl:-inf - timing_s/gen: - perf/throughput:N/A - timing_s/step:12.0",
	}, "\n"))
	for _, s := range log.Series {
		switch s.As {
		case "critic/kl":
			if s.N != 0 || s.NaN != 1 || s.Inf != 2 {
				t.Errorf("%+v", s)
			}
		case "perf/throughput":
			if s.N != 1 || s.Missing != 2 || s.Min != 340 {
				t.Errorf("%+v", s)
			}
		case "timing_s/gen":
			if s.N != 2 || s.Missing != 1 || s.Min != 5e9 {
				t.Errorf("%+v", s)
			}
		}
	}
}

// TestLabels: what several ranks and replicas print is separate.
func TestLabels(t *testing.T) {
	// Trap: stacked prefixes (labels of ranks and engines).
	log := readText(t, Default(), strings.Join([]string{
		fmt.Sprintf(decode, 1, 0, 3, 100), fmt.Sprintf(decode, 1, 1, 5, 300), fmt.Sprintf(decode, 2, 0, 4, 200),
		"(APIServer pid=11) INFO 01-12 13:08:20 [loggers.py:1] Engine 001: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 7.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%",
		"(APIServer pid=12) INFO 01-12 13:08:20 [loggers.py:1] Engine 001: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%",
		"[rank3]:[titan] step: 20  loss: 1.5  grad_norm: 1.0  memory: 1.00GiB(2.00%)  tps: 71  tflops: 4.0  mfu: 1.0%",
	}, "\n"))
	got := map[string][]float64{}
	for _, s := range log.Series {
		if s.Metric.Name == "throughput.output_tokens" || s.Metric.Name == "train.loss" {
			got[fmt.Sprint(s.Producer, s.Labels)] = s.Points.Value
		}
	}
	want := map[string][]float64{
		"SGLang[{dp 0} {phase decode} {tp 0}]": {100.5, 200.5}, "SGLang[{dp 1} {phase decode} {tp 0}]": {300.5},
		"vLLM[{engine 1} {replica 11}]": {7}, "vLLM[{engine 1} {replica 12}]": {9}, "torchtitan[{rank 3}]": {1.5},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v\nwant %v", got, want)
	}
}

// TestTimes: times have their date and zone where a log has them, and clocks may go back.
func TestTimes(t *testing.T) {
	// Trap: timestamps without year or zone, and the month of glog.
	at := func(text string) logs.Log { return *readText(t, Default(), text) }
	log := at(fmt.Sprintf(decode, 10, 0, 1, 1) + "\n" + fmt.Sprintf(decode, 50, 0, 1, 1) + "\n" + fmt.Sprintf(decode, 20, 0, 1, 1) + "\n")
	s := log.Series[0]
	if !log.Clock.Dated || log.Clock.Zoned || log.Clock.Start != 1767502870e9 || s.Points.Time[1]-s.Points.Time[0] != 40e9 { // date -ud '2026-01-04 05:01:10' +%s
		t.Errorf("%+v, %v", log.Clock, s.Points.Time)
	}
	if !slices.ContainsFunc(log.Issues, func(is diag.Issue) bool { return is.Code == "log-clock-back" && is.Count == 1 && is.First.Line == 3 }) {
		t.Errorf("%+v", log.Issues)
	}
	const line = "INFO %s metrics.py:345] Avg prompt throughput: 109.3 tokens/s, Avg generation throughput: 4.3 tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 0.1%%, CPU KV cache usage: 0.0%%.\n"
	log = at(fmt.Sprintf(line, "12-31 23:59:50") + fmt.Sprintf(line, "01-01 00:00:10"))
	if p := log.Series[0].Points; log.Clock.Dated || p.Time[1]-p.Time[0] != 20e9 || len(log.Issues) != 0 {
		t.Errorf("over the new year: %v, %+v", p.Time, log.Issues)
	}
	if log = at(fmt.Sprintf(line, "2026-01-04T05:01:10.250+01:00")); !log.Clock.Zoned || log.Clock.Start != 1767499270250e6 {
		t.Errorf("%+v", log.Clock)
	}
	if st, ok := findStamp([]byte("[rank0]:[E521 15:06:01.833606227 x.cpp:2057] ")); !ok || st.dated || st.ns != days(1970, 5, 21)*day+(15*3600+6*60+1)*second+833606227 {
		t.Errorf("glog: %+v, %v", st, ok)
	}
}

// TestRestarts: a trainer that goes on from a checkpoint repeats steps.
func TestRestarts(t *testing.T) {
	var b strings.Builder
	for _, step := range []int{1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 7} {
		fmt.Fprintf(&b, verlRow+"\n", step, step)
	}
	log := readText(t, Default(), b.String())
	s := log.Series[0]
	if s.N != 11 || s.Points.RunAt(5) != 0 || s.Points.RunAt(6) != 1 || s.Points.RunAt(10) != 1 || log.Issues[0].Code != "log-restarted" || log.Issues[0].First.Line != 7 {
		t.Errorf("%+v, %+v", s, log.Issues)
	}
	server := "server_args=ServerArgs(model_path='m')\n"
	log = readText(t, Default(), server+fmt.Sprintf(decode, 1, 0, 3, 100)+"\n"+server+fmt.Sprintf(decode, 2, 0, 4, 200)+"\n")
	if len(log.Issues) != 1 || log.Issues[0].Code != "log-restarted" || log.Issues[0].First.Line != 3 {
		t.Errorf("%+v", log.Issues)
	}
}

// TestFallback: lines at the end of timers count only where the dictionaries are missing.
func TestFallback(t *testing.T) {
	const line = "2026-08-21 18:03:20.554 | INFO | skyrl.train.trainer:train:361 - Finished: 'generate', time cost: 42.45s\n"
	const dict = "x | skyrl.train.utils.tracking:log:189 - Step 7: \n{'timing/generate': '42.4531',\n 'trainer/global_step': 7}\n"
	if got := valuesOf(readText(t, Default(), line), "timing/generate"); !slices.Equal(got, []float64{42.45e9}) {
		t.Errorf("%v", got)
	}
	log := readText(t, Default(), line+dict+line)
	if got := valuesOf(log, "timing/generate"); !slices.Equal(got, []float64{42453100000}) || log.Series[0].Points.Step[0] != 7 || log.Series[0].Producer != "SkyRL" {
		t.Errorf("%v of %+v", got, log.Series)
	}
	torn := dict[:strings.Index(dict, " 'trainer")]
	if got := valuesOf(readText(t, Default(), torn), "timing/generate"); !slices.Equal(got, []float64{42453100000}) {
		t.Errorf("a dictionary that is cut: %v", got)
	}
}

// TestNested: a timer within another says so.
func TestNested(t *testing.T) {
	// Trap: nested phases.
	log := readText(t, Default(), "x | skyrl_train.utils.tracking:log:1 - Step 7: \n{'timing/policy_train': '3.0',\n 'timing/train_critic_and_policy': '4.0',\n 'trainer/global_step': 7}\n")
	if s := log.Series[0]; s.As != "timing/policy_train" || s.Inside != "timing/train_critic_and_policy" || log.Series[1].Inside != "" {
		t.Errorf("%+v", log.Series)
	}
}

// A hose is an endless input.
type hose struct {
	head string
	fill []byte
	left int64
}

func (h *hose) Read(p []byte) (int, error) {
	if h.head != "" {
		n := copy(p, h.head)
		h.head = h.head[n:]
		return n, nil
	}
	if h.left <= 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), h.left)
	for i := range p[:n] {
		p[i] = h.fill[i%len(h.fill)]
	}
	h.left -= n
	return int(n), nil
}

// TestHostile: lines without an end, with endless columns, and of nothing but anchors are
// read in bounded memory and time.
func TestHostile(t *testing.T) {
	for name, in := range map[string]*hose{
		"a line without an end":  {"step:1 - timing_s/gen:5.0 - ", []byte("x"), 1 << 28},
		"endless columns":        {"step:1", []byte(" - a/b_17:5.0 - c/d:6.0"), 1 << 26},
		"anchors only":           {"", []byte("step:1 - Decode batch mfu: 'epoch': "), 1 << 24},
		"anchors and new lines":  {"", []byte("step:1\n - Decode batch\r, mfu: \n'epoch': \n"), 1 << 24},
		"bars only":              {"|", []byte(" [ 'epoch': "), 1 << 23},
		"an endless dictionary":  {"utils.tracking Step 1: ", []byte("'timing/x': '5.0',\n"), 1 << 24},
		"control characters":     {"", []byte("\x1b[31m\x1b]0;\x00\x07\x1b(Bstep:1 - a:1\x1b[\n"), 1 << 24},
		"escapes without an end": {"step:1 - a:1\x1b]", []byte("0"), 1 << 26},
	} {
		r := NewReader("hostile", Default(), logs.Limits{Memory: 8 << 20})
		buf := make([]byte, 100_000)
		for {
			n, err := in.Read(buf)
			r.Write(buf[:n])
			if cap(r.buf) > 8*maxLine {
				t.Fatalf("%s: the buffer has %d bytes", name, cap(r.buf))
			}
			if err != nil {
				break
			}
		}
		log := r.Close(true)
		if len(log.Series) > logs.MaxSeries {
			t.Errorf("%s: %d series", name, len(log.Series))
		}
	}
}

// TestManyColumns: of a table of a million columns as many are read as an input may have
// series, and many labels share a place.
func TestManyColumns(t *testing.T) {
	var b strings.Builder
	b.WriteString("step")
	for i := range 1_000_000 {
		fmt.Fprintf(&b, ",c%d", i)
	}
	text := b.String() + "\n" + strings.Repeat("1,", 200_000) + "1\n"
	log, err := ReadMetricsCSV(strings.NewReader(text), "m.csv", logs.Limits{})
	if err != nil || len(log.Series) == 0 || len(log.Series) > logs.MaxSeries {
		t.Errorf("%d series, %v", len(log.Series), err)
	}
	b.Reset()
	for i := range 30_000 {
		fmt.Fprintf(&b, "(A pid=%d) [2026-01-04 05:01:10] Decode batch, #running-req: 1, #queue-req: 0\n", i)
	}
	r := NewReader("many", Default(), logs.Limits{})
	io.WriteString(r, b.String())
	if len(r.places) > 3*maxPlaces {
		t.Errorf("%d places", len(r.places))
	}
	log = r.Close(true)
	if log.Records != 30_000 || !slices.ContainsFunc(log.Issues, func(is diag.Issue) bool { return is.Code == "series-left-out" }) {
		t.Errorf("%d records, %+v", log.Records, log.Issues)
	}
}

// TestGuess: lines of unknown logs are recognised, and the form that is shown reads them.
func TestGuess(t *testing.T) {
	text := ""
	for i := range 9 {
		text += fmt.Sprintf("it was a good day\nstep %3d  loss=0.%d  reward_mean=+0.%d  dt=%d.5s\n", i, i, i, i)
	}
	form := Guess([]byte(text))
	if !strings.Contains(form, "reward_mean=") || !strings.Contains(form, `"dt": "step.time s"`) || strings.Contains(form, "\n") {
		t.Fatalf("%q", form)
	}
	own, err := Parse([]byte(form), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	log := readText(t, Default().With(own), text)
	if got := valuesOf(log, "step.time"); len(got) != 9 || got[8] != 8.5e9 || log.Series[0].Points.Step[8] != 8 {
		t.Errorf("%v, %+v", got, log.Series)
	}
	for _, other := range []string{"", "a: b\nc: d\n", strings.Repeat("just words of a story\n", 100), strings.Repeat("chapter 5 of a story\n", 9), "x=1 y=2\n"} {
		if form := Guess([]byte(other)); form != "" {
			t.Errorf("%q: %s", other, form)
		}
	}
}

// TestGuessWorks: the form that is shown for a text reads all its values of the key, whatever
// its names have.
func TestGuessWorks(t *testing.T) {
	for _, tc := range []struct{ line, key string }{
		{"epoch: %d, train_loss: 0.25, lr: 1e-4, time: 2.5", "train_loss"},
		{"2026-01-01 10:00:00 INFO step:%d loss:0.25 lr:0.001 tok/s:1000", "tok/s"},
		{`{"iter": %d, "loss": 0.25, "tokens_per_second": 1000.5}`, "tokens_per_second"},
		{"[worker] #req: %d, [q]: 2, a-b/c%%: 7", "#req"},
		{"iteration %d: forward: 10 ms, backward: 20 ms, queue_size: 3", "queue_size"},
		{"Allocated: 1.25GB, Cached: 2.50GB of rank %d", "Cached"},
		{"it=%d \"quoted\"=3 dt=0.5s", "dt"},
		{"Step %d | loss 0.25 | lr 1e-4 | 120 tok/s", "train.loss"},
		{"epoch %d, step_time 1.5, throughput 80", "step.time"},
	} {
		text := ""
		for i := range 12 {
			text += fmt.Sprintf(tc.line, i) + "\n"
		}
		form := Guess([]byte(text))
		own, err := Parse([]byte(form), "own.yaml")
		if err != nil {
			t.Errorf("%s: %s: %v", tc.line, form, err)
			continue
		}
		n := 0
		for _, s := range readText(t, Default().With(own), text).Series {
			if s.As == tc.key || s.Metric.Name == tc.key {
				n += int(s.N)
			}
		}
		if n != 12 {
			t.Errorf("%s: %d values of %s by %s", tc.line, n, tc.key, form)
		}
	}
}

// TestNumberLabels: a label that is a number makes series of its own, in pairs as in groups.
func TestNumberLabels(t *testing.T) {
	text := "GPU 0: 1.0GB allocated, 2.0GB reserved, 85.0GB total\nGPU 1: 3.0GB allocated, 4.0GB reserved, 85.0GB total\n"
	own, err := Parse([]byte(`forms: [{id: my-log, anchor: ["worker="], fields: {worker: label worker, qps: throughput.requests request/s}}]`), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	log := readText(t, Default().With(own), text+"worker=3 qps=5\nworker=4 qps=6\n")
	got := map[string]float64{}
	for _, s := range log.Series {
		got[s.Metric.Name+" "+s.Label("gpu")+s.Label("worker")] = s.Sum
	}
	for place, want := range map[string]float64{"memory.allocated 0": 1e9, "memory.allocated 1": 3e9, "memory.reserved 1": 4e9, "throughput.requests 3": 5, "throughput.requests 4": 6} {
		if got[place] != want {
			t.Errorf("%s is %v, want %v", place, got[place], want)
		}
	}
}

// TestParseErrors: an error of a file of forms has its line.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "no forms",
		"rules: []":                        "the list forms",
		"forms: []":                        "at least one form",
		"forms:\n- id: A":                  "lower-case words",
		"forms:\n- id: a":                  "has no anchor",
		"forms:\n- id: a\n  anchor: [abc]": "4 to 64 bytes",
		"forms:\n- id: a\n  anchor: [abcd]\n  split: ','":                       "belong together",
		"forms:\n- id: a\n  anchor: [abcd]\n  match: '('":                       "missing closing",
		"forms:\n- id: a\n  anchor: [abcd]\n  fields: {x: step.time GB}":        "is measured in",
		"forms:\n- id: a\n  anchor: [abcd]\n  fields: {x: my.own apples}":       "unknown unit",
		"forms:\n- id: a\n  anchor: [abcd]\n  fields: {x: my.own s best}":       "better is",
		"forms:\n- id: a\n  anchor: [abcd]\n- id: a\n  anchor: [abcd]":          "is taken",
		"forms:\n- id: a\n  anchor: [abcd]\n  colour: red":                      "unknown field",
		"forms:\n- id: a\n  anchor: [" + strings.Repeat("abcd, ", 20) + "abcd]": "anchors",
	} {
		_, err := Parse([]byte(text), "f.yaml")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "f.yaml:") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestNumbers compares readings with what they stand for.
func TestNumbers(t *testing.T) {
	// Trap: number forms.
	nan := math.NaN()
	for text, want := range map[string]float64{
		"1": 1, "-0.00": 0, "+3.5": 3.5, "8.128902e+06": 8128902, "1E-3": 0.001, "71,634": 71634, "1,234,567.5": 1234567.5, "'5.0027'": 5.0027, `"12"`: 12,
		"np.float64(2.0)": 2, "np.int32(2)": 2, "tensor(0.5, device='cuda:0')": 0.5, "True": 1, "False": 0, "0.1%.": 0.1, "182}": 182, "92597.4/92600.0": 92597.4,
		"227.04GB/28.94GB/255.98GB/88.69%": 227.04, ".5": .5, "nan": nan, "Infinity": math.Inf(1), "-inf": math.Inf(-1), "123456789012345678901": 123456789012345678901, "0.12345678901234567": 0.12345678901234567,
	} {
		got := read([]byte(text))
		if got.kind != number || got.value != want && !(math.IsNaN(want) && math.IsNaN(got.value)) {
			t.Errorf("%s: %+v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "None", "N/A", "[N/A]", "-", "null", "''"} {
		if got := read([]byte(text)); got.kind != missing {
			t.Errorf("%q: %+v, want a missing value", text, got)
		}
	}
	for _, text := range []string{"abc", "1.2.3.4", "12 apples and more", "0+3", "x1", "[1, 2]", "1:2", "{}", "--1"} {
		if got := read([]byte(text)); got.kind == number && len(got.unit) == 0 {
			t.Errorf("%q: %+v, want no number", text, got)
		}
	}
}

// FuzzRead: whatever the text, reading ends, statistics fit the points, and the parts in
// which the text comes do not matter.
func FuzzRead(f *testing.F) {
	for _, text := range BuiltIn() {
		entries, _, err := entriesOf([]byte(text))
		if err != nil {
			f.Fatal(err)
		}
		for _, e := range entries {
			for _, s := range e.Samples {
				f.Add([]byte(s.Text), uint8(3))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, part uint8) {
		whole := NewReader("fuzz", Default(), logs.Limits{})
		whole.Write(text)
		a := whole.Close(true)
		pieces := NewReader("fuzz", Default(), logs.Limits{})
		for chunk := range slices.Chunk(text, int(part)+1) {
			pieces.Write(chunk)
		}
		b := pieces.Close(true)
		if x, y := fmt.Sprintf("%+v", a), fmt.Sprintf("%+v", b); x != y {
			t.Fatalf("parts of %d bytes:\n%s\nwhole:\n%s", int(part)+1, y, x)
		}
		if lines := int64(bytes.Count(text, []byte("\n"))); a.Lines < lines || a.Lines > lines+1 {
			t.Fatalf("%d lines, want %d", a.Lines, lines)
		}
		for _, s := range a.Series {
			p := s.Points
			if int64(p.Len()) != s.N || p.Step != nil && len(p.Step) != p.Len() || p.Time != nil && len(p.Time) != p.Len() || p.Run != nil && len(p.Run) != p.Len() {
				t.Fatalf("%+v", s)
			}
			if s.N > 0 && (s.Min != slices.Min(p.Value) || s.Max != slices.Max(p.Value)) {
				t.Fatalf("%+v", s)
			}
		}
		Guess(text)
		ReadTrainerState(bytes.NewReader(text), "fuzz", logs.Limits{})
		ReadMetricsCSV(bytes.NewReader(text), "fuzz", logs.Limits{})
	})
}

// TestLeapYear: the days of a log that does not write its year follow each other, with a 29 February
// only if there is one. The truth is the calendar of package time.
func TestLeapYear(t *testing.T) {
	for _, year := range []int{2024, 2025} {
		var text strings.Builder
		from := time.Date(year, 2, 26, 12, 0, 0, 0, time.UTC)
		for i := range 12 {
			fmt.Fprintf(&text, "INFO %s [loggers.py:122] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 7.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%%, Prefix cache hit rate: 0.0%%\n", from.Add(time.Duration(i)*12*time.Hour).Format("01-02 15:04:05"))
		}
		log, err := Read(strings.NewReader(text.String()), "vllm.log", Default(), logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if log.Clock.Leap != (year == 2024) || len(log.Issues) > 0 {
			t.Errorf("%d: %+v, %v", year, log.Clock, log.Issues)
		}
		times := log.Series[0].Points.Time
		for i := 1; i < len(times); i++ {
			if times[i]-times[i-1] != int64(12*time.Hour) {
				t.Errorf("%d: line %d is %v after the one before", year, i+1, time.Duration(times[i]-times[i-1]))
			}
		}
	}
}
