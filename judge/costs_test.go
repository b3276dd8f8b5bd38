package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestWaitsByWhatTheyCost: a wait counts by the idle time that follows. A GPU that works during the wait, or that
// waits for the launch of a large graph after it, has another bottleneck.
func TestWaitsByWhatTheyCost(t *testing.T) {
	for _, tt := range []struct {
		name       string
		idle, lost int64 // ms of 1 s
		cause      summary.Idle
		rule, step string
	}{
		{"it costs most of the idle time", 300, 280, summary.Idle{Owner: summary.OwnerLaunch, Name: "hipLaunchKernel", Count: 9000, NS: 290 * ms}, rule.SyncCalls, "remove-synchronization"},
		{"the GPU works during the wait", 40, 30, summary.Idle{Owner: summary.OwnerLaunch, Name: "hipLaunchKernel", Count: 900, NS: 30 * ms}, rule.ComputeBound, ""},
		{"a graph of many kernels is launched after it", 300, 280, summary.Idle{Owner: summary.OwnerLaunch, Name: "hipGraphLaunch", Count: 200, NS: 260 * ms}, rule.GPUIdle, "launch-the-graph-ahead"},
		{"small graphs are launched after it", 300, 280, summary.Idle{Owner: summary.OwnerLaunch, Name: "hipGraphLaunch", Count: 9000, NS: 260 * ms}, rule.SyncCalls, "remove-synchronization"},
	} {
		s := one(tt.idle, 0, 0)
		s.Syncs = []summary.Sync{{Calls: 200, HostNS: 800 * ms, LostNS: tt.lost * ms, Longest: "hipDeviceSynchronize", MaxNS: 9 * ms}}
		s.Calls = []summary.Call{{Name: "hipDeviceSynchronize", Kind: "sync", Count: 200, TotalNS: 800 * ms}, {Name: tt.cause.Name, Kind: "graph-launch", Count: 200}}
		s.Idle = []summary.Idle{tt.cause}
		r := Judge(s, rule.DefaultThresholds())
		f := find(t, r, tt.rule)
		if r.Verdict.Rule != tt.rule || tt.step != "" && f.Next[0].ID != tt.step {
			t.Errorf("%s: decided by %s, first step %v", tt.name, r.Verdict.Rule, f.Next)
		}
		if tt.rule == rule.SyncCalls && f.NumeratorNS != tt.lost*ms {
			t.Errorf("%s: %d ns of waits, want %d ms", tt.name, f.NumeratorNS, tt.lost)
		}
	}
}

// TestWaitNamesWhatIsSeen: operators that read nothing back show that the program itself waits.
func TestWaitNamesWhatIsSeen(t *testing.T) {
	for op, want := range map[string]string{"": "remove-synchronization", "aten::item": "remove-synchronization",
		"aten::_local_scalar_dense": "remove-synchronization", "aten::mm": "wait-for-no-step"} {
		s := one(300, 0, 0)
		s.Syncs = []summary.Sync{{Calls: 9, HostNS: 400 * ms, LostNS: 200 * ms}}
		if s.Annotations = []summary.Annotation{{Name: "Optimizer.step#SGD.step"}}; op != "" {
			s.Ops = []summary.Op{{Name: op, Count: 9}}
		}
		if f := find(t, Judge(s, rule.DefaultThresholds()), rule.SyncCalls); f.Next[0].ID != want {
			t.Errorf("%q: first step %s, want %s", op, f.Next[0].ID, want)
		}
	}
}

// products is a run that computes all the time, most of it in one kernel.
func products(name, category string) *summary.Summary {
	s := one(10, 0, 0)
	s.Kernels = []summary.Kernel{{Name: name, Class: "compute", Category: category, Op: "aten::mm", Count: 99, TotalNS: 900 * ms, MinNS: ms, MaxNS: 20 * ms},
		{Name: "tanh", Class: "compute", Category: "elementwise", Op: "aten::tanh", Count: 99, TotalNS: 90 * ms, MinNS: ms / 2, MaxNS: ms}}
	return s
}

// TestDominantProduct: a product on tensor cores that takes the time is no critical finding, other kernels are.
func TestDominantProduct(t *testing.T) {
	for _, tt := range []struct {
		name, category string
		want           finding.Level
	}{
		{"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTT", "gemm", finding.Warn},
		{"Cijk_Ailk_Bljk_BBS_BH_MT128x128x32_MI32x32x8x1", "gemm", finding.Warn},
		{"volta_sgemm_128x64_nn", "gemm", finding.Critical},
		{"flash_fwd_kernel", "attention", finding.Critical},
	} {
		if f := find(t, Judge(products(tt.name, tt.category), rule.DefaultThresholds()), rule.DominantKernel); f.Level != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, f.Level, tt.want)
		}
	}
}

