package bench

import (
	"strings"
	"testing"
)

// TestBarsBefore: the bar of the requests has no end of its line, and the table follows it.
func TestBarsBefore(t *testing.T) {
	// Trap: lone carriage returns.
	bars := strings.Repeat(" 50%|#####     | 500/1000 [01:00<01:00,  8.33it/s]\r", 200)
	// Trap: ANSI sequences inside a record.
	row := "\x1b[32mMean TTFT (ms):\x1b[0m                          \x1b[1m1,979.50\x1b[0m"
	// Trap: stacked prefixes.
	const prefix = "\x1b[36m(Bench pid=7, ip=10.1.2.3)\x1b[0m "
	for name, text := range map[string]string{
		"bars":     bars + "============ Serving Benchmark Result ============\nSuccessful requests:                     1000\n" + row + "\n==================================================\n",
		"prefixed": prefix + bars + "============ Serving Benchmark Result ============\n" + prefix + "Successful requests:                     1000\n" + prefix + row + "\n" + prefix + "==================================================\n",
	} {
		log := textLog(t, text)
		if len(log.Benchmarks) != 1 {
			t.Errorf("%s: %d results", name, len(log.Benchmarks))
			continue
		}
		check(t, &log.Benchmarks[0], vllmServe, want{"serving.ttft", "mean", 1979.5e6}, want{"requests.completed", "", 1000})
	}
}

// TestMissingRows: a row without a number is no zero.
func TestMissingRows(t *testing.T) {
	for _, text := range []string{"nan", "N/A", "None", "-", "inf", "1979,33", "1979,333", "0,979"} {
		// Trap: missing is not zero; number forms; decimal comma.
		log := textLog(t, "============ Serving Benchmark Result ============\nSuccessful requests:                     5\nMean TTFT (ms):                          "+text+"\n==================================================\n")
		if len(log.Benchmarks) != 1 {
			t.Fatalf("%s: %d results", text, len(log.Benchmarks))
		}
		if v, ok := log.Benchmarks[0].Figure("serving.ttft", "mean"); ok {
			t.Errorf("%s is read as %v", text, v)
		}
	}
}
