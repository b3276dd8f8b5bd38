package forms

import (
	"fmt"
	"strings"
	"testing"
)

// barText returns updates of a bar as tqdm writes them, from one count to another, each step taking so many seconds.
func barText(desc string, from, to, total int, seconds float64, start float64) string {
	var b strings.Builder
	clock := func(s float64) string { return fmt.Sprintf("%02d:%02d", int(s)/60, int(s)%60) }
	for n := from; n <= to; n++ {
		at := start + float64(n-from)*seconds
		fmt.Fprintf(&b, "\r%s%3d%%|%-10s| %d/%d [%s<%s,  %.2fs/it]", desc, 100*n/total, strings.Repeat("█", 10*n/total), n, total,
			clock(at), clock(float64(total-n)*seconds), seconds)
	}
	return b.String()
}

// nested returns a bar of epochs, with a bar in each of them.
func nested(epochs int, desc string, steps int, seconds float64) (text string) {
	for n := range epochs {
		one := float64(steps) * seconds
		text += barText("Epochs: ", n, n, epochs, one, float64(n)*one) + "\n" + barText(desc, 0, steps, steps, seconds, 0)
	}
	return text + barText("Epochs: ", epochs, epochs, epochs, 0, float64(epochs*steps)*seconds)
}

// TestBars: the bar of training gives the steps and their times; bars of evaluation, data, loading and generation do not.
// The evaluation of 40 s after step 200 is part of the record that covers it.
func TestBars(t *testing.T) {
	loss := func(n int) string { return fmt.Sprintf("\r{'loss': 0.5, 'epoch': %.2f}\n", float64(n)/100) }
	train := barText("", 0, 200, 400, 2, 0) + loss(200) + barText("", 0, 40, 40, 1, 0) + barText("", 200, 400, 400, 2, 440) + loss(400)
	others := barText("Map: ", 0, 900, 900, 1, 0) + "\n" + barText("Loading checkpoint shards: ", 0, 8, 8, 30, 0) + "\n" +
		barText("Generating: ", 0, 300, 300, 4, 0) + "\n" + barText("eval: ", 0, 500, 500, 3, 0) + "\n"
	for _, tc := range []struct {
		name, text string
		steps      int64   // that records cover
		seconds    float64 // of all
	}{
		{"training with evaluation and other bars", others + train, 400, 840},
		{"a bar with a text", barText("Training: ", 0, 100, 100, 6, 0), 100, 600},
		{"epochs", barText("Epoch 1: ", 0, 50, 50, 6, 0) + barText("Epoch 2: ", 0, 50, 50, 6, 0), 100, 600},
		{"a start that goes on after 60 of 100", barText("Training: ", 60, 100, 100, 6, 0), 40, 240},
		{"other bars only", others, 0, 0},
		{"nothing but a bar without a text", barText("", 0, 100, 100, 6, 0), 100, 600},
		{"nothing but two bars without a text", barText("", 0, 100, 100, 6, 0) + barText("", 0, 90, 90, 6, 0), 0, 0},
		{"a bar without a text, in a log of another program", "INFO 11-02 10:00:00 [loggers.py:259] Engine 000: Avg prompt throughput: 10.0 tokens/s, Avg generation throughput: 5.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 1.0%\n" + barText("", 0, 100, 100, 6, 0), 0, 0},
		{"bars in a bar of epochs", nested(3, "Steps: ", 60, 2), 180, 360},
		{"bars in a bar of epochs, without texts", nested(3, "", 60, 2), 180, 360},
		{"bars of validation in one of epochs", nested(3, "Validation: ", 60, 2), 3, 360},
		{"another unit", strings.ReplaceAll(barText("Training: ", 0, 100, 100, 6, 0), "s/it", "s/batch"), 100, 600},
		{"a start that goes back is no epoch", barText("Training: ", 0, 40, 100, 6, 0) + barText("Training: ", 0, 100, 100, 6, 0), 140, 840},
		{"two bars of a trainer that ran for as long", "\r{'loss': 0.5, 'epoch': 0.1}\n" + barText("", 0, 100, 100, 6, 0) + barText("", 0, 90, 90, 6, 0), 0, 0},
		{"a text about a bar", "a bar reads 37%| 370/1000 [12:03<20:31, 1.95s/it]\n", 0, 0},
	} {
		log := readText(t, Default(), tc.text+"\n")
		steps, seconds := int64(0), 0.0
		for _, s := range log.Series {
			if s.Metric.Name != "step.time" {
				continue
			}
			last := map[int32]int64{}
			for k, v := range s.Points.Value {
				from, again := last[s.Points.RunAt(k)]
				if !again && strings.Contains(tc.name, "60 of 100") {
					from = 60
				}
				n := s.Points.StepAt(k) - from
				steps, seconds, last[s.Points.RunAt(k)] = steps+n, seconds+v/1e9*float64(n), s.Points.StepAt(k)
			}
		}
		if steps != tc.steps || seconds < tc.seconds-2 || seconds > tc.seconds+2 {
			t.Errorf("%s: %d steps, %.1f s, want %d and %.0f s", tc.name, steps, seconds, tc.steps, tc.seconds)
		}
	}
}
