package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
)

// BenchmarkNsysSQLite times the whole of "assay summary" on an export of five
// million kernels, as a process of its own, with and without the calls that
// launched them. Only processor time tells on a machine that has other work.
func BenchmarkNsysSQLite(b *testing.B) {
	const kernels = 5_000_000
	dir := b.TempDir()
	bin := filepath.Join(dir, "assay")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, p := range []struct {
		name string
		plan nsysgen.Plan
	}{
		{"kernels", nsysgen.Plan{Kernels: kernels}},
		{"calls", nsysgen.Plan{Kernels: kernels, Calls: true, Ranges: 1000}},
	} {
		path := filepath.Join(dir, p.name+".sqlite")
		if err := nsysgen.Write(path, p.plan); err != nil {
			b.Fatal(err)
		}
		b.Run(p.name, func(b *testing.B) {
			var cpu time.Duration
			var rss int64
			for b.Loop() {
				cmd := exec.Command(bin, "summary", path)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				rss = max(rss, maxRSS(cmd.ProcessState))
			}
			b.ReportMetric(kernels*float64(b.N)/cpu.Seconds(), "kernels/cpu-s")
			b.ReportMetric(float64(rss)/kernels, "B/kernel")
		})
	}
}

// BenchmarkReport times "assay report" with page and pictures on the five largest traces of
// the corpus, as processes that alternate with "assay summary" of the same traces. It prints
// what the files take beyond the summary, as medians, and the ratio of processor times.
func BenchmarkReport(b *testing.B) {
	bin := filepath.Join(b.TempDir(), "assay")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	for _, path := range largestTraces(b, 5) {
		b.Run(filepath.Base(path), func(b *testing.B) {
			dir := b.TempDir()
			var wall, cpu [2][]time.Duration
			for b.Loop() {
				for i, args := range [][]string{{"summary", path}, {"report", path, "-o", dir}} {
					cmd := exec.Command(bin, args...)
					start := time.Now()
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%v: %s", err, out)
					}
					wall[i] = append(wall[i], time.Since(start))
					cpu[i] = append(cpu[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
				}
			}
			b.ReportMetric((middle(wall[1]) - middle(wall[0])).Seconds(), "beyond-s")
			b.ReportMetric((middle(cpu[1]) - middle(cpu[0])).Seconds(), "beyond-cpu-s")
			b.ReportMetric(middle(cpu[1]).Seconds()/middle(cpu[0]).Seconds(), "cpu-ratio")
		})
	}
}

// BenchmarkUsual runs the commands that most users wait for, in this process. "make pgo"
// records its profile for the compiler, so it reads real traces too where there are any.
func BenchmarkUsual(b *testing.B) {
	dir := b.TempDir()
	generated := filepath.Join(dir, "big.json")
	f, err := os.Create(generated)
	if err != nil {
		b.Fatal(err)
	}
	if _, err := tracegen.Generate(f, tracegen.Big(60e6), 0); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	export := filepath.Join(dir, "export.sqlite")
	if err := nsysgen.Write(export, nsysgen.Plan{Kernels: 200_000, Calls: true, Ranges: 1000}); err != nil {
		b.Fatal(err)
	}
	paths := []string{generated, export}
	if _, ok := test.FindCorpus(b, "kineto"); ok {
		paths = append(paths, largestTraces(b, 5)...)
	}
	for b.Loop() {
		for _, path := range paths {
			for range 8 {
				runQuietly(b, "summary", path)
			}
			runQuietly(b, "summary", "--format", "json", path)
			runQuietly(b, "report", path, "-o", filepath.Join(dir, "report"))
		}
	}
}

// runQuietly runs a command without its output.
func runQuietly(b *testing.B, args ...string) {
	if code := run(env{strings.NewReader(""), io.Discard, io.Discard}, args); code != exitOK {
		b.Fatalf("%q: exit status %d", args, code)
	}
}

// middle returns the median; of an even number, the upper of the two.
func middle(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2]
}

// largestTraces returns the paths of the largest traces of the corpus.
func largestTraces(b *testing.B, count int) (paths []string) {
	size := map[string]int64{}
	err := filepath.Walk(test.Corpus(b, "kineto"), func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".json.gz") {
			size[path] = info.Size()
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	slices.SortFunc(paths, func(a, b string) int { return int(size[b] - size[a]) })
	return paths[:min(count, len(paths))]
}
