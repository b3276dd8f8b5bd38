package samples

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"assay/internal/interval"
	"assay/internal/profile"
	"assay/internal/test"
)

const ms = 1_000_000

// A program runs parts one after the other. Each part has what the trace shows and what a sampler shows.
type part struct {
	state uint16 // 1 is nothing recorded
	at    int64
	frame int32
}

// A program is what a step consists of.
type program []struct {
	state uint16
	ns    int64
	frame int32
}

func randomProgram(rnd *rand.Rand) program {
	step := make(program, 3+rnd.IntN(8))
	for i := range step {
		step[i].state, step[i].ns, step[i].frame = uint16(1+rnd.IntN(6)), int64(2+rnd.ExpFloat64()*25)*ms, int32(rnd.IntN(9))
	}
	return step
}

// run returns the parts of a run over a time: steps whose times vary, and a pause after some.
func (p program) run(rnd *rand.Rand, length int64, vary float64) (parts []part) {
	for at := int64(0); at < length; {
		for _, k := range p {
			parts = append(parts, part{k.state, at, k.frame})
			at += int64(float64(k.ns) * (1 + vary*(2*rnd.Float64()-1)))
		}
		if rnd.IntN(10) == 0 {
			parts = append(parts, part{1, at, 9})
			at += int64(rnd.ExpFloat64() * 60 * ms)
		}
	}
	return parts
}

func partAt(parts []part, at int64) part {
	lo, hi := 0, len(parts)
	for lo+1 < hi {
		if mid := (lo + hi) / 2; parts[mid].at <= at {
			lo = mid
		} else {
			hi = mid
		}
	}
	return parts[lo]
}

// gpuOf is the capture of a part of a program.
func gpuOf(parts []part, from, to int64) *GPU {
	g := &GPU{Window: interval.Span{Start: from, End: to}, Cell: cellNS}
	for at := from + cellNS/2; at < to; at += cellNS {
		g.States = append(g.States, partAt(parts, at).state)
	}
	return g
}

// sampled samples a part of a program every 10 ms, with a jitter, an offset of the clock and a drift of 50 ppm.
func sampled(rnd *rand.Rand, parts []part, from, to, offset int64) *profile.Timed {
	t := &profile.Timed{}
	for i := range int32(10) {
		f := profile.Frame{Name: fmt.Sprintf("f%d", i), File: "train.py", Line: int64(i)}
		t.Inner, t.Code = append(t.Inner, f), append(t.Code, f)
	}
	for at := from; at < to; at += 10*ms + int64(rnd.NormFloat64()*ms/2) {
		t.At = append(t.At, at-offset+(at-from)/20_000)
		t.Stacks = append(t.Stacks, partAt(parts, at).frame)
	}
	return t
}

// TestAlign: the offset of the clocks is found within a period, whatever the recordings have in common.
func TestAlign(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 1))
	found, n := 0, 40/test.Every(8)
	for i := range n {
		length := int64(4+rnd.IntN(40)) * 1000 * ms
		parts := randomProgram(rnd).run(rnd, 2*length, 0.3)
		offset := rnd.Int64N(1e15) - 5e14
		from := rnd.Int64N(length / 2)
		fit, why := Align(gpuOf(parts, length/4, length), sampled(rnd, parts, from, from+length, offset))
		if why != "" {
			continue
		}
		found++
		mid := (from + length) / 2
		if d := mid - offset + (mid-from)/20_000 + fit.Offset - mid; d < -2*ms || d > 2*ms {
			t.Errorf("%d: offset is wrong by %d µs of %d s: %+v", i, d/1000, length/1e9, fit)
		}
	}
	if found < n*9/10 {
		t.Errorf("%d of %d are found", found, n)
	}
}

// pairs returns how many pairs of recordings a test tries: what ASSAY_PAIRS says, or else a few, and n in long tests.
func pairs(t *testing.T, n int) int {
	t.Helper()
	text := os.Getenv("ASSAY_PAIRS")
	if text == "" {
		return max(2, n/test.Every(25))
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestOtherRun: the samples of another program do not fit, and those of another run of the same program rarely do.
func TestOtherRun(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 2))
	n := pairs(t, 50)
	for _, same := range []bool{false, true} {
		wrong := 0
		for range n {
			length := int64(4+rnd.IntN(12)) * 1000 * ms
			p := randomProgram(rnd)
			a := p.run(rnd, 2*length, 0.3)
			if !same {
				p = randomProgram(rnd)
			}
			b := p.run(rnd, 2*length, 0.3)
			from := rnd.Int64N(length / 2)
			if _, why := Align(gpuOf(a, length/4, length), sampled(rnd, b, from, from+length, 0)); why == "" {
				wrong++
			}
		}
		t.Logf("same program %v: %d of %d", same, wrong, n)
		if most := n / 500; !same && wrong > most || wrong > 1+10*most {
			t.Errorf("%d of %d fit", wrong, n)
		}
	}
}

// TestNominal: a sampler whose file has the mean distance of samples instead of their times (py-spy's speedscope) does not
// fit, because the times are wrong by more than a period after some seconds.
func TestNominal(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 3))
	for i := range pairs(t, 25) {
		length := int64(4+rnd.IntN(30)) * 1000 * ms
		parts := randomProgram(rnd).run(rnd, 2*length, 0.3)
		s := sampled(rnd, parts, 0, 1, 0)
		s.At, s.Stacks = nil, nil
		for at := int64(0); at < length; at += int64(rnd.ExpFloat64() * 10 * ms) {
			s.At, s.Stacks = append(s.At, int64(len(s.At))*10*ms), append(s.Stacks, partAt(parts, at).frame)
		}
		if fit, why := Align(gpuOf(parts, length/4, length), s); why == "" {
			t.Errorf("%d: %d s: %+v", i, length/1e9, fit)
		}
	}
}

// TestPeriodic: steps that do not vary fit at offsets that differ by whole steps, and all of them are known.
func TestPeriodic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 4))
	p := program{{1, 31 * ms, 1}, {2, 47 * ms, 2}, {3, 12 * ms, 3}, {1, 23 * ms, 4}}
	var parts []part
	for at := int64(0); at < 40_000*ms; {
		for _, k := range p {
			parts = append(parts, part{k.state, at, k.frame})
			at += k.ns
		}
	}
	fit, why := Align(gpuOf(parts, 5000*ms, 15000*ms), sampled(rnd, parts, 0, 20_000*ms, 0))
	const step = 113 * ms
	if d := ((fit.Offset%step)+step+step/2)%step - step/2; why != "" || len(fit.Others) == 0 || d < -2*ms || d > 2*ms {
		t.Errorf("%d µs: %s %+v", d/1000, why, fit)
	}
	for _, o := range fit.Others {
		if d := (o - fit.Offset + 50*step + step/2) % step; d < step/2-3*ms || d > step/2+3*ms {
			t.Errorf("%+v", fit)
		}
	}
}
