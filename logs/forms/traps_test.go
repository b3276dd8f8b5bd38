package forms

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A comment "Trap: NAME" marks the test of a property of real logs that is easily read
// wrongly. "grep -rn 'Trap:'" lists them all.

const titanRow = "step: 20  loss: %s  grad_norm: 1.0  memory: 1.00GiB(2.00%%)  tps: %s  tflops: 4.0  mfu: 1.0%%"

// TestPrefixes: prefixes of launchers, of Ray and of loggers precede a record, also
// several of them, and the record is read with the labels that they have.
func TestPrefixes(t *testing.T) {
	const vllm = "INFO 06-11 04:30:%s [loggers.py:122] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: %s.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%%\n"
	for name, tc := range map[string]struct {
		text, metric string
		want         []string // labels and value of each series
	}{
		// Trap: stacked prefixes (Ray around vLLM; the outer process is the replica).
		"Ray around vLLM": {
			"\x1b[36m(A pid=41)\x1b[0m \x1b[1;36m(EngineCore_DP0 pid=6105)\x1b[0;0m " + fmt.Sprintf(vllm, "29", "7") + "\x1b[36m(A pid=588923, ip=10.228.0.122)\x1b[0m \x1b[1;36m(EngineCore_DP0 pid=6105)\x1b[0;0m " + fmt.Sprintf(vllm, "30", "9"),
			"throughput.output_tokens", []string{"[{engine 0} {replica 41}] [7]", "[{engine 0} {replica 588923@10.228.0.122}] [9]"}},
		// Trap: stacked prefixes (pdsh, then the rank, then the logger with its date).
		"pdsh, torchrun and a logger": {
			"vm-07-14: [rank0]:[titan] 2025-01-02 03:04:05,678 - root - INFO - \x1b[31m" + fmt.Sprintf(titanRow, "1.5", "71,634") + "\n",
			"throughput.tokens_per_gpu", []string{"[{rank 0}] [71634]"}},
		// Trap: stacked prefixes (Monarch).
		"Monarch": {"[actor=<root>] [rank3]:[titan] " + fmt.Sprintf(titanRow, "2.5", "9") + "\n", "train.loss", []string{"[{rank 3}] [2.5]"}},
		// Trap: stacked prefixes (SLURM task, then Primus).
		"SLURM and Primus": {
			"7: [20251114 14:04:46][rank-15/16][INFO ] [--------trainer.py:2382] :  iteration        2/      50 | consumed samples:            8 | elapsed time per iteration (ms): 92597.4/92600.0 | lm loss: 1.5E+00 |\n",
			"step.time", []string{"[{rank 15}] [9.25974e+10]"}},
	} {
		log := readText(t, Default(), tc.text)
		var got []string
		for _, s := range log.Series {
			if s.Metric.Name == tc.metric {
				got = append(got, fmt.Sprint(s.Labels, " ", s.Points.Value))
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestRayNote: the first line that Ray merges has an explanation behind the note.
func TestRayNote(t *testing.T) {
	// Trap: Ray's repeated suffix (the long form; the last value of the line is before it).
	const note = " [repeated 7x across cluster] (Ray deduplicates logs by default. Set RAY_DEDUP_LOGS=0 to disable log deduplication, or see the documentation for more options.)"
	for _, end := range []string{note, "\x1b[32m" + note + "\x1b[0m", note + "\r"} {
		log := readText(t, Default(), fmt.Sprintf(verlRow, 1, 7)+end+"\n"+fmt.Sprintf(verlRow, 2, 8)+"\n")
		if got := valuesOf(log, "step.time"); !slices.Equal(got, []float64{20e9, 20e9}) || len(log.Issues) != 1 || log.Issues[0].Code != "log-lines-merged" || log.Issues[0].Count != 1 {
			t.Errorf("%q: %v, %+v", end, got, log.Issues)
		}
	}
}

// TestGluedKinds: two records of two programs on one line are both read.
func TestGluedKinds(t *testing.T) {
	// Trap: glued records (of two kinds; a writer was interrupted before its line feed).
	log := readText(t, Default(), "[rank0]:[titan] "+fmt.Sprintf(titanRow, "1.5", "71")+fmt.Sprintf(decode, 1, 0, 3, 100)+"\n")
	for name, want := range map[string]float64{"train.loss": 1.5, "requests.running": 3, "throughput.output_tokens": 100.5} {
		if got := valuesOf(log, name); !slices.Equal(got, []float64{want}) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if len(log.Producers) != 2 {
		t.Errorf("producers are %v", log.Producers)
	}
}

// TestKindsInTurn: lines of a trainer and of a server take turns in one log.
func TestKindsInTurn(t *testing.T) {
	// Trap: several kinds in one file.
	var b strings.Builder
	for i := range 3 {
		fmt.Fprintf(&b, verlRow+"\nNamespace(model='m', step=%d)\n"+decode+"\n", i+1, 10+i, i, i, 0, 4+i, 200)
	}
	log := readText(t, Default(), b.String())
	if got := valuesOf(log, "timing_s/gen"); !slices.Equal(got, []float64{10.5e9, 11.5e9, 12.5e9}) {
		t.Errorf("times are %v", got)
	}
	if got := valuesOf(log, "requests.running"); !slices.Equal(got, []float64{4, 5, 6}) {
		t.Errorf("requests are %v", got)
	}
}

// TestCommas: a comma groups digits by three, behind one to three digits that do not begin
// with 0. Any other comma may be that of a decimal fraction, and the value is not read.
func TestCommas(t *testing.T) {
	for text, want := range map[string]float64{"71,634": 71634, "999,999,999": 999999999, "1,000.25": 1000.25} {
		if got := read([]byte(text)); got.kind != number || len(got.unit) > 0 || got.value != want {
			t.Errorf("%s: %+v, want %v", text, got, want)
		}
	}
	// Trap: decimal comma (0,123 is no 123, and 1234,567 is no 1234567).
	for _, text := range []string{"0,123", "-0,500", "00,123", "1234,567", "1,06", "1,0625", "1,234,56"} {
		if got := read([]byte(text)); got.kind == number && len(got.unit) == 0 {
			t.Errorf("%s is read as %v", text, got.value)
		}
		if got := valuesOf(readText(t, Default(), "[rank0]:[titan] "+fmt.Sprintf(titanRow, text, "71")), "train.loss"); got != nil {
			t.Errorf("a loss of %s is read as %v", text, got)
		}
	}
}

// TestGlog: the month of glog has one digit or two, the day always two.
func TestGlog(t *testing.T) {
	for text, want := range map[string][2]int{
		// Trap: glog month not padded.
		"E521 ": {5, 21}, "E810 ": {8, 10}, "W906 ": {9, 6}, "I101 ": {1, 1}, "E1125 ": {11, 25}, "F1001 ": {10, 1}, "E0112 ": {1, 12},
	} {
		st, ok := findStamp([]byte("[rank1]:[" + text + "15:06:01.5 x.cpp:7]"))
		if at := days(1970, want[0], want[1])*day + (15*3600+6*60+1)*second + second/2; !ok || st.dated || st.zoned || st.ns != at || st.month != want[0] {
			t.Errorf("%s: %+v, %v, want %d", text, st, ok, at)
		}
	}
	for _, text := range []string{"E1325 ", "E1100 ", "E21 ", "X521 "} {
		if st, ok := findStamp([]byte("[" + text + "15:06:01.5 x.cpp:7]")); ok {
			t.Errorf("%s is read as %+v", text, st)
		}
	}
}

// TestTablesWithoutEmptyLines: the tables of steps of NeMo RL follow each other without empty lines. Each is of its own step.
func TestTablesWithoutEmptyLines(t *testing.T) {
	text := ""
	for n := 1; n <= 4; n++ {
		text += fmt.Sprintf("========================= Step %d/50 =========================\n⏱️  Timing:\n  • Total step time: %d.00s\n  • generation: %d.00s (50.0%%)\n", n, 10*n, 5*n)
	}
	log := readText(t, Default(), text)
	found := 0
	for _, s := range log.Series {
		want := map[string]float64{"step.time": 10e9, "step.phase": 5e9}[s.Metric.Name]
		for k, v := range s.Points.Value {
			if step := s.Points.StepAt(k); want > 0 && v != want*float64(step) {
				t.Errorf("%s of step %d: %v", s.Metric.Name, step, v)
			} else if want > 0 {
				found++
			}
		}
	}
	if found != 8 {
		t.Errorf("%d values, want 8", found)
	}
}
