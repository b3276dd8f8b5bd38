package forms

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/logs"
)

const benchBytes = 64 << 20

// plainText returns lines of a log that have no value of a metric.
func plainText() []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < benchBytes; i++ {
		fmt.Fprintf(&b, "2026-01-02 03:04:%02d,%03d INFO worker %d: loaded shard %d of the data set from /data/part-%05d.parquet in the background\n", i%60, i%1000, i%8, i, i)
		fmt.Fprintf(&b, "[rank%d]:  step timing of the model: answer **%d** is {correct}, see \\boxed{%d} for the reasoning about the batch of prompts\n", i%8, i, i)
	}
	return b.Bytes()
}

// metricText returns lines of which each has values.
func metricText(t testing.TB, line string) []byte {
	one := []byte(line + "\n")
	return bytes.Repeat(one, benchBytes/len(one))
}

func benchRead(b *testing.B, text []byte, records int64) {
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		log, err := Read(bytes.NewReader(text), "bench.log", Default(), logs.Limits{})
		if err != nil || log.Records < records {
			b.Fatalf("%d records, want %d or more; %v", log.Records, records, err)
		}
	}
}

// BenchmarkPlain reads lines without values: the search for the literals of all forms.
func BenchmarkPlain(b *testing.B) { benchRead(b, plainText(), 0) }

func BenchmarkSGLang(b *testing.B) {
	text := metricText(b, "[2026-01-04 05:01:02 DP1 TP0 EP0] Decode batch, #running-req: 96, #token: 100608, token usage: 0.58, accept len: 2.66, accept rate: 0.66, cuda graph: True, gen throughput (token/s): 1952.75, #queue-req: 0, ")
	benchRead(b, text, int64(bytes.Count(text, []byte("\n"))))
}

func BenchmarkVLLM(b *testing.B) {
	text := metricText(b, "(APIServer pid=895285) INFO 05-18 22:45:42 [loggers.py:259] Engine 000: Avg prompt throughput: 2445.9 tokens/s, Avg generation throughput: 2.7 tokens/s, Running: 6 reqs, Waiting: 2 reqs, GPU KV cache usage: 1.4%, Prefix cache hit rate: 1.1%")
	benchRead(b, text, int64(bytes.Count(text, []byte("\n"))))
}

func BenchmarkTorchtitan(b *testing.B) {
	text := metricText(b, "[rank0]:[titan] 2026-04-18 21:13:43,600 - root - INFO - \x1b[31mstep: 20  \x1b[32mloss: 10.66875  \x1b[38;2;180;60;0mgrad_norm:  4.2336  \x1b[38;2;54;234;195mmemory: 29.11GiB(92.83%)  \x1b[34mtps: 71,101  \x1b[36mtflops: 48.32  \x1b[35mmfu: 15.49%\x1b[39m")
	benchRead(b, text, int64(bytes.Count(text, []byte("\n"))))
}

// BenchmarkVeRL has the lines of a real log without what is between them.
func BenchmarkVeRL(b *testing.B) {
	files := test.Files(b, filepath.Join(test.Corpus(b, "series"), "verl", "*", "Qwen*.log"))
	text, err := os.ReadFile(files[0])
	if err != nil {
		b.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, "step:") {
			lines = append(lines, line)
		}
	}
	all := []byte(strings.Repeat(strings.Join(lines, ""), benchBytes/len(text)))
	benchRead(b, all, int64(bytes.Count(all, []byte("\n")))*9/10)
}

// BenchmarkGrep is "grep -c" for the literals of the forms of three programs, for
// comparison.
func BenchmarkGrep(b *testing.B) {
	path := filepath.Join(b.TempDir(), "plain.log")
	text := plainText()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		exec.Command("grep", "-c", "-F", "-e", "Decode batch", "-e", "Avg prompt throughput: ", "-e", "step:", path).Run()
	}
}

// BenchmarkPython is a loop over the lines with an expression for the same three programs, as
// a script has it.
func BenchmarkPython(b *testing.B) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("no Python")
	}
	path := filepath.Join(b.TempDir(), "plain.log")
	text := plainText()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		b.Fatal(err)
	}
	const script = `
import re, sys
match = re.compile(r"Decode batch|Avg prompt throughput: ([\d.]+)|step:(\d+) - ").search
print(sum(1 for line in open(sys.argv[1]) if match(line)))
`
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := exec.Command(python, "-c", script, path).Run(); err != nil {
			b.Fatal(err)
		}
	}
}
