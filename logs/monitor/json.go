package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/logs"
)

// maxJSON is the largest output of rocm-smi or of iostat in JSON that is read.
const maxJSON = 32 << 20

var (
	reCard = lazyregexp.New(`^\s*\{\s*"(?:card|gpu)\d+"\s*:\s*\{`)
)

// SniffJSON reports whether head begins the output of rocm-smi --json, amd-smi --json, or
// iostat -o JSON.
func SniffJSON(head []byte) bool {
	return isCard(head) || isStat(head) || isAMD(head)
}

func isCard(head []byte) bool {
	first := bytes.TrimLeft(head, "\t\n\f\r {")
	return (bytes.HasPrefix(first, []byte(`"card`)) || bytes.HasPrefix(first, []byte(`"gpu`))) && reCard().Match(head)
}

func isStat(head []byte) bool {
	s := string(head[:min(len(head), 512)])
	return strings.HasPrefix(strings.TrimSpace(s), `{"sysstat"`) && strings.Contains(s, `"hosts"`)
}

// ReadJSON reads the output of rocm-smi --json, amd-smi --json or iostat -o JSON. Several
// outputs may follow each other, because programs run a monitor in a loop.
func ReadJSON(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	f := NewFinder(name, limits)
	dec := json.NewDecoder(io.LimitReader(r, maxJSON))
	complete := true
	for {
		var raw json.RawMessage
		err := dec.Decode(&raw)
		if err == io.EOF {
			break
		}
		if err != nil {
			complete = false
			break
		}
		var doc map[string]json.RawMessage
		if f.amdJSON(raw) || json.Unmarshal(raw, &doc) != nil {
			continue
		}
		if raw, ok := doc["sysstat"]; ok {
			f.statJSON(raw)
			continue
		}
		f.cards(doc)
	}
	log := f.Log()
	if !complete {
		log.Complete = false
		log.Issues = append(log.Issues, diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: name, Offset: dec.InputOffset()},
			Help: fmt.Sprintf("The JSON ends early, or is over the limit of %d MiB. Values after this position are missing. A monitor that is ended by a signal does not close its output.", maxJSON>>20)})
	}
	return log, nil
}

// cards reads one output of rocm-smi, whose values are texts and whose names change with
// the version of ROCm.
func (f *Finder) cards(doc map[string]json.RawMessage) {
	for _, card := range slices.Sorted(maps.Keys(doc)) {
		var values map[string]any
		if !strings.HasPrefix(card, "card") && !strings.HasPrefix(card, "gpu") || json.Unmarshal(doc[card], &values) != nil {
			continue
		}
		f.b.Record(rocmSMI, false)
		for _, name := range slices.Sorted(maps.Keys(values)) {
			f.cardValue(name, fmt.Sprint(values[name]), strings.TrimLeft(card, "cardgpu"))
		}
	}
}

var reMHz = lazyregexp.New(`^\(?(\d+)M[Hh]z\)?$`)

// cardColumn returns the column of columns.txt for a value of rocm-smi, or "".
func cardColumn(name string) string {
	lower := strings.ToLower(name)
	has := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lower, w) })
	}
	switch {
	case has("gpu use (%)"):
		return "use"
	case has("power (w)") && !has("max"):
		return "power"
	case has("temperature", "junction"):
		return "junction"
	case has("temperature", "memory"):
		return "memtemp"
	case has("vram total used memory (b)"):
		return "vram"
	case has("gpu memory allocated (vram%)"), has("gpu memory use (%)"):
		return "vramshare"
	case has("sclk clock speed"):
		return "sclk"
	case has("mclk clock speed"):
		return "mclk"
	case has("gpu memory read/write activity (%)"), has("memory activity"):
		return "memuse"
	}
	return ""
}

// statJSON reads the reports of iostat.
func (f *Finder) statJSON(raw json.RawMessage) {
	var doc struct {
		Hosts []struct {
			Statistics []struct {
				Time string             `json:"timestamp"`
				CPU  map[string]float64 `json:"avg-cpu"`
				Disk []map[string]any   `json:"disk"`
			}
		}
	}
	if json.Unmarshal(raw, &doc) != nil {
		return
	}
	for _, h := range doc.Hosts {
		for i, s := range h.Statistics {
			f.time = logs.NoTime
			if t, ok := dateTime(s.Time); ok {
				f.time = t
				f.b.Clock(t, true, false)
			}
			f.b.Record("iostat", false)
			for _, c := range slices.Sorted(maps.Keys(s.CPU)) {
				f.addAfterFirst("iostat", "cpu", "%"+c, fmt.Sprint(s.CPU[c]), "iostat cpu", i == 0)
			}
			for _, d := range s.Disk {
				device, _ := d["disk_device"].(string)
				for _, c := range slices.Sorted(maps.Keys(d)) {
					v, ok := d[c].(float64)
					if !ok {
						continue
					}
					column := c
					if c == "util" || c == "rrqm" || c == "wrqm" || c == "drqm" {
						column = "%" + c
					}
					f.addAfterFirst("iostat", "iostat", column, fmt.Sprint(v), "iostat "+device, i == 0, logs.Label{Name: "device", Value: device})
				}
			}
		}
	}
}
