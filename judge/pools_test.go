package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// withPools is a log of SGLang of 30 lines; pools gives the shares of the pools at each of them.
func withPools(queued int, pools func(i int) string) func(*testing.T) *summary.Summary {
	log := loggen.Each(30, 3, func(i int) loggen.Line { return loggen.Line{Running: 24, Usage: 0.5, Tokens: 700, Queued: queued} }).SGLang()
	i := -1
	lines := strings.SplitAfter(log, "\n")
	for n, line := range lines {
		if strings.Contains(line, "token usage: 0.50") {
			i++
			lines[n] = strings.Replace(line, "token usage: 0.50", pools(i), 1)
		}
	}
	return given(strings.Join(lines, ""))
}

// TestPools: the fullest pool of a server decides whether requests wait for memory. The room of the
// others is of no use, and more running requests have no place.
func TestPools(t *testing.T) {
	text := func(format string, values ...any) func(int) string {
		return func(int) string { return fmt.Sprintf(format, values...) }
	}
	half := func(i int) string { // two lines of three: 19 of the 29 intervals between lines
		if i%3 == 0 {
			return "full token usage: 0.44, mamba num: 20, mamba usage: 0.52"
		}
		return "full token usage: 0.44, mamba num: 20, mamba usage: 0.93"
	}
	for _, tt := range []struct {
		name   string
		queued int
		pools  func(int) string
		bound  finding.Bound
		title  string
		first  string
	}{
		{"sliding windows", 12, text("full token usage: 0.22, swa token usage: 0.96"), finding.BoundKVCache, "Swa pool (sliding-window layers) full", "larger-swa-pool"},
		{"Mamba states", 3, text("full token usage: 0.61, mamba num: 31, mamba usage: 0.97"), finding.BoundKVCache, "Mamba pool (states of Mamba layers) full", "larger-mamba-pool"},
		{"Mamba states in two lines of three", 7, half, finding.BoundKVCache, "Mamba pool (states of Mamba layers) full while requests queue: 65.5% of the time", "larger-mamba-pool"},
		{"KV cache in CPU memory", 9, text("#gpu token: 800, gpu token usage: 0.31, #cpu token: 52000, cpu token usage: 0.95"), finding.BoundKVCache, "Host pool (KV cache in CPU memory) full", "larger-host-pool"},
		{"room in CPU memory", 9, text("#gpu token: 800, gpu token usage: 0.31, #cpu token: 52000, cpu token usage: 0.55"), finding.BoundQueue, "Requests queue while the KV cache has room", "raise-running-requests-sglang"},
		{"both", 12, text("full token usage: 0.98, swa token usage: 0.91"), finding.BoundKVCache, "KV cache full", "larger-kv-cache-sglang"},
		{"room in each", 12, text("full token usage: 0.22, swa token usage: 0.89"), finding.BoundQueue, "Requests queue while the KV cache has room", "raise-running-requests-sglang"},
		{"full and no queue", 0, text("full token usage: 0.22, swa token usage: 0.96"), finding.BoundMixed, "", ""},
	} {
		r := Judge(withPools(tt.queued, tt.pools)(t), rule.DefaultThresholds())
		if r.Verdict.Bound != tt.bound {
			t.Errorf("%s: %s-bound, want %s\n%s", tt.name, r.Verdict.Bound, tt.bound, told(r))
			continue
		}
		if tt.first == "" {
			continue
		}
		if f := r.Findings[0]; !strings.HasPrefix(f.Title, tt.title) || f.Next[0].ID != tt.first {
			t.Errorf("%s: %q and %q, want %q and %q first", tt.name, f.Title, ids(f.Next), tt.title, tt.first)
		}
	}
}

// TestGraphsOfSmallBatches: if only larger batches decode without CUDA graphs, a server is not told to
// enable them or to send more requests; if all do, or the smaller ones, it is.
func TestGraphsOfSmallBatches(t *testing.T) {
	for _, tt := range []struct {
		name         string
		eager        func(running int) bool
		few, enables bool
	}{
		{"over 24 requests", func(running int) bool { return running > 24 }, false, false},
		{"all", func(int) bool { return true }, true, true},
		{"under 12 requests", func(running int) bool { return running < 12 }, true, false},
	} {
		log := loggen.Each(50, 4, func(i int) loggen.Line {
			running := 6 + i*7%40 // 6 to 45
			return loggen.Line{Running: running, Usage: 0.05, Tokens: 50 * float64(running), Eager: tt.eager(running)}
		})
		r := Judge(given(log.SGLang())(t), rule.DefaultThresholds())
		f := findingOf(r.Findings, rule.EagerDecode)
		if f == nil {
			t.Errorf("%s: no finding of eager decode\n%s", tt.name, told(r))
			continue
		}
		if enables := slices.Contains(ids(f.Next), "enable-decode-graphs-sglang"); enables != tt.enables || !slices.Contains(ids(f.Next), "capture-larger-batches-sglang") {
			t.Errorf("%s: %q; to enable graphs: %t", tt.name, ids(f.Next), tt.enables)
		}
		if few := findingOf(r.Findings, rule.UnderLoaded) != nil; few != tt.few {
			t.Errorf("%s: few requests: %t, want %t\n%s", tt.name, few, tt.few, told(r))
		}
	}
}
