package collective

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"
)

var (
	testOf  = regexp.MustCompile(`(all_?reduce|all_?gather|reduce_scatter|all_?to_?all|sendrecv|broadcast|reduce)(?:_perf|\.log)`)
	rankOf  = regexp.MustCompile(`#\s+Rank\s+(\d+)\s`)
	tableOf = regexp.MustCompile(`(?m)(?:^|>)\s*(\d+)\s+(\d+)\s+(float|double|half|bfloat16|int32|int8|uint8)\s+(?:[a-z]+\s+)?(?:-?\d+\s+)?(\d+\.?\d*)\s+(\d+\.\d+)\s+(\d+\.\d+)\s+\S+\s+(\d+\.?\d*)\s+(\d+\.\d+)\s+(\d+\.\d+)`)
)

var testedOps = map[string]Op{
	"allreduce": AllReduce, "allgather": AllGather, "reducescatter": ReduceScatter, "alltoall": AllToAll, "sendrecv": SendRecv, "broadcast": Broadcast, "reduce": Reduce,
}

// A printed is one row of a table of nccl-tests.
type printed struct {
	op          Op
	ranks       int
	size, count int64
	dtype       string
	runs        [2]struct{ time, alg, bus string } // out of place and in place
}

// printedBy reads the tables of a log.
func printedBy(path, text string) (out []printed) {
	row := printed{op: Other}
	if m := testOf.FindStringSubmatch(path); m != nil {
		row.op = testedOps[strings.ReplaceAll(m[1], "_", "")]
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "Using devices") {
			row.ranks = 0
		}
		if m := rankOf.FindStringSubmatch(line); m != nil {
			n, _ := strconv.Atoi(m[1])
			row.ranks = max(row.ranks, n+1)
		} else if m := testOf.FindStringSubmatch(line); m != nil {
			row.op = testedOps[strings.ReplaceAll(m[1], "_", "")]
		} else if m := tableOf.FindStringSubmatch(line); m != nil && row.ranks > 1 && row.op != Other {
			r := row
			r.size, _ = strconv.ParseInt(m[1], 10, 64)
			r.count, _ = strconv.ParseInt(m[2], 10, 64)
			r.dtype = m[3]
			for i := range r.runs {
				r.runs[i].time, r.runs[i].alg, r.runs[i].bus = m[4+3*i], m[5+3*i], m[6+3*i]
			}
			out = append(out, r)
		}
	}
	return out
}

// rounded returns a printed number and by how much it may be rounded.
func rounded(text string) (value, half float64) {
	value, _ = strconv.ParseFloat(text, 64)
	_, decimals, _ := strings.Cut(text, ".")
	return value, 0.5 * math.Pow10(-len(decimals))
}

// TestNamesOfXLA: XLA writes names of collectives with hyphens. An operation that reduces on one device is none of them.
func TestNamesOfXLA(t *testing.T) {
	for name, want := range map[string]Op{"all-reduce": AllReduce, "all-reduce-start": AllReduce, "reduce-scatter": ReduceScatter, "all-gather-done": AllGather,
		"all-to-all": AllToAll, "AllReduce": AllReduce, "reduce": Reduce, "collective-permute": Other} {
		if got := OpOf(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestNCCLTests: from the sizes and times that nccl-tests printed, the formulas give the
// bandwidths that it printed, within the rounding of the three numbers. The formulas are
// those of its doc/PERFORMANCE.md. Its counts are those of one rank, so the size of an
// all-gather is that of the output, and the size of a reduce-scatter that of the input.
func TestNCCLTests(t *testing.T) {
	files := test.Files(t, filepath.Join(test.Corpus(t, "series"), "nccl_tests", "*", "*.log")) // a README has shortened lists of ranks
	seen := map[Op]map[int]int{}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range printedBy(path, string(text)) {
			if seen[row.op] == nil {
				seen[row.op] = map[int]int{}
			}
			seen[row.op][row.ranks]++
			n := int64(row.ranks)
			w := What{Op: row.op, Dtype: row.dtype, In: row.count, Out: row.count}
			switch row.op {
			case AllGather:
				w.Out *= n
			case ReduceScatter:
				w.In *= n
			case AllToAll:
				w.In, w.Out = n*w.In, n*w.Out
			}
			if DtypeBytes(row.dtype) > 0 && row.count > 0 && w.Bytes(row.ranks) != row.size {
				t.Errorf("%s: %v of %d ranks, count %d: %d bytes, want %d", filepath.Base(path), row.op, n, row.count, w.Bytes(row.ranks), row.size)
			}
			for _, run := range row.runs {
				us, timeHalf := rounded(run.time)
				alg, algHalf := rounded(run.alg)
				bus, busHalf := rounded(run.bus)
				if us == 0 {
					continue
				}
				got := float64(row.size) / (us * 1000) // bytes a ns are GB/s
				off := got * timeHalf / us
				if math.Abs(got-alg) > algHalf+1.01*off {
					t.Errorf("%s: %v of %d bytes in %s µs: %.3f GB/s, want %s", filepath.Base(path), row.op, row.size, run.time, got, run.alg)
				}
				f := row.op.BusFactor(row.ranks)
				if math.Abs(got*f-bus) > busHalf+1.01*off*f {
					t.Errorf("%s: %v of %d bytes on %d ranks in %s µs: bus bandwidth %.3f GB/s, want %s", filepath.Base(path), row.op, row.size, n, run.time, got*f, run.bus)
				}
			}
		}
	}
	for op, ranks := range map[Op][]int{AllReduce: {8, 80}, AllGather: {8, 80}, ReduceScatter: {8, 80}, AllToAll: {2, 8, 80}, SendRecv: {2, 8, 80}} {
		for _, n := range ranks {
			if seen[op][n] < 5 {
				t.Errorf("%d rows of %v on %d ranks, want some", seen[op][n], op, n)
			}
		}
	}
}

// TestTraceLensTables: what TraceLens printed about 8 ranks of a training agrees with the
// size and the factor of its bus bandwidth. Its MB are MiB.
func TestTraceLensTables(t *testing.T) {
	f, err := os.Open(test.Corpus(t, "ranks", "tracelens_llama70b_fsdp8_goldens", "nccl_summary_implicit_sync.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) < 5 {
		t.Fatal(len(rows), err)
	}
	at := map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	number := func(row []string, name string) float64 {
		n, err := strconv.ParseFloat(row[at[name]], 64)
		if err != nil {
			t.Fatal(name, err)
		}
		return n
	}
	for _, row := range rows[1:] {
		name, n := row[at["Collective name"]], int(number(row, "Group size"))
		w := What{Op: OpOf(name), Dtype: row[at["dtype"]], In: int64(number(row, "In msg nelems")), Out: -1}
		if want := int64(math.Round(number(row, "Full msg size (MB)") * (1 << 20))); w.Bytes(n) != want {
			t.Errorf("%s of %d elements: %d bytes, want %d", name, w.In, w.Bytes(n), want)
		}
		for _, of := range []string{"mean", "median", "min", "max"} {
			factor := number(row, "bus bw (GB/s)_"+of) / number(row, "algo bw (GB/s)_"+of)
			if math.Abs(w.Op.BusFactor(n)-factor) > 1e-9 {
				t.Errorf("%s on %d ranks: factor %v, want %v", name, n, w.Op.BusFactor(n), factor)
			}
		}
	}
}
