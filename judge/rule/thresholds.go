package rule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"assay/internal/settings"
	"assay/internal/unit"
	"assay/judge/finding"
)

// The ids of the rules, in their order of precedence. [Rule.Meaning] says what each one measures.
const (
	CaptureQuality      = "capture-quality"
	NoGPUTime           = "no-gpu-time"
	TooLittleWork       = "too-little-gpu-work"
	Clocks              = "clocks-implausible"
	RanksApart          = "ranks-incomparable"
	RunsDiffer          = "runs-differ"
	RecordsMissing      = "device-records-missing"
	QueuedBefore        = "queued-before"
	NotRecorded         = "not-recorded"
	ProfilerCost        = "profiler-cost"
	GPUIdle             = "gpu-idle"
	GPUsInTurn          = "gpus-in-turn"
	UnevenGPUs          = "uneven-gpus"
	DataLoading         = "data-loading"
	Allocating          = "allocating"
	CPUWork             = "cpu-work"
	SmallCopies         = "small-copies"
	LaunchBound         = "launch-bound"
	SynchronousLaunches = "synchronous-launches"
	KernelGaps          = "kernel-gaps"
	StragglingRank      = "straggling-rank"
	RanksInTurn         = "ranks-late-in-turn"
	PipelineBubble      = "pipeline-bubble"
	UnevenStages        = "uneven-stages"
	UnevenExperts       = "uneven-experts"
	SlowCollectives     = "slow-collectives"
	CPUCollectives      = "cpu-collectives"
	LateComm            = "late-communication"
	ExposedComm         = "exposed-communication"
	ExposedCopies       = "exposed-copies"
	HostRoundTrips      = "host-round-trips"
	SyncCalls           = "synchronizing-calls"
	SyncCopies          = "synchronous-copies"
	PageableCopies      = "pageable-async-copies"
	SyncMemsets         = "synchronous-memsets"
	LongGaps            = "long-gaps"
	LowUtilization      = "low-utilization"
	UnevenRanks         = "uneven-ranks"
	SlowWorker          = "slow-worker"
	OpaqueGraphs        = "opaque-graphs"
	SlowingKernels      = "slowing-kernels"
	DominantKernel      = "dominant-kernel"
	TinyKernels         = "tiny-kernels"
	FewBlocks           = "few-blocks"
	FewWarps            = "few-warps"
	CopyKernels         = "copy-kernels"

	MemoryBandwidth = "memory-bandwidth"
	ComputeBound    = "compute-bound"

	// On steps and phases.
	WarmUpSteps     = "warm-up-steps"
	WarmUpPhases    = "warm-up-phases"
	SlowSteps       = "slow-steps"
	PeriodicStalls  = "periodic-stalls"
	UnevenSteps     = "uneven-steps"
	SteadySteps     = "steady-steps"
	WeightSyncTime  = "weight-sync-time"
	WeightSyncShare = "weight-sync-share"
	GenerationShare = "generation-share"
	TrainingShare   = "training-share"
	DataShare       = "data-share"
	WaitShare       = "wait-share"
	RolloutsWait    = "rollouts-wait"
	SleepShare      = "sleep-wake-share"
	RLUtilization   = "rl-utilization"

	// On hardware counters of kernels.
	LatencyBound    = "kernels-latency-bound"
	MemoryBound     = "kernels-memory-bound"
	ComputeLimited  = "kernels-compute-bound"
	Balanced        = "kernels-balanced"
	LowOccupancy    = "low-occupancy"
	PartialWaves    = "partial-waves"
	NearLimit       = "kernels-near-limit"
	CountersMissing = "counters-missing"

	// On totals without a timeline.
	TablesEmpty       = "tables-empty"
	TotalDoubted      = "total-doubted"
	KernelsUnrecorded = "kernels-unrecorded"
	GraphsHideKernels = "graphs-hide-kernels"
	WaitingCalls      = "waiting-calls"
	CommWork          = "communication-work"
	CopyWork          = "copy-work"
	AllocationCalls   = "allocation-calls"
	ShortKernels      = "short-kernels"
	WithoutDevice     = "device-time-missing"
	HostWork          = "host-work"
	CopyOperators     = "copy-operators"
	LargestAllocator  = "largest-allocator"
	SumsOnly          = "sums-only"

	// On profiles of functions.
	Waiting        = "waiting"
	FunctionTotal  = "function-total"
	FunctionSelf   = "function-self"
	CheapCalls     = "many-cheap-calls"
	NestedCost     = "nested-cost"
	GrowingAverage = "growing-average"
)