// TestPowerLimitOfProducts: clocks that the power limit reduces under load are told beside a product on tensor
// cores. Full clocks and clocks of an idle GPU are not.
func TestPowerLimitOfProducts(t *testing.T) {
	const head = "#Date Time gpu pwr gtemp mtemp sm mem pclk pviol tviol fb\n#YYYYMMDD HH:MM:SS Idx W C C % % MHz % bool MB\n"
	dmon := func(use, clock, pviol int) string {
		b := head
		for i := range 12 {
			u, c, p := use, clock, pviol
			if i < 3 {
				u, c, p = 0, 1755, 0
			}
			b += fmt.Sprintf(" 20250203 10:00:%02d 0 400 60 60 %d 20 %d %d 0 900\n", i, u, c, p)
		}
		return b
	}
	for _, tt := range []struct {
		name              string
		use, clock, pviol int
		want              bool
	}{{"capped", 97, 1200, 80, true}, {"full clock", 97, 1755, 80, false}, {"no violation", 97, 1200, 0, false}, {"idle", 0, 1200, 80, false}} {
		s := given(dmon(tt.use, tt.clock, tt.pviol))(t)
		p := products("sm90_xmma_gemm_bf16bf16_bf16f32_tensorop", "gemm")
		p.Inputs = []summary.Input{{Path: "t.json", Format: "kineto"}}
		s = summary.Merge(p, s)
		r := Judge(s, rule.DefaultThresholds())
		f := find(t, r, rule.ComputeBound)
		said := strings.Contains(f.Cause, "limited by power: GPU 0 runs at 1200 of 1755 MHz")
		if said != tt.want || (find(t, r, rule.DominantKernel).Level == finding.Info) != tt.want {
			t.Errorf("%s: cause %q", tt.name, f.Cause)
		}
	}
}

// TestTF32First: products in float32 that use no tensor cores should use them before anything else is tried, where the
// GPU can.
func TestTF32First(t *testing.T) {
	for name, want := range map[string]bool{"ampere_sgemm_128x32_tn": true, "cutlass_80_simt_sgemm_64x64_8x5_nn_align1": true,
		"sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64": true, "volta_sgemm_128x32_tn": false,
		"ampere_bf16_s16816gemm_bf16_128x64_ldg8_tn": false, "sm80_xmma_gemm_f64f64_f64f64_f64_nn_n": false} {
		s := products(name, "gemm")
		s.Ops = []summary.Op{{Name: "aten::mm", Count: 99}}
		next := find(t, Judge(s, rule.DefaultThresholds()), rule.ComputeBound).Next
		if got := next[0].ID == "allow-tf32"; got != want || !want && slices.ContainsFunc(next, func(st finding.Step) bool { return st.ID == "allow-tf32" }) {
			t.Errorf("%s: first step %s", name, next[0].ID)
		}
	}
}

// TestCodeBetweenLaunches: code that is neither operators nor calls is the cause if it is most of the gaps, and longer
// than Python takes from one operator to the next.
func TestCodeBetweenLaunches(t *testing.T) {
	for _, tt := range []struct {
		state string
		ns    int64 // mean of a gap
		code  int64 // ms of 600
		want  bool
	}{{summary.StatePython, 60_000, 500, true}, {summary.StateAnnotation, 25_000, 400, true},
		{summary.StateAnnotation, 6_000, 500, false}, {summary.StateOp, 60_000, 500, false}, {summary.StatePython, 60_000, 250, false}} {
		s := one(600, 0, 0)
		code, rest := tt.code*ms, (600-tt.code)*ms
		s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: tt.state, Name: "decode", Count: code / tt.ns, NS: code, ShortGapsNS: code},
			{Owner: summary.OwnerLaunch, Name: "cudaLaunchKernel", Count: rest / 5000, NS: rest, ShortGapsNS: rest}}
		f := find(t, Judge(s, rule.DefaultThresholds()), rule.LaunchBound)
		graphs := slices.ContainsFunc(f.Next, func(st finding.Step) bool { return strings.HasPrefix(st.ID, "launch-less") })
		if got := f.Next[0].ID == "shorten-code-between-launches"; got != tt.want || got && strings.HasPrefix(f.Title, "Launch-bound") || !tt.want && !graphs {
			t.Errorf("%s of %d ns, %d ms: %s, %v", tt.state, tt.ns, tt.code, f.Title, f.Next)
		}
	}
}
