package main

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"assay/internal/gen/nsysgen"
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
