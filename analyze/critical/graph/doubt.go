package graph

import (
	"strings"

	"assay/internal/interval"
)

// outrun is how much later than the end of a wait for a device its work may end, in ns, because the
// clocks of host and GPU may differ by some µs.
const outrun = 20 * Us

// Doubt withholds all paths and forecasts, for a reason that the caller knows.
func (g *Graph) Doubt(reason string) { g.Doubts = append(g.Doubts, reason) }

// addUnlaunched sums the GPU time whose launch is not in the trace. What the host waited for is then
// unknown, also where the path is on the host.
func (b *builder) addUnlaunched() {
	for v := b.first; v < b.first+int32(len(b.src.Works)); v++ {
		b.Counts.GPUTime += b.Dur[v]
		if b.Work(v).Call == None {
			b.Counts.Unlaunched += b.Dur[v]
		}
	}
}

// addOutrun counts the waits for a device that returned before the work that was launched before them
// had ended, which only wrong clocks explain. The device of a wait is known if there is one only.
func (b *builder) addOutrun() {
	for i := range b.keys {
		if b.keys[i][0] != b.keys[0][0] {
			return
		}
	}
	isWait := Named(b.src.T, func(name string) bool {
		m := blocking().FindStringSubmatch(name)
		return m != nil && (m[1] == "Device" || strings.HasPrefix(m[1], "C"))
	})
	for _, i := range b.calling {
		c := &b.src.Spans[i]
		if c.first == None || !isWait(c.Name) {
			continue
		}
		b.Counts.DeviceWaits++
		for _, v := range b.launchedBefore(c.Start) {
			if b.End(v) > c.End+outrun && b.Work(v).Call != None {
				b.Counts.Outrun++
				break
			}
		}
	}
}

// A program that waits for the GPU without a call that the trace records, as one that polls memory, launches its next work
// shortly after all work has ended, repeatedly, and never shortly before.
const (
	longPause   = 40 * Us // between launches; shorter ones prove nothing
	soonAfter   = 10      // the part of a pause that may be left when the work ends: a tenth
	soonLeast   = 5 * Us  // or this, which a host needs to return and launch
	soonMost    = 50 * Us
	fewestWaits = 4
	clearly     = 3 // as many pauses must end after the work as by chance, or as end shortly before
)

// addUnrecorded finds the pauses between launches in which the host waited for the GPU, although no call does.
func (b *builder) addUnrecorded() {
	waits := b.waitingCalls()
	var pauses interval.Builder
	found, overtaken, chance := 0, 0, 0.0
	returned, ended := int64(-Far), int64(-Far) // the launches so far, and their work
	for _, x := range b.launched {
		c := &b.src.Spans[b.LaunchOf(x.v).Span]
		pause := c.Start - returned
		soon := min(max(pause/soonAfter, soonLeast), soonMost)
		switch {
		case pause < longPause || returned == -Far || ended <= returned:
		case ended > c.Start:
			if ended <= c.Start+soon {
				overtaken++
			}
		case len(waits.Clip(interval.Span{Start: ended, End: ended + 1}).Spans()) == 0:
			if chance += float64(soon) / float64(pause); c.Start-ended <= soon {
				found++
				pauses.Add(interval.Span{Start: returned, End: ended})
			}
		}
		returned, ended = max(returned, c.End), max(ended, b.End(x.v))
	}
	if float64(found) >= fewestWaits+clearly*max(chance, float64(overtaken)) {
		b.src.unrecorded = pauses.Set()
	}
}

// waitingCalls returns when calls ran that wait for the GPU. The clocks of host and GPU may differ by some µs.
func (b *builder) waitingCalls() interval.Set {
	waits := Named(b.src.T, func(name string) bool {
		return blocking().MatchString(name) || freeing().MatchString(name) || copying().MatchString(name)
	})
	var out interval.Builder
	for _, i := range b.calling {
		if c := &b.src.Spans[i]; waits(c.Name) {
			out.Add(interval.Span{Start: c.Start - Jitter, End: c.End + Jitter})
		}
	}
	return out.Set()
}

// UnrecordedWait returns how much of a time of a rank its host waited for the GPU, if no call of the trace tells.
func (g *Graph) UnrecordedWait(rank int, span interval.Span) int64 {
	src := g.Ranks[rank]
	if len(src.unrecorded.Spans()) == 0 {
		return 0
	}
	span.Start, span.End = span.Start+src.Offset, span.End+src.Offset
	return src.unrecorded.Clip(span).Len()
}
