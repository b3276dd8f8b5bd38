package comm

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"assay/internal/diag"
	"assay/logs"
)

// SniffResults reports whether head begins results of nccl-tests in JSON (option -J).
func SniffResults(head []byte) bool {
	s := string(head[:min(len(head), 64<<10)])
	return strings.HasPrefix(strings.TrimSpace(s), "{") && strings.Contains(s, `"nccl_version"`) &&
		(strings.Contains(s, `"alg_bw"`) || strings.Contains(s, `"minbytes"`))
}

// results are the members of the JSON of nccl-tests that are read.
type results struct {
	Args    []string
	Devices []struct{ Hostname string }
	Results []struct {
		Size, Count int64
		Type, Redop string
		Root        any                 `json:"root"` // a number, or a text with one
		Out         map[string]*float64 `json:"out_of_place"`
		In          map[string]*float64 `json:"in_place"`
		Name        string              `json:"experiment_name"`
	}
	Average struct{ Bandwidth *float64 } `json:"average_bus_bandwidth"`
}

// resultNames are the names of the columns of the table in JSON.
var resultNames = []struct{ name, column string }{{"time", "time"}, {"alg_bw", "algbw"}, {"bus_bw", "busbw"}}

// ReadResults reads results of nccl-tests in JSON.
func ReadResults(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxDump+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxDump {
		return nil, fmt.Errorf("%s: the results have more than %d MiB", name, maxDump>>20)
	}
	var doc results
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("%s: results of nccl-tests: %w", name, err)
	}
	f := NewFinder(name, limits)
	f.at = diag.Pos{File: name}
	f.table.ranks, f.table.nodes = len(doc.Devices), map[string]bool{}
	for _, d := range doc.Devices {
		f.table.nodes[d.Hostname] = true
	}
	if len(doc.Args) > 0 {
		f.table.name = filepath.Base(doc.Args[0])
	}
	for _, row := range doc.Results {
		b := f.result()
		setting := func(name, value string) {
			if value = strings.TrimSpace(value); value != "" && value != "none" && value != "-1" {
				b.Settings = append(b.Settings, logs.Label{Name: name, Value: value})
			}
		}
		if f.table.name == "" {
			setting("test", row.Name)
		}
		setting("bytes", strconv.FormatInt(row.Size, 10))
		setting("count", strconv.FormatInt(row.Count, 10))
		setting("type", row.Type)
		setting("redop", row.Redop)
		if row.Root != nil {
			setting("root", fmt.Sprint(row.Root))
		}
		addPlace(&b, "out-of-place", row.Out)
		addPlace(&b, "in-place", row.In)
		if len(b.Metrics) > 0 {
			f.b.Record(testsName, false)
			f.b.Benchmark(b, f.at)
		}
	}
	if v := doc.Average.Bandwidth; v != nil && len(doc.Results) > 0 {
		b := f.result()
		m, _ := logs.MetricOf("comm.busbw")
		b.Title, b.Metrics = "average of all sizes", []logs.Figure{{Metric: m, Stat: "mean", As: "average_bus_bandwidth", Value: *v * 1e9}}
		f.b.Benchmark(b, f.at)
	}
	return f.Log(), nil
}

// addPlace adds the numbers of the operation in one place.
func addPlace(b *logs.Benchmark, place string, values map[string]*float64) {
	for _, n := range resultNames {
		if v := values[n.name]; v != nil && !math.IsInf(*v, 0) {
			of := figures[n.column]
			m, _ := logs.MetricOf(of.metric)
			b.Metrics = append(b.Metrics, logs.Figure{Metric: m, Stat: place, As: n.name, Value: *v * of.factor})
		}
	}
	if v := values["nwrong"]; v != nil && *v > 0 {
		b.Settings = append(b.Settings, logs.Label{Name: "wrong " + place, Value: strconv.FormatFloat(*v, 'f', -1, 64)})
	}
}
