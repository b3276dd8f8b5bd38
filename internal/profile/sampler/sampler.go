// Package sampler reads profiles that samplers of host code write: speedscope's JSON (py-spy, pyinstrument and
// others), CPU profiles of V8, the text of perf script, and the JSON of Scalene, which has lines instead of stacks.
//
// All but Scalene's become a [profile.Profile]. Threads ran at the same time, so the times of several threads of a
// file never add up: the stacks are those of one thread, and a table lists all of them. CPU time of perf does add up.
package sampler

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/redact"
)

const (
	defaultMemory = 1 << 30
	maxName       = 4 << 10
	maxDepth      = 1 << 14 // frames of a stack
	maxThreads    = 1 << 10

	stackBytes = 1400 // of a new stack, as the builder of profiles estimates it
	frameBytes = 120
)

// costs adds up values by stack.
type costs struct {
	index  map[string]int
	keys   []string
	values []float64
	budget *int64 // bytes left, of all threads
	pooled int64  // samples of stacks over the budget
	other  float64
	key    []byte
}

func newCosts(budget *int64) *costs { return &costs{index: map[string]int{}, budget: budget} }

// stack returns the number of a stack, outermost frame first; -1 over the limit.
func (c *costs) stack(frames []uint32) int {
	if len(frames) > maxDepth {
		return -1
	}
	c.key = c.key[:0]
	for _, f := range frames {
		c.key = binary.AppendUvarint(c.key, uint64(f))
	}
	at, ok := c.index[string(c.key)]
	if ok {
		return at
	}
	if *c.budget -= stackBytes + frameBytes*int64(len(frames)); *c.budget < 0 {
		return -1
	}
	at = len(c.keys)
	c.keys, c.values = append(c.keys, string(c.key)), append(c.values, 0)
	c.index[c.keys[at]] = at
	return at
}

// add adds a value to a stack.
func (c *costs) add(stack int, value float64) {
	if stack < 0 {
		c.pooled++
		c.other += value
		return
	}
	c.values[stack] += value
}

func (c *costs) sum() (all float64) {
	for _, v := range c.values {
		all += v
	}
	return all + c.other
}

// framesOf returns the numbers of the frames of a stack.
func framesOf(key string) (out []uint32) {
	for b := []byte(key); len(b) > 0; {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return out
		}
		out, b = append(out, uint32(v)), b[n:]
	}
	return out
}

// profile makes a profile of stacks, each value times scale.
func (c *costs) profile(column profile.Column, scale float64, frame func(id uint32) profile.Frame) *profile.Profile {
	b := profile.NewBuilder(column)
	var stack []profile.Frame
	for i, key := range c.keys {
		if c.values[i] <= 0 {
			continue
		}
		stack = stack[:0]
		for _, id := range framesOf(key) {
			stack = append(stack, frame(id))
		}
		b.Add(stack, nil, rounded(c.values[i]*scale))
	}
	if c.other > 0 {
		b.Add([]profile.Frame{{Name: profile.OtherStacks}}, nil, rounded(c.other*scale))
	}
	return b.Profile()
}

// timed returns the samples of a thread, given the stack and time of each. Samples without a stack are left out.
func (c *costs) timed(stacks []int32, at func(i int) int64, frame func(id uint32) profile.Frame) (t profile.Timed) {
	index := map[int32]int32{}
	for i, stack := range stacks {
		now := at(i)
		if stack < 0 || len(c.keys[stack]) == 0 || len(t.At) > 0 && now < t.At[len(t.At)-1] {
			continue
		}
		to, ok := index[stack]
		if !ok {
			to = int32(len(t.Inner))
			index[stack] = to
			ids := framesOf(c.keys[stack])
			inner := frame(ids[len(ids)-1])
			code := inner
			for k := len(ids) - 1; k >= 0; k-- {
				if f := frame(ids[k]); inSource().MatchString(f.File) {
					code = f
					break
				}
			}
			t.Inner, t.Code = append(t.Inner, inner), append(t.Code, code)
		}
		t.At, t.Stacks = append(t.At, now), append(t.Stacks, to)
	}
	return t
}

