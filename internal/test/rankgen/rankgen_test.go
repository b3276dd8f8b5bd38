package rankgen

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
)

// TestFiles reads the files back, and compares them with the program without any of this
// project's readers: the number of collectives of each rank, and that all ranks of an
// instance leave it together.
func TestFiles(t *testing.T) {
	for _, s := range Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			truth := j.Truth(given)
			ends := map[string]map[int64]int{} // by communicator: ranks that leave at each time
			for _, f := range j.Files(given) {
				n := int64(0)
				for _, k := range kernelsOf(t, f.JSON, j.Era) {
					if !strings.Contains(k.name, "nccl") {
						continue
					}
					n++
					if k.comm != "" {
						if ends[k.comm] == nil {
							ends[k.comm] = map[int64]int{}
						}
						ends[k.comm][k.end-j.ranks[f.Place].clock]++
					}
				}
				if r := truth.Ranks[f.Place]; n != r.Collectives+r.Incomplete {
					t.Errorf("%s: %d collectives, want %d", f.Name, n, r.Collectives+r.Incomplete)
				}
			}
			together := int64(0)
			for _, comm := range ends {
				for _, ranks := range comm {
					if ranks >= 2 {
						together++
					}
				}
			}
			count := int64(0)
			for row, sums := range truth.Rows {
				if row.Group != "" {
					count += sums.Count
				}
			}
			if j.Era == Era2026 && together < count {
				t.Errorf("%d instances end together, want %d and more", together, count)
			}
		})
	}
}

// A found is a kernel in a file.
type found struct {
	name, comm string
	end        int64
}

func kernelsOf(t *testing.T, text []byte, era Era) (out []found) {
	t.Helper()
	var doc struct {
		TraceEvents []struct {
			Cat, Name string
			TS, Dur   json.Number
			Args      map[string]any
		} `json:"traceEvents"`
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.TraceEvents {
		if e.Cat != "kernel" {
			continue
		}
		k := found{name: e.Name, end: nanos(t, e.TS) + nanos(t, e.Dur)}
		if id, ok := e.Args["Comms Id"].(json.Number); ok {
			if _, err := strconv.ParseUint(id.String(), 10, 64); err != nil {
				t.Fatal(err)
			}
			k.comm = id.String()
		}
		out = append(out, k)
	}
	return out
}

func nanos(t *testing.T, micros json.Number) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(micros.String(), ".")
	n, err := strconv.ParseInt(whole+(part + "000")[:3], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestTruth compares sums that the scenarios make plain.
func TestTruth(t *testing.T) {
	truth := func(name string) Truth {
		for _, s := range Scenarios() {
			if s.Name == name {
				j, given := s.Job()
				return j.Truth(given)
			}
		}
		t.Fatal(name)
		return Truth{}
	}
	for r, rank := range truth("even").Ranks {
		if rank.Wait != 0 || rank.Last != 0 || rank.Collectives != 18 {
			t.Errorf("even: rank %d: %+v", r, rank)
		}
	}
	// 6 steps of 12 kernels, each a quarter longer, of which 7 other ranks wait for all.
	slow := truth("slow_gpu").Ranks
	if want := int64(6 * 12 * (usualKernel*5/4 - usualKernel)); slow[0].Wait != want || slow[5].Caused != 7*want || slow[5].Wait != 0 || slow[5].Last != 18 {
		t.Errorf("slow_gpu: %+v and %+v, want a wait of %d", slow[0], slow[5], want)
	}
	host := truth("slow_host").Ranks
	if want := int64(6 * 3_000_017); host[0].Wait != want || host[2].Caused != 7*want || host[2].Last != 6 {
		t.Errorf("slow_host: %+v and %+v, want a wait of %d", host[0], host[2], want)
	}
	for r, rank := range truth("late_in_turn").Ranks {
		if want := int64(9 * 1_500_029); rank.Wait != want || rank.Caused != want || rank.Last != 3 {
			t.Errorf("late_in_turn: rank %d: %+v, want a wait of %d", r, rank, want)
		}
	}
	for r, rank := range truth("begins_later").Ranks {
		if rank.Collectives != 17 || (rank.Incomplete == 7) != (r != 3) {
			t.Errorf("begins_later: rank %d: %+v", r, rank)
		}
	}
}