// A Rule has the documentation and the limits of one rule. Limits are shares above 0 and at most 1;
// 0 means that the rule has no such limit.
type Rule struct {
	ID       string  `json:"id"`
	Meaning  string  `json:"meaning"` // what is divided by what
	Warn     float64 `json:"warn,omitempty"`
	Critical float64 `json:"critical,omitempty"`
	Info     float64 `json:"info,omitempty"` // from this share on, the good case is reported
	Source   string  `json:"source"`         // who uses such limits

	// MinEvents and MinShare say what a capture needs to be judged: so many GPU events, and windows
	// of at least this share of the spans of the captures. For calls that block the CPU, MinShare
	// is the share of the window that they must take at least.
	MinEvents int64   `json:"min_events,omitempty"`
	MinShare  float64 `json:"min_share,omitempty"`

	MinGapNS int64   `json:"min_gap_ns,omitempty"` // ns; a gap of at least this length is long
	MinBusy  float64 `json:"min_busy,omitempty"`   // utilization below this share is low
	Under    int64   `json:"under_ns,omitempty"`   // ns; a kernel or call below this duration is short

	// OfPeak is a share of a GPU's peak, and Margin the least difference of two shares; they select
	// the kernels that a rule applies to.
	OfPeak float64 `json:"of_peak,omitempty"`
	Margin float64 `json:"margin,omitempty"`
}

// Level returns the level of a share under r, the limit that it reaches, and whether it reaches
// any. A share that equals a limit reaches it.
func (r Rule) Level(share float64) (finding.Level, float64, bool) {
	switch {
	case r.Critical > 0 && share >= r.Critical:
		return finding.Critical, r.Critical, true
	case r.Warn > 0 && share >= r.Warn:
		return finding.Warn, r.Warn, true
	case r.Info > 0 && share >= r.Info:
		return finding.Info, r.Info, true
	}
	return finding.Info, 0, false
}

// limit returns where the limit called key is stored, or nil.
func (r *Rule) limit(key string) *float64 {
	switch key {
	case "warn":
		return &r.Warn
	case "critical":
		return &r.Critical
	case "info":
		return &r.Info
	case "min_share":
		return &r.MinShare
	case "min_busy":
		return &r.MinBusy
	case "of_peak":
		return &r.OfPeak
	case "margin":
		return &r.Margin
	}
	return nil
}

// duration returns where the duration called key is stored, or nil.
func (r *Rule) duration(key string) *int64 {
	switch key {
	case "min_gap":
		return &r.MinGapNS
	case "under":
		return &r.Under
	}
	return nil
}

// Thresholds are the limits of all rules. The zero value has the defaults.
type Thresholds struct{ rules []Rule }

// DefaultThresholds returns limits that are in common use. They are starting points, not facts
// about hardware: tools differ by a factor of up to four, which is why every finding names its
// limit.
func DefaultThresholds() Thresholds {
	rules := make([]Rule, len(builtInRules))
	for i := range builtInRules {
		rules[i] = builtInRules[i].Rule
	}
	return Thresholds{rules}
}

// Rules returns every rule with its default limits, in the order of precedence.
func Rules() []Rule { return DefaultThresholds().Rules() }

// Rules returns every rule with its limits in t, in the order of precedence.
func (t Thresholds) Rules() []Rule {
	if t.rules == nil {
		return DefaultThresholds().rules
	}
	return slices.Clone(t.rules)
}

