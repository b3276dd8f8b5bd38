package gpu

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/unit"
	"assay/trace"
)

// What no GPU can do. The limits leave a factor of two or more to the fastest hardware and to every
// capture that was looked at, because one wrong verdict on a true capture is worse than several
// damaged ones that pass.
const (
	shortestKernel = 400 // ns; an empty kernel takes about 1 µs
	shortShare     = 0.05
	fewShort       = 10

	fewCopies   = 3
	leastCopied = 64 << 10 // bytes; smaller copies take as long as their start
	linkRate    = 4_000    // bytes per ns, or GB/s; NVLink reaches 900 in one direction
	hostRate    = 3_000    // bytes per ns; NVLink-C2C reaches 450, and a GPU that shares the host's HBM 2,650
	memoryRate  = 40_000   // bytes per ns; caches on the GPU reach about 20,000

	// Kernels of one queue start one after the other, so the time between their starts is that of the
	// first kernel and about 1 µs. If it is a fixed multiple of each kernel's duration, although
	// durations differ, the clock of the durations is another one.
	fewPairs      = 50
	mostPairs     = 4096
	leastMultiple = 2.0  // lower quartile of start-to-start time over duration
	sameMultiple  = 1.25 // upper over lower quartile of this ratio; 2.7 and more in true captures
	otherLengths  = 2.0  // upper over lower quartile of the durations
)

// NoteShort adds an issue for GPU work that is shorter than any GPU can make it. Its durations are
// wrong, although starts and order may be right, so that too much time appears to be idle.
func (tl *Timeline) NoteShort(issues *diag.Ledger) {
	fast := tl.tooFast()
	for _, d := range tl.Devices {
		n, what := tl.tooShort(d)
		if n == 0 {
			n, what = tl.inProportion(d)
		}
		if n == 0 {
			n, what = fast(d)
		}
		if n > 0 {
			issues.AddN(diag.Issue{Code: "durations-too-short", Severity: diag.Suspect,
				Help: what + " Their durations are wrong, so idle time and shares of the window have no meaning. Use the file that the profiler wrote, or record again."}, n)
		}
	}
}

// tooShort counts the kernels that are shorter than any kernel, if they are more than single records.
func (tl *Timeline) tooShort(d *Device) (n int64, what string) {
	kernels := int64(0)
	for _, w := range d.Work {
		if a := tl.Activity(w); a.Kind == trace.Kernel && a.Dur > 0 {
			kernels++
			if a.Dur < shortestKernel {
				n++
			}
		}
	}
	if n < fewShort || float64(n) <= shortShare*float64(kernels) {
		return 0, ""
	}
	return n, fmt.Sprintf("%s of %s kernels are shorter than %s, which is less than an empty kernel takes.",
		unit.Count(n), unit.Count(kernels), unit.Duration(shortestKernel))
}

// tooFast returns a function that counts the copies and memsets of a device that are faster than any
// link or memory, if most of those with a meaningful rate are.
func (tl *Timeline) tooFast() func(*Device) (n int64, what string) {
	sizeOf := CopyBytes(tl.Trace)
	return func(d *Device) (n int64, what string) {
		all := int64(0)
		for _, w := range d.Work {
			a := tl.Activity(w)
			if a.Kind == trace.Kernel || a.Dur <= 0 {
				continue
			}
			size, known := sizeOf(a)
			if !known || size < leastCopied {
				continue
			}
			all++
			rate := int64(memoryRate)
			if a.Kind == trace.Memcpy {
				rate = rateOf(tl.Trace.Name(a.Name))
			}
			if size/a.Dur > rate {
				n++
			}
		}
		if n < fewCopies || 2*n < all {
			return 0, ""
		}
		return n, fmt.Sprintf("%s of %s copies are faster than any link or memory.", unit.Count(n), unit.Count(all))
	}
}

// rateOf returns the rate that no copy of this name reaches, in bytes per ns.
func rateOf(name string) int64 {
	for _, kind := range []struct {
		rate int64
		ways []string
	}{
		{hostRate, []string{"HtoD", "DtoH", "HostToDevice", "DeviceToHost"}},
		{linkRate, []string{"PtoP", "PeerToPeer"}},
	} {
		if slices.ContainsFunc(kind.ways, func(way string) bool { return strings.Contains(name, way) }) {
			return kind.rate
		}
	}
	return memoryRate
}

// inProportion counts the kernels of the stream with the most of them if the time from the start of
// each to the next start is the same multiple of its duration. Of many kernels it looks at some.
func (tl *Timeline) inProportion(d *Device) (n int64, what string) {
	kernels := make(map[trace.TrackID]int64)
	var most trace.TrackID
	for _, w := range d.Work {
		if a := tl.Activity(w); a.Kind == trace.Kernel && a.Dur > 0 {
			if kernels[a.Track]++; kernels[a.Track] > kernels[most] {
				most = a.Track
			}
		}
	}
	n = kernels[most]
	if n < fewPairs {
		return 0, ""
	}
	var lengths, multiples []float64
	var last *trace.Activity
	seen, every := int64(0), n/mostPairs+1
	for _, w := range d.Work {
		a := tl.Activity(w)
		if a.Track != most {
			continue
		}
		if last != nil && last.Kind == trace.Kernel && last.Dur > 0 {
			if seen++; seen%every == 0 {
				lengths = append(lengths, float64(last.Dur))
				multiples = append(multiples, float64(a.Start-last.Start)/float64(last.Dur))
			}
		}
		last = a
	}
	short, long := quartiles(lengths)
	low, high := quartiles(multiples)
	if long < otherLengths*short || low < leastMultiple || high > sameMultiple*low {
		return 0, ""
	}
	return n, fmt.Sprintf("The time from the start of a kernel to the next start is about %.1f times the duration of each, whatever it is (%s kernels), which no program does.",
		(low+high)/2, unit.Count(n))
}

// quartiles returns the lower and the upper quartile of some values, which it sorts.
func quartiles(v []float64) (low, high float64) {
	slices.Sort(v)
	return v[len(v)/4], v[len(v)*3/4]
}
