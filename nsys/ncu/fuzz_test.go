package ncu

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzRead checks the guarantees of the reader for any input: it terminates, it
// does not panic, its result is consistent, and its memory is limited.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		newHeader + start + `"GPU Speed Of Light Throughput","Duration","ns","1,234",` + "\n" + start + `"Occupancy","","","","Occupancy","OPT","text","local","5,5"` + "\n",
		oldHeader + `"0","9","a","h","m","t","1","7","Command line profiler metrics","dram__bytes.sum","Kbyte","3.5"` + "\n",
		`"ID","Process ID","Process Name","Host Name","Kernel Name","gpu__time_duration.sum"` + "\n" + `"","","","","","us"` + "\n" + `"0","1","a","h","k","1.5"` + "\n",
		`"Process ID","Kernel Name","Invocations","Metric Name","Metric Unit","Average"` + "\n" + `"1","k","3","Duration","us","2,5"` + "\n",
		detailsPage, "  k(T1 *) (1, 1, 1)x(64, 1, 1), Device 0\n --- --- ---\n Metric Name Metric Unit Metric Value\n --- --- ---\n a   us  1\n",
		"==ERROR== ERR_NVGPUCTRPERM - x\n", "==PROF== x\nSection: y\n", newHeader + start + `"S","cut off`, "ID;Process ID;Kernel Name;Metric Name;Metric Unit;Metric Value\n0;1;k;Duration;ns;1.234,5\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Sniff([]byte(text))
		c, err := Read(strings.NewReader(text), "in", Limits{Memory: 1 << 20})
		if err != nil {
			if c != nil {
				t.Fatalf("an error comes with a capture: %v", err)
			}
			return
		}
		if len(c.Launches) == 0 {
			t.Fatal("no launch and no error")
		}
		for i := range c.Launches {
			l := &c.Launches[i]
			if !utf8.ValidString(l.Kernel) || len(l.Kernel) > MaxName || len(l.Rules) > MaxRules || l.Count < 1 {
				t.Fatalf("launch %+v", l)
			}
			for _, m := range l.Metrics {
				if int(m.Key) >= len(c.Keys) || int(m.Text) >= len(c.Texts) || math.IsNaN(m.Value) {
					t.Fatalf("metric %+v", m)
				}
				if k := c.Keys[m.Key]; k.Quantity != None && !(m.Value >= 0) {
					t.Fatalf("%+v is %v", k, m.Value)
				}
			}
			for p := range Precisions {
				c.FLOPs(l, p)
				c.Peak(l, p)
			}
			c.Bytes(l)
			c.PeakRate(l)
			c.Limiters(l)
		}
	})
}

// BenchmarkRead reads a details page of a thousand launches.
func BenchmarkRead(b *testing.B) {
	var in strings.Builder
	in.WriteString(newHeader)
	for range 1000 {
		in.WriteString(start + `"GPU Speed Of Light Throughput","Duration","ns","1,234,567",` + "\n")
		in.WriteString(start + `"GPU Speed Of Light Throughput","Memory Throughput","%","61.84",` + "\n")
		in.WriteString(start + `"Launch Statistics","Registers Per Thread","register/thread","32",` + "\n")
	}
	b.SetBytes(int64(in.Len()))
	for b.Loop() {
		c, err := Read(strings.NewReader(in.String()), "in", Limits{})
		if err != nil || len(c.Issues) > 0 {
			b.Fatal(err, c.Issues)
		}
	}
}
