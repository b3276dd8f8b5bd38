package gate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"assay/summary"
)

// inPhase reports whether a phase is selected, or one that it is in.
func (s Selector) inPhase(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if s.has("phase", name) {
			return path != ""
		}
	}
	return path != "" && s.has("phase", path)
}

// phaseActivity adds up the windows of the devices while they were in a phase. A
// phase has the time of those within it, and no time counts twice.
func (v selection) phaseActivity() (sum summary.Activity, err error) {
	if v.sel.value("steps") != "" {
		return sum, errors.New("no activity of phases within steps; leave out steps=, or phase=")
	}
	if _, err := v.devices(); err != nil {
		return sum, err
	}
	names := make(map[string]bool)
	found := false
	for _, p := range v.Phases {
		if p.Path == "" || p.Source == summary.SourceLog || !v.sel.hasDevice(p.Rank, p.Device) {
			continue
		}
		names[strconv.Quote(p.Path)] = true
		if v.sel.inPhase(p.Path) {
			sum, found = sum.Plus(p.Activity), true
		}
	}
	switch {
	case len(names) == 0:
		return sum, errors.New(`no phases: mark them with record_function or NVTX ranges, with names that "assay help phases" lists or a file of your own does (--phases)`)
	case !found:
		return sum, fmt.Errorf("no phase %q; there is %s", v.sel.value("phase"), few(sorted(names)))
	}
	return sum, nil
}
