package logs

import "strings"

// ScaleOf returns the base unit of a unit as producers write it, and the factor that
// converts values to it. It returns false for an unknown unit.
//
// A unit of bytes with a decimal prefix is decimal unless binary is set. Set it for the many
// producers that write GB and divide by 1024 three times.
func ScaleOf(unit string, binary bool) (base string, factor float64, ok bool) {
	if s, ok := scales[unit]; ok {
		return s.base, s.factor, true
	}
	if n := strings.TrimSuffix(strings.TrimSuffix(unit, "/s"), "ps"); n != "" {
		factor, ok := bytesOf(n, binary)
		switch {
		case !ok:
		case n == unit:
			return "byte", factor, true
		case strings.HasSuffix(unit, "/s"):
			return "byte/s", factor, true
		}
	}
	return "", 0, false
}

type scale struct {
	base   string
	factor float64
}

var scales = map[string]scale{
	"": {"", 1}, "count": {"count", 1}, "reqs": {"count", 1}, "req": {"count", 1}, "requests": {"count", 1}, "tokens": {"count", 1}, "token": {"count", 1}, "toks": {"count", 1}, "steps": {"count", 1},
	"ns": {"ns", 1}, "us": {"ns", 1e3}, "µs": {"ns", 1e3}, "ms": {"ns", 1e6}, "s": {"ns", 1e9}, "sec": {"ns", 1e9}, "secs": {"ns", 1e9}, "seconds": {"ns", 1e9}, "min": {"ns", 60e9}, "h": {"ns", 3600e9},
	"share": {"share", 1}, "%": {"share", 0.01}, "percent": {"share", 0.01},
	"token/s": {"token/s", 1}, "tokens/s": {"token/s", 1}, "tok/s": {"token/s", 1}, "toks/s": {"token/s", 1}, "tokens/sec": {"token/s", 1},
	"request/s": {"request/s", 1}, "req/s": {"request/s", 1}, "requests/s": {"request/s", 1}, "it/s": {"step/s", 1}, "step/s": {"step/s", 1}, "steps/s": {"step/s", 1},
	"sample/s": {"sample/s", 1}, "samples/s": {"sample/s", 1}, "samples/sec": {"sample/s", 1},
	"flop/s": {"flop/s", 1}, "GFLOP/s": {"flop/s", 1e9}, "TFLOP/s": {"flop/s", 1e12}, "PFLOP/s": {"flop/s", 1e15}, "TFLOPS": {"flop/s", 1e12}, "TF/s": {"flop/s", 1e12},
	"W": {"watt", 1}, "watt": {"watt", 1}, "mW": {"watt", 1e-3}, "kW": {"watt", 1e3}, "C": {"celsius", 1}, "celsius": {"celsius", 1}, "hertz": {"hertz", 1}, "MHz": {"hertz", 1e6}, "GHz": {"hertz", 1e9},
	"byte": {"byte", 1}, "byte/s": {"byte/s", 1},
}

// bytesOf returns the size of a unit of bytes.
func bytesOf(unit string, binary bool) (float64, bool) {
	if unit == "B" || unit == "bytes" {
		return 1, true
	}
	prefix, isB := strings.CutSuffix(unit, "B")
	if !isB {
		return 0, false
	}
	step := 1000.0
	if p, ok := strings.CutSuffix(prefix, "i"); ok {
		prefix, step = p, 1024
	} else if binary {
		step = 1024
	}
	if len(prefix) != 1 {
		return 0, false
	}
	power := strings.IndexByte("KMGTPE", prefix[0])
	if prefix == "k" {
		power = 0
	}
	if power < 0 {
		return 0, false
	}
	factor := step
	for range power {
		factor *= step
	}
	return factor, true
}