// Rule returns the rule with this id, and whether it exists.
func (t Thresholds) Rule(id string) (Rule, bool) {
	rules := t.Rules()
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// ParseThresholds reads a YAML file of limits that replace the defaults:
//
//	gpu-idle:
//	  warn: 25%
//	  critical: 0.6
//	  source: agreed for the nightly run
//
// Rules and keys that the file does not name keep their defaults. An unknown rule or key is an
// error, so that a misspelt limit is not silently ignored. The name of the file is for error
// messages.
func ParseThresholds(text []byte, name string) (Thresholds, error) {
	th := DefaultThresholds()
	err := settings.Mapping(text, "rules", func(entry *ast.MappingValueNode) error {
		id := entry.Key.GetToken().Value
		i := slices.IndexFunc(th.rules, func(r Rule) bool { return r.ID == id })
		if i < 0 {
			return settings.Errorf(entry.Key, "unknown rule %q: \"assay explain\" lists the rules", id)
		}
		rule := &th.rules[i]
		err := eachKey(entry, func(key string, value ast.Node) error { return rule.set(key, value, false) })
		if err != nil {
			return err
		}
		if rule.Critical > 0 && rule.Warn > rule.Critical {
			return settings.Errorf(entry.Key, "rule %q: warn limit %s is over the critical limit %s",
				id, unit.Percent(rule.Warn), unit.Percent(rule.Critical))
		}
		return nil
	})
	if err != nil {
		return Thresholds{}, fmt.Errorf("%s:%w", name, err)
	}
	return th, nil
}

// set stores one key of a rule. Defining is true for the files that define rules, which may set any
// key; a file of a user can only replace limits that the rule has.
func (r *Rule) set(key string, value ast.Node, defining bool) error {
	text, err := settings.Scalar(value)
	if err != nil {
		return settings.Errorf(value, "rule %q: %s: %w", r.ID, key, err)
	}
	limit := r.limit(key)
	switch {
	case key == "min_events" && (defining || r.MinEvents != 0):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			return settings.Errorf(value, "rule %q: %s: %q is not a whole number from 1 on", r.ID, key, text)
		}
		r.MinEvents = n
		return nil
	case r.duration(key) != nil && (defining || *r.duration(key) != 0):
		ns, err := unit.ParseDuration(text)
		if err != nil {
			return settings.Errorf(value, "rule %q: %s: %w", r.ID, key, err)
		}
		if ns <= 0 {
			return settings.Errorf(value, "rule %q: %s: %q is not over 0 ns", r.ID, key, text)
		}
		*r.duration(key) = ns
		return nil
	case key == "source":
		r.Source = text
		return nil
	case key == "meaning" && defining:
		r.Meaning = text
		return nil
	case key == "meaning" && text == r.Meaning:
		return nil // the text of the built-in file, unchanged
	case limit == nil || *limit == 0 && !defining:
		return settings.Errorf(value, "rule %q: unknown key %q, want one of %s", r.ID, key, strings.Join(r.keys(), ", "))
	}
	share, err := unit.ParseShare(text)
	if err != nil {
		return settings.Errorf(value, "rule %q: %s: %w", r.ID, key, err)
	}
	if share <= 0 || share > 1 {
		return settings.Errorf(value, "rule %q: %s: %q is %s, want over 0%% and at most 100%%", r.ID, key, text,
			unit.Percent(share))
	}
	*limit = share
	return nil
}

// keys returns the keys that a file of limits may set for r.
func (r *Rule) keys() []string {
	var keys []string
	if r.MinEvents != 0 {
		keys = append(keys, "min_events")
	}
	for _, key := range []string{"min_gap", "under"} {
		if *r.duration(key) != 0 {
			keys = append(keys, key)
		}
	}
	for _, key := range []string{"warn", "critical", "info", "min_share", "min_busy", "of_peak", "margin"} {
		if *r.limit(key) != 0 {
			keys = append(keys, key)
		}
	}
	return append(keys, "source")
}

// eachKey calls f for each key of one rule.
func eachKey(rule *ast.MappingValueNode, f func(key string, value ast.Node) error) error {
	return settings.EachEntry(rule.Value, "keys", func(e *ast.MappingValueNode) error {
		return f(e.Key.GetToken().Value, e.Value)
	})
}
