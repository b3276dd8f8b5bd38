package sampler

import (
	"bytes"
	"cmp"
	"io"
	"slices"

	"assay/internal/diag"
	"assay/internal/jsonwalk"
	"assay/internal/profile"
)

// SniffV8 reports whether a file that begins with head is a CPU profile of V8 (*.cpuprofile).
func SniffV8(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"callFrame"`)) &&
		bytes.Contains(head, []byte(`"nodes"`)) && !bytes.Contains(head, []byte(`"traceEvents"`))
}

// A v8node is a function in the tree of calls.
type v8node struct {
	ID    int64 `json:"id"`
	Frame struct {
		Name string `json:"functionName"`
		URL  string `json:"url"`
		Line int64  `json:"lineNumber"`
	} `json:"callFrame"`
	Hits     int64   `json:"hitCount"`
	Children []int64 `json:"children"`
	Parent   int64   `json:"parent"`

	value float64
}

// ReadV8 reads a CPU profile of V8. A sample has the time since the one before it.
func ReadV8(in io.Reader, file string, limits profile.Limits) (*profile.Profile, error) {
	r := jsonwalk.NewReader(in)
	var issues diag.Ledger
	var start, end float64
	nodes, budget := map[int64]*v8node{}, cmp.Or(limits.Memory, defaultMemory)
	var ids []int64
	var samples, deltas []float64
	pooled := int64(0)
	numbers := func(to *[]float64) error {
		return r.Array(func() error {
			var v float64
			budget -= 8
			_, err := r.Value(&v)
			*to = append(*to, v)
			return err
		})
	}
	err := r.Object(func(key string) error {
		switch key {
		case "nodes":
			return r.Array(func() error {
				n := &v8node{}
				if _, err := r.Value(n); err != nil {
					return err
				}
				if budget -= 300 + int64(len(n.Frame.Name)+len(n.Frame.URL)) + 8*int64(len(n.Children)); budget < 0 {
					pooled++
					return nil
				}
				nodes[n.ID] = n
				ids = append(ids, n.ID)
				return nil
			})
		case "samples":
			return numbers(&samples)
		case "timeDeltas":
			return numbers(&deltas)
		case "startTime":
			_, err := r.Value(&start)
			return err
		case "endTime":
			_, err := r.Value(&end)
			return err
		}
		return r.Skip()
	})
	if err != nil {
		issueCut(file, r.Offset(), err, &issues)
	}
	column, unknown := v8values(nodes, samples, deltas)
	issues.AddN(diag.Issue{Code: "frames-unknown", Severity: diag.DataLoss, First: diag.Pos{File: file}}, unknown)
	issuePooled(file, pooled, &issues)
	p := v8stacks(nodes, ids, column, cmp.Or(limits.Memory, defaultMemory))
	if p.Sum(0) == 0 {
		return nil, &diag.Error{Pos: diag.Pos{File: file, Offset: r.Offset()}, Msg: "the CPU profile has no sample; record it while the program works"}
	}
	if column.Unit == "nanoseconds" {
		p.Duration = max(p.Sum(0), rounded((end-start)*1e3))
	}
	p.Cut, p.Issues = err != nil, issues.Issues()
	return p, nil
}

// v8values gives each node its own time in ns or, without times, its samples. It returns the number of samples
// whose node is missing.
func v8values(nodes map[int64]*v8node, samples, deltas []float64) (column profile.Column, unknown int64) {
	if len(samples) == 0 || len(samples) != len(deltas) {
		for _, n := range nodes {
			n.value = float64(n.Hits)
		}
		return profile.Column{Name: "samples", Unit: "count"}, 0
	}
	for i, id := range samples {
		n := nodes[int64(id)]
		if n == nil {
			unknown++
			continue
		}
		n.value += max(0, deltas[i]) * 1e3
	}
	return profile.Column{Name: "time", Unit: "nanoseconds"}, unknown
}

// v8stacks makes a profile of the tree. It leaves out the time in which no code ran.
func v8stacks(nodes map[int64]*v8node, ids []int64, column profile.Column, memory int64) *profile.Profile {
	for _, id := range ids {
		for _, child := range nodes[id].Children {
			if c := nodes[child]; c != nil && c.Parent == 0 && child != id {
				c.Parent = id
			}
		}
	}
	b := profile.NewBuilder(column)
	b.Limit(memory)
	idle := 0.0
	for _, id := range ids {
		n := nodes[id]
		if n.Frame.Name == "(idle)" {
			idle += n.value
			continue
		}
		if n.value <= 0 {
			continue
		}
		var stack []profile.Frame
		for at := n; at != nil && len(stack) < 1<<12; at = nodes[at.Parent] {
			if at.Frame.Name == "(root)" {
				break
			}
			f := profile.Frame{Name: cut(cmp.Or(at.Frame.Name, "(anonymous)")), File: cut(at.Frame.URL)}
			if at.Frame.Line >= 0 && f.File != "" {
				f.Line = at.Frame.Line + 1
			}
			stack = append(stack, f)
		}
		slices.Reverse(stack)
		b.Add(stack, nil, rounded(n.value))
	}
	p := b.Profile()
	p.Idle = rounded(idle)
	return p
}
