package memory

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/torchprof/memory"
)

// Stacks returns a profile of the live bytes of each device by allocation stack: at the peak of the
// history or, without a history, when the snapshot was taken. The device is a frame only if there
// are several.
func Stacks(m *memory.Snapshot) *profile.Profile {
	b := profile.NewBuilder(profile.Column{Name: "live", Unit: "bytes"}, profile.Column{Name: "blocks", Unit: "count"})
	owners := newOwners(&m.Stacks)
	for i := range m.Devices {
		d := &m.Devices[i]
		var device []profile.Frame
		if len(m.Devices) > 1 {
			device = []profile.Frame{{Name: fmt.Sprintf("device %d", d.Number)}}
		}
		r := replay{m: m, owners: owners, issues: new(diag.Ledger), complete: m.Complete}
		r.d, r.later = upToSnapshot(d)
		r.eachAtPeak(func(h holding) {
			stack := slices.Clone(device)
			for _, id := range slices.Backward(m.Stacks.IDs(h.stack)) {
				f := m.Stacks.At(id)
				stack = append(stack, profile.Frame{Name: f.Function, File: f.File, Line: f.Line})
			}
			if h.stack == 0 {
				stack = append(stack, profile.Frame{Name: "(no stack recorded)"})
			}
			b.Add(stack, nil, h.bytes, 1)
		})
	}
	p := b.Profile()
	p.Issues = m.Issues
	return p
}

// eachAtPeak calls f with each block that was live at the peak.
func (r *replay) eachAtPeak(f func(holding)) {
	if n := len(r.d.Entries); n == 0 || n > math.MaxInt32-1 || !r.complete {
		r.eachAtEnd(f)
		return
	}
	r.match(r.history())
	r.eachLive(int32(r.walk().peak), f)
}