// inSource matches the files of interpreted code.
var inSource = lazyregexp.New(`\.(py|pyx|ipynb|js|mjs|ts)$|^<.*>$`)

// rounded rounds with saturation.
func rounded(v float64) int64 {
	switch {
	case !(v > math.MinInt64):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	}
	return int64(math.Round(v))
}

// unitOf returns the column of values in a unit of speedscope, and the factor to its base unit.
func unitOf(unit string) (c profile.Column, scale float64) {
	times := map[string]float64{"nanoseconds": 1, "microseconds": 1e3, "milliseconds": 1e6, "seconds": 1e9}
	switch scale, ok := times[unit]; {
	case ok:
		return profile.Column{Name: "time", Unit: "nanoseconds"}, scale
	case unit == "bytes":
		return profile.Column{Name: "bytes", Unit: "bytes"}, 1
	}
	return profile.Column{Name: "samples", Unit: "count"}, 1
}

// threadTable lists the threads of a file with their time and the function in which each was most of it.
func threadTable(column profile.Column, threads []threadSum) *profile.Table {
	slices.SortStableFunc(threads, func(a, b threadSum) int { return cmp.Compare(b.value, a.value) })
	t := &profile.Table{Name: "threads", Title: "Threads", Of: profile.OfThread,
		Columns: []profile.Heading{{Name: "total", Unit: column.Unit}, {Name: "in its largest function", Unit: column.Unit}}}
	for _, s := range threads {
		row := profile.Row{Name: s.name, Cells: []profile.Cell{profile.Known(s.value), profile.Known(s.most)}}
		if s.top != "" {
			row.Labels = []profile.Label{{Key: "function", Text: s.top}}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// A threadSum is a row of the table of threads.
type threadSum struct {
	name, top   string
	value, most int64
}

// largest returns the frame that is the innermost one of most of the value, and that value.
func (c *costs) largest() (id uint32, value float64, ok bool) {
	leaves := map[uint32]float64{}
	for i, key := range c.keys {
		if frames := framesOf(key); len(frames) > 0 {
			leaves[frames[len(frames)-1]] += c.values[i]
		}
	}
	for leaf, v := range leaves {
		if v > value || v == value && ok && leaf < id {
			id, value, ok = leaf, v, true
		}
	}
	return id, value, ok
}

// issuePooled says that stacks are over the limit of memory.
func issuePooled(file string, n int64, issues *diag.Ledger) {
	issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, First: diag.Pos{File: file},
		Help: "The stacks reached the memory limit. The samples counted here are added up in one stack: sums are correct, but names are missing. Raise --max-memory."}, n)
}

// issueCut says that a file breaks off.
func issueCut(file string, at int64, err error, issues *diag.Ledger) {
	issues.Add(diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, First: diag.Pos{File: file, Offset: at},
		Help: fmt.Sprintf("The input could not be read to its end (%v). The rest is missing from every total. Copy the file again.", err)})
}

// cut shortens a name, without a part of a secret.
func cut(name string) string {
	if len(name) > maxName {
		return redact.Cut(name, maxName)
	}
	return name
}

// A number is one of a file, exact also beyond 2^53, where times since the start of a machine in ns are.
type number struct {
	whole int64
	part  float64
}

func parse(text string) (n number, ok bool) {
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return number{whole: v}, true
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.Abs(v) > 1<<62 {
		return number{}, false
	}
	whole := math.Floor(v)
	return number{int64(whole), v - whole}, true
}

func (n number) float() float64 { return float64(n.whole) + n.part }

// minus returns the difference of two numbers.
func (n number) minus(m number) float64 { return float64(n.whole-m.whole) + n.part - m.part }
