package damage

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay/internal/test/tracegen"
)

type event = map[string]any

// A which selects events.
type which func(e event) bool

func category(names ...string) which {
	return func(e event) bool { c, _ := e["cat"].(string); return e["ph"] == "X" && slices.Contains(names, c) }
}

func everything(event) bool { return true }
func onGPU(e event) bool    { return category("kernel", "gpu_memcpy", "gpu_memset")(e) }
func kernels(e event) bool  { return category("kernel")(e) }
func copies(e event) bool {
	return category("gpu_memcpy", "gpu_memset")(e) || calls(e) && named(e, "mem")
}
func calls(e event) bool         { return category("cuda_runtime", "cuda_driver")(e) }
func launches(e event) bool      { return calls(e) && named(e, "launch") }
func operators(e event) bool     { return category("cpu_op")(e) }
func gpuAndCalls(e event) bool   { return onGPU(e) || calls(e) }
func communication(e event) bool { return kernels(e) && named(e, "nccl") }

func named(e event, part string) bool {
	name, _ := e["name"].(string)
	return strings.Contains(strings.ToLower(name), part)
}

// nth selects every nth of the events that are selected.
func nth(w which, n int) which {
	i := 0
	return func(e event) bool {
		if !w(e) {
			return false
		}
		i++
		return i%n == 0
	}
}

func number(v any) float64 {
	n, _ := v.(json.Number)
	f, _ := n.Float64()
	return f
}

func of(f float64) json.Number { return json.Number(fmt.Sprintf("%.3f", f)) }

// An edit returns what an event becomes.
type edit func(e event) []event

func drop(event) []event { return nil }

// with returns a copy of an event with another member.
func with(e event, key string, v any) event {
	out := maps.Clone(e)
	out[key] = v
	return out
}

func withArg(e event, change func(event)) event {
	args, _ := e["args"].(map[string]any)
	if args = maps.Clone(args); args == nil {
		args = event{}
	}
	change(args)
	return with(e, "args", args)
}

func set(key string, v any) edit {
	if n, ok := v.(int); ok {
		v = json.Number(fmt.Sprint(n))
	}
	return func(e event) []event { return []event{with(e, key, v)} }
}

func scaled(key string, f float64) edit {
	return func(e event) []event { return []event{with(e, key, of(number(e[key])*f))} }
}

func shifted(key string, by float64) edit {
	return func(e event) []event { return []event{with(e, key, of(max(0, number(e[key])+by)))} }
}

func arg(key string, n int) edit {
	return func(e event) []event {
		return []event{withArg(e, func(a event) { a[key] = json.Number(fmt.Sprint(n)) })}
	}
}

func argPlus(key string, n int64) edit {
	return func(e event) []event {
		return []event{withArg(e, func(a event) { a[key] = json.Number(fmt.Sprint(int64(number(a[key])) + n)) })}
	}
}

func withoutArg(key string) edit {
	return func(e event) []event { return []event{withArg(e, func(a event) { delete(a, key) })} }
}

func twice(later float64) edit {
	return func(e event) []event { return []event{e, with(e, "ts", of(number(e["ts"])+later))} }
}

// edited returns the damage that edits change the selected events one after the other.
func edited(w which, edits ...edit) func([]byte) []byte {
	return func(text []byte) []byte {
		return tracegen.Change(text, func(e map[string]any) []map[string]any {
			if !w(e) {
				return []map[string]any{e}
			}
			out := []event{e}
			for _, change := range edits {
				var next []event
				for _, e := range out {
					next = append(next, change(e)...)
				}
				out = next
			}
			return out
		})
	}
}

// list returns the selected events of a capture.
func list(text []byte, w which) (out []event) {
	tracegen.Change(text, func(e map[string]any) []map[string]any {
		if w(e) {
			out = append(out, e)
		}
		return []map[string]any{e}
	})
	return out
}

// span returns the first start and the last end of the GPU records, in µs.
func span(text []byte) (from, to float64) {
	for i, e := range list(text, onGPU) {
		start := number(e["ts"])
		if i == 0 || start < from {
			from = start
		}
		to = max(to, start+number(e["dur"]))
	}
	return from, to
}

// lostBetween returns the damage that the selected events of a part of the capture are lost.
func lostBetween(w which, from, to float64) func([]byte) []byte {
	return func(text []byte) []byte {
		a, b := span(text)
		return edited(func(e event) bool {
			at := (number(e["ts"]) - a) / (b - a)
			return w(e) && at >= from && at < to
		}, drop)(text)
	}
}

// longKernels returns the damage that n kernels are as long as half the capture. They are spread over
// it, and followed by others.
func longKernels(n int) func([]byte) []byte {
	return func(text []byte) []byte {
		a, b := span(text)
		left := n
		chosen := nth(kernels, max(2, len(list(text, kernels))/(n+2)))
		return edited(func(e event) bool {
			if !chosen(e) || left == 0 {
				return false
			}
			left--
			return true
		}, set("dur", of((b-a)/2)))(text)
	}
}

// lostByLength returns the damage that kernels longer (or shorter) than the given quantile are lost.
func lostByLength(quantile float64, longer bool) func([]byte) []byte {
	return func(text []byte) []byte {
		all := list(text, kernels)
		slices.SortFunc(all, func(a, b event) int { return cmp.Compare(number(a["dur"]), number(b["dur"])) })
		if len(all) == 0 {
			return text
		}
		limit := number(all[int(quantile*float64(len(all)-1))]["dur"])
		return edited(func(e event) bool {
			return kernels(e) && number(e["dur"]) != limit && number(e["dur"]) > limit == longer
		}, drop)(text)
	}
}

// joined returns the damage that the capture is in the file a second time, later by a multiple of its
// length, with equal ids.
func joined(lengths float64) func([]byte) []byte {
	return func(text []byte) []byte {
		a, b := span(text)
		return edited(func(e event) bool { return e["ph"] == "X" }, twice((b-a)*lengths))(text)
	}
}
