package sampler

import (
	"assay/internal/profile"
)

// maxMoments is the largest number of samples of a thread whose times are kept.
const maxMoments = 1 << 22

// moments are the times of the samples of a thread, in the unit of the file.
type moments struct {
	at, length []float64
	stacks     []int32 // as [costs.stack] returns them
}

// see adds a sample. It keeps within the budget of memory.
func (m *moments) see(budget *int64, at, length float64, stack int) {
	const bytes = 20
	if *budget < bytes || len(m.at) >= maxMoments {
		return
	}
	*budget -= bytes
	m.at, m.length, m.stacks = append(m.at, at), append(m.length, length), append(m.stacks, int32(stack))
}

// timed returns the samples, each time times scale ns. Samples of stacks over the limit of memory are left out. In a file
// of begins and ends of calls (calls), a sample stands for all of the time up to the next one.
func (m *moments) timed(c *costs, scale float64, calls bool, frame func(id uint32) profile.Frame) (t profile.Timed) {
	index := map[int32]int32{}
	last := int64(-1 << 62)
	for i, at := range m.at {
		stack := m.stacks[i]
		if stack < 0 {
			continue
		}
		to, ok := index[stack]
		if !ok {
			var frames []profile.Frame
			for _, id := range framesOf(c.keys[stack]) {
				frames = append(frames, frame(id))
			}
			if len(frames) == 0 {
				continue
			}
			to = int32(len(t.Inner))
			index[stack] = to
			t.Inner, t.Code = append(t.Inner, frames[len(frames)-1]), append(t.Code, profile.CodeOf(frames))
		}
		from := rounded(at * scale)
		if from < last {
			continue // a clock that went back
		}
		last = from
		if t.At, t.Stacks = append(t.At, from), append(t.Stacks, to); calls {
			t.Until = append(t.Until, rounded((at+m.length[i])*scale))
		}
	}
	return t
}
