// The hardware and software of a run, and whether a baseline is still valid for another run.

package baseline

import (
	"cmp"
	_ "embed" // software.txt
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"assay/summary"
)

// A Provenance says on what a run was made. Unknown fields are absent.
type Provenance struct {
	Hardware map[string]string `json:"hardware,omitempty"` // names by part, for example "GPU"
	Software map[string]string `json:"software,omitempty"` // versions by name, for example "CUDA driver"
	Command  string            `json:"command,omitempty"`
	Recorded string            `json:"recorded,omitempty"` // when the capture began, in UTC
}

//go:embed software.txt
var softwareText string

// A setting is a line of software.txt.
type setting struct{ key, form, name string }

var settings = sync.OnceValue(func() (out []setting) {
	for line := range strings.Lines(softwareText) {
		if f := strings.Fields(line); len(f) > 2 && f[0] != "#" {
			out = append(out, setting{f[0], f[1], strings.Join(f[2:], " ")})
		}
	}
	return out
})

// version formats the value of a setting.
func (s setting) version(value string) string {
	n, err := strconv.ParseInt(value, 10, 64)
	switch {
	case err == nil && s.form == "cuda":
		return fmt.Sprintf("%d.%d", n/1000, n%1000/10)
	case err == nil && s.form == "hip":
		return fmt.Sprintf("%d.%d", n/10_000_000, n/100_000%100)
	}
	return value
}

// ProvenanceOf returns the provenance of runs, as their captures state it.
func ProvenanceOf(runs ...*summary.Summary) Provenance {
	gpus, versions := map[string]bool{}, map[string]map[string]bool{}
	first := int64(0)
	for _, s := range runs {
		for _, d := range s.Devices {
			if d.Name != "" {
				gpus[d.Name] = true
			}
		}
		for _, in := range s.Inputs {
			for _, st := range settings() {
				if value, ok := in.Recorder[st.key]; ok {
					add(versions, st.name, st.version(value))
				}
			}
			if b := in.BaseTimeNS; b != nil && *b > 0 && (first == 0 || *b < first) {
				first = *b
			}
		}
	}
	var p Provenance
	if len(gpus) > 0 {
		p.Hardware = map[string]string{"GPU": joined(gpus)}
	}
	for name, values := range versions {
		p.State("", name, joined(values))
	}
	if first > 0 {
		p.Recorded = time.Unix(0, first).UTC().Format(time.RFC3339)
	}
	return p
}

func add(sets map[string]map[string]bool, name, value string) {
	if sets[name] == nil {
		sets[name] = map[string]bool{}
	}
	sets[name][value] = true
}

func joined(set map[string]bool) string {
	return strings.Join(slices.Sorted(maps.Keys(set)), ", ")
}

// State sets a value that a user states: a part of the hardware, or the version of software.
func (p *Provenance) State(hardware, software, value string) {
	set := func(in *map[string]string, name string) {
		if *in == nil {
			*in = map[string]string{}
		}
		(*in)[name] = value
	}
	if hardware != "" {
		set(&p.Hardware, hardware)
	}
	if software != "" {
		set(&p.Software, software)
	}
}

// Empty reports whether neither hardware nor software is known.
func (p Provenance) Empty() bool { return len(p.Hardware)+len(p.Software) == 0 }

// Text names hardware and software: "GPU NVIDIA H100 80GB HBM3; CUDA driver 12.4".
func (p Provenance) Text() string {
	var parts []string
	for _, side := range []map[string]string{p.Hardware, p.Software} {
		for _, name := range slices.Sorted(maps.Keys(side)) {
			parts = append(parts, name+" "+side[name])
		}
	}
	return strings.Join(parts, ", ")
}

// Differences says where the hardware or software of a new run differs from that of the baseline:
// "GPU is A, was B". Values that only one side has are ignored.
func Differences(base, now Provenance) (out []string) {
	for _, side := range [][2]map[string]string{{base.Hardware, now.Hardware}, {base.Software, now.Software}} {
		for _, name := range slices.Sorted(maps.Keys(side[0])) {
			if is, ok := side[1][name]; ok && cmp.Compare(is, side[0][name]) != 0 {
				out = append(out, fmt.Sprintf("%s is %s, was %s", name, is, side[0][name]))
			}
		}
	}
	return out
}
