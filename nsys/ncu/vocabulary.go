package ncu

import (
	"strings"
	"sync"
)

// A meaning is the quantity of a metric of ncu.
type meaning struct {
	quantity Quantity
	unit     string  // required base unit; "" for any
	times    float64 // factor in addition to the unit; 0 means 1
	part     string
}

// A spelling is one name of a quantity. Details pages have display names, which
// changed over the years; raw pages and --metrics have the names of the
// metrics.
type spelling struct {
	names string // in lower case, separated by bars
	meaning
}

// spellings lists the names of all versions since 2019.
func spellings() []spelling {
	is := func(q Quantity, unit, names string) spelling {
		return spelling{names, meaning{q, unit, 0, ""}}
	}
	all := []spelling{
		is(Duration, "ns", "duration|gpu__time_duration.sum|gpu__time_duration.avg|gpu__time_duration.max|gpu__time_duration_measured_user.sum"),
		is(ComputeShare, "%", "compute (sm) throughput|compute (sm) [%]|sm [%]|sol sm|sm throughput|sm__throughput.avg.pct_of_peak_sustained_elapsed"),
		is(MemoryShare, "%", "memory throughput|memory [%]|sol memory|gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
		is(DRAMShare, "%", "dram throughput|sol dram|sol fb|gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed|dram__throughput.avg.pct_of_peak_sustained_elapsed"),
		is(L1Share, "%", "l1/tex cache throughput|sol l1/tex cache|sol tex|l1tex__throughput.avg.pct_of_peak_sustained_active|l1tex__throughput.avg.pct_of_peak_sustained_elapsed"),
		is(L2Share, "%", "l2 cache throughput|sol l2 cache|sol l2|lts__throughput.avg.pct_of_peak_sustained_elapsed"),
		is(L1Hits, "%", "l1/tex hit rate|l1 hit rate|l1tex__t_sector_hit_rate.pct"),
		is(L2Hits, "%", "l2 hit rate|lts__t_sector_hit_rate.pct"),
		is(Occupancy, "%", "achieved occupancy|sm__warps_active.avg.pct_of_peak_sustained_active"),
		is(TheoreticalOccupancy, "%", "theoretical occupancy|sm__maximum_warps_per_active_cycle_pct"),
		is(LimitBlocks, "", "block limit sm|launch__occupancy_limit_blocks"),
		is(LimitRegisters, "", "block limit registers|launch__occupancy_limit_registers"),
		is(LimitShared, "", "block limit shared mem|launch__occupancy_limit_shared_mem"),
		is(LimitWarps, "", "block limit warps|launch__occupancy_limit_warps"),
		is(LimitBarriers, "", "block limit barriers|launch__occupancy_limit_barriers"),
		is(Registers, "", "registers per thread|launch__registers_per_thread"),
		is(Waves, "", "waves per sm|launch__waves_per_multiprocessor"),
		is(SMs, "", "# sms|launch__sm_count|device__attribute_multiprocessor_count"),
		is(SMFrequency, "hz", "sm frequency|gpc__cycles_elapsed.avg.per_second|sm__cycles_elapsed.avg.per_second|smsp__cycles_elapsed.avg.per_second"),
		is(DRAMFrequency, "hz", "dram frequency|memory frequency|dram__cycles_elapsed.avg.per_second"),
		is(WarpCycles, "", "warp cycles per issued instruction|smsp__average_warp_latency_per_inst_issued.ratio|smsp__average_warps_active_per_inst_issued.ratio"),
		is(DRAMRate, "byte/s", "memory throughput|dram__bytes.sum.per_second"),
		is(DRAMBytes, "byte", "dram__bytes.sum"),
		is(DRAMRead, "byte", "dram__bytes_read.sum"),
		is(DRAMWrite, "byte", "dram__bytes_write.sum"),
		is(PeakDRAM, "", "dram__bytes.sum.peak_sustained"),
	}
	return append(all, arithmetic()...)
}

// arithmetic lists the counters of arithmetic. The peak of an instruction that
// multiplies and adds is two operations for each number that it works on;
// instructions of half precision work on two numbers.
func arithmetic() (out []spelling) {
	type names struct {
		letter            string
		add, mul, fma     Quantity
		addR, mulR, fmaR  Quantity
		peak              Quantity
		operationsOfAnFMA float64
	}
	for _, n := range []names{
		{"h", AddF16, MulF16, FmaF16, AddF16Rate, MulF16Rate, FmaF16Rate, PeakF16, 4},
		{"f", AddF32, MulF32, FmaF32, AddF32Rate, MulF32Rate, FmaF32Rate, PeakF32, 2},
		{"d", AddF64, MulF64, FmaF64, AddF64Rate, MulF64Rate, FmaF64Rate, PeakF64, 2},
	} {
		for i, op := range []string{"add", "mul", "fma"} {
			sum := []Quantity{n.add, n.mul, n.fma}[i]
			rate := []Quantity{n.addR, n.mulR, n.fmaR}[i]
			for _, unit := range []string{"smsp", "sm"} {
				metric := unit + "__sass_thread_inst_executed_op_" + n.letter + op + "_pred_on.sum"
				out = append(out, spelling{metric, meaning{quantity: sum}}, spelling{metric + ".per_cycle_elapsed", meaning{quantity: rate}})
				if op == "fma" {
					out = append(out, spelling{metric + ".peak_sustained", meaning{quantity: n.peak, times: n.operationsOfAnFMA}})
				}
			}
		}
	}
	return out
}

// meanings returns the possible meanings of each name: several quantities, in
// several units.
var meanings = sync.OnceValue(func() map[string][]meaning {
	m := make(map[string][]meaning)
	for _, s := range spellings() {
		for name := range strings.SplitSeq(s.names, "|") {
			m[name] = append(m[name], s.meaning)
		}
	}
	return m
})

// meaningOf returns the meaning of a metric with a base unit. Odd reports that
// the name is known, but not with that unit.
func meaningOf(name, unit string) (m meaning, odd bool) {
	name = strings.ToLower(strings.TrimSpace(name))
	if id, ok := metricWithin(name); ok {
		name = id
	}
	if m, ok := patterned(name); ok {
		return m, false
	}
	if unit == "" && strings.Contains(name, "pct") {
		unit = "%" // pages without units; the name implies it
	}
	list := meanings()[name]
	for _, m := range list {
		if m.unit == "" || m.unit == unit {
			return m, false
		}
	}
	return meaning{}, len(list) > 0
}

// metricWithin finds the metric in a name that also contains its label, as
// --print-metric-name label-name prints it.
func metricWithin(name string) (id string, ok bool) {
	if !strings.Contains(name, "__") {
		return "", false
	}
	for word := range strings.FieldsSeq(name) {
		if word = strings.Trim(word, "()[],"); strings.Contains(word, "__") {
			return word, true
		}
	}
	return "", false
}

// patterned returns the meaning of a name with a variable part: the reason of a
// stall or the type of a tensor operation.
func patterned(name string) (meaning, bool) {
	const tensor = "sm__ops_path_tensor_"
	if rest, ok := strings.CutPrefix(name, tensor); ok {
		for end, q := range map[string]Quantity{
			".sum": TensorOps, ".sum.per_cycle_elapsed": TensorOpsRate, ".sum.peak_sustained": PeakTensor,
		} {
			if part, ok := strings.CutSuffix(rest, end); ok && !strings.Contains(part, ".") {
				return meaning{quantity: q, part: strings.ReplaceAll(part, "_", " ")}, true
			}
		}
		return meaning{}, false
	}
	for _, p := range []struct{ prefix, suffix string }{
		{"smsp__average_warps_issue_stalled_", "_per_issue_active.ratio"},
		{"smsp__average_warp_latency_issue_stalled_", ".ratio"},
		{"stall ", ""},
	} {
		reason, ok := strings.CutPrefix(name, p.prefix)
		if !ok {
			continue
		}
		if reason, ok = strings.CutSuffix(reason, p.suffix); ok && reason != "" && !strings.HasSuffix(reason, "not_issued") {
			return meaning{quantity: Stalls, part: strings.ReplaceAll(reason, "_", " ")}, true
		}
	}
	return meaning{}, false
}
