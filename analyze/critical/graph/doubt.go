package graph

import "strings"

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
