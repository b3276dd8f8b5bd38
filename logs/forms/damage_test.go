package forms

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/logs"
)

// TestBlockWithoutSeparators: a form of several lines that states neither "split" nor
// "is" ends, and reads the pairs of its rows.
func TestBlockWithoutSeparators(t *testing.T) {
	own, err := Parse([]byte("forms:\n- id: own\n  anchor: [\"== results\"]\n  end: \"==\"\n  fields:\n    dt: step.time s\n"), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan *logs.Log)
	go func() {
		log, _ := Read(strings.NewReader("== results\nloss: 2.5\ndt: 3.5\n==\nother\n"), "x.log", Default().With(own), logs.Limits{})
		done <- log
	}()
	select {
	case log := <-done:
		if len(log.Series) != 2 || log.Series[0].Sum+log.Series[1].Sum != 2.5+3.5e9 {
			t.Errorf("series %+v, want loss 2.5 and dt 3.5 s", log.Series)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the reader does not end")
	}
}

// steps returns the lines of veRL of the steps from..to.
func steps(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "step:%d - actor/pg_loss:0.1 - timing_s/gen:10.25 - timing_s/step:25.75\n", i)
	}
	return b.String()
}

// TestDamagedLogs: a log that was cut, has a hole or lost lines has an issue, and no value
// of it is false. A log with a step of its own or with several starts is whole.
func TestDamagedLogs(t *testing.T) {
	whole := steps(1, 60)
	every := strings.ReplaceAll(steps(1, 60), "\n", "0 \n") // the last value of a line is longer
	for _, tt := range []struct {
		what, text, want string
		times            int64 // values of step.time
	}{
		{"whole", whole, "", 60},
		{"with other values", every, "", 60},
		{"cut in a number", whole[:len(whole)-3], "log-cut", 59},
		{"cut behind a point", whole[:len(whole)-4] + ".", "log-cut", 59},
		{"cut in a name", whole[:len(whole)-8], "", 59},
		{"with a hole", steps(1, 20) + strings.Repeat("\x00", 100) + "\n" + steps(21, 30), "log-hole", 30},
		{"without steps in the middle", steps(1, 30) + steps(41, 60), "log-steps-missing", 50},
		{"short", steps(1, 5) + steps(9, 12), "", 9},
		{"of two starts", steps(1, 30) + steps(10, 40), "log-restarted", 61},
	} {
		log := readText(t, Default(), tt.text)
		codes := ""
		for _, is := range log.Issues {
			codes += is.Code
		}
		if codes != tt.want {
			t.Errorf("a log %s has the issues %q, want %q", tt.what, codes, tt.want)
		}
		for _, s := range log.Series {
			if s.Metric.Name == "step.time" && (s.N != tt.times || s.Min < 25.75e9-1 || s.Max > 25.76e9) {
				t.Errorf("a log %s has %d times of steps from %g to %g, want %d of 25.75 s", tt.what, s.N, s.Min, s.Max, tt.times)
			}
		}
	}
}

// TestMalformedRows: rows of metrics.csv with cells that are missing or too many are left
// out, because their values would be those of other metrics.
func TestMalformedRows(t *testing.T) {
	log, err := ReadMetricsCSV(strings.NewReader("epoch,step,train_loss,lr\n0,1,1.5,2\n0,2,1.5\n0,3,0,4,1.5,2\n\n0,5,1.5,2\n"), "metrics.csv", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Issues) != 1 || log.Issues[0].Code != "log-row-malformed" || log.Issues[0].Count != 2 || log.Issues[0].First.Line != 3 {
		t.Errorf("issues %+v, want two malformed rows, the first in line 3", log.Issues)
	}
	for _, s := range log.Series {
		if s.Metric.Name == "train.loss" && (s.N != 2 || s.Min != 1.5 || s.Max != 1.5) {
			t.Errorf("%d losses from %g to %g, want 2 of 1.5", s.N, s.Min, s.Max)
		}
	}
}

// TestMatchOfBlocks: a form cannot have both a match of one line and an end.
func TestMatchOfBlocks(t *testing.T) {
	_, err := Parse([]byte("forms:\n- id: own\n  anchor: [\"step:\"]\n  match: 'step:(?P<x>[0-9]+)'\n  end: zz\n"), "own.yaml")
	if err == nil || !strings.Contains(err.Error(), "match and end") {
		t.Errorf("error %v, want one about match and end", err)
	}
}
