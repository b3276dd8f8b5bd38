package comm

import (
	"fmt"
	"strings"
	"testing"

	"assay/logs"
)

// TestResults: times in JSON are in µs, bandwidths in GB/s; what is null is left out.
func TestResults(t *testing.T) {
	const text = `{"version": 2, "args": ["/opt/bin/broadcast_perf"], "nccl_version": 22800, "config": {"minbytes": 8},
"devices": [{"rank": 0, "hostname": "a"}, {"rank": 1, "hostname": "a"}, {"rank": 2, "hostname": "b"}],
"results": [{"size": 4096, "count": 2048, "type": "half", "redop": "none", "root": 2, "out_of_place": {"time": 8.5, "alg_bw": 0.5, "bus_bw": 0.5, "nwrong": 3}, "in_place": {"time": null, "alg_bw": null, "bus_bw": null, "nwrong": null}}],
"average_bus_bandwidth": {"bandwidth": 0.25}}`
	if !SniffResults([]byte(text)) {
		t.Fatal("not recognized")
	}
	log, err := ReadResults(strings.NewReader(text), "r.json", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range log.Benchmarks {
		line := b.Title
		for _, l := range b.Settings {
			line += " " + l.Name + "=" + l.Value
		}
		for _, m := range b.Metrics {
			line += fmt.Sprintf(" %s/%s=%g", m.Metric.Name, m.Stat, m.Value)
		}
		got = append(got, line)
	}
	want := []string{
		" test=broadcast_perf ranks=3 nodes=2 bytes=4096 count=2048 type=half root=2 wrong out-of-place=3 comm.time/out-of-place=8500 comm.algbw/out-of-place=5e+08 comm.busbw/out-of-place=5e+08",
		"average of all sizes test=broadcast_perf ranks=3 nodes=2 comm.busbw/mean=2.5e+08",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	for _, other := range []string{`{"nccl_version": 22800, "pg_config": {}}`, `{"traceEvents": [], "alg_bw": 3}`, `[1]`} {
		if SniffResults([]byte(other)) {
			t.Errorf("%s is taken for results", other)
		}
	}
	if _, err := ReadResults(strings.NewReader(text[:200]), "r.json", logs.Limits{}); err == nil {
		t.Error("half a file is read without an error")
	}
}
