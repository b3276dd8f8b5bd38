package hardware

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// near reports whether two numbers differ by at most a share of the second.
func near(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

// perCycle has the dense FLOPs of fp16 with accumulation in fp32 that an SM or compute unit
// does per cycle, by the beginning of the name of a device. The first that fits counts.
var perCycle = []struct {
	name string
	n    float64
}{
	{"NVIDIA GeForce", 512}, {"NVIDIA A10G", 512}, {"NVIDIA L40S", 1024}, {"NVIDIA L40", 512}, {"NVIDIA L20", 512},
	{"NVIDIA H", 4096}, {"NVIDIA GH", 4096}, {"NVIDIA B200", 8192},
	{"NVIDIA A100", 2048}, {"A100", 2048}, {"NVIDIA A800", 2048}, {"NVIDIA A30", 2048},
	{"NVIDIA", 1024}, {"Tesla", 1024}, {"Quadro", 1024},
	{"AMD Instinct MI2", 1024}, {"AMD Instinct MI100", 1024}, {"AMD Instinct MI35", 4096}, {"AMD Instinct MI3", 2048},
}

// TestDevicesClock: the rate of fp16 is SMs × clock × FLOPs per cycle wherever the table has
// a clock, and other rates have their ratio to it.
func TestDevicesClock(t *testing.T) {
	n := 0
	for _, d := range Devices() {
		if d.MHz == 0 {
			continue
		}
		n++
		i := slices.IndexFunc(perCycle, func(c struct {
			name string
			n    float64
		}) bool {
			return strings.HasPrefix(d.Names[0], c.name)
		})
		if want := float64(d.SMs) * d.MHz * perCycle[i].n / 1e6; !near(d.Peak[FP16], want, 0.015) {
			t.Errorf("%s: fp16 is %v, SMs × clock × %v is %.1f", d.Names[0], d.Peak[FP16], perCycle[i].n, want)
		}
		for f, ratio := range map[Figure]float64{TF32: 0.5, BF16: 1, FP8: 2} {
			if v := d.Peak[f]; v != 0 && !near(v, ratio*d.Peak[FP16], 0.02) && !(f == BF16 && strings.Contains(d.Names[0], "MI100")) {
				t.Errorf("%s: %s is %v, fp16 is %v", d.Names[0], f, v, d.Peak[FP16])
			}
		}
	}
	if n < 40 {
		t.Errorf("%d devices have a clock", n)
	}
}

// TestDevicesReference compares all figures with a table that was made independently.
func TestDevicesReference(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "shared", "reference", "EFFICIENCY.md"))
	if err != nil {
		t.Skip("no reference table")
	}
	var head []string
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if cells[0] == "device" {
			head = cells
			continue
		}
		if head == nil || len(cells) != len(head) || strings.HasPrefix(cells[0], "--") {
			continue
		}
		rows++
		for name := range strings.SplitSeq(cells[0], ";") {
			d := deviceNamed(builtIn, name)
			if d == nil {
				t.Errorf("no device %q", name)
				continue
			}
			for i, column := range head[1 : len(head)-1] {
				want, _ := strconv.ParseFloat(cells[i+1], 64) // "-" is 0
				got := d.Peak[FigureOf(column)]
				switch column {
				case "sms":
					got = float64(d.SMs)
				case "mhz":
					got = d.MHz
				}
				if got != want {
					t.Errorf("%s: %s is %v, want %v", name, column, got, want)
				}
			}
		}
	}
	if rows != len(builtIn) {
		t.Errorf("the table has %d rows, the reference %d", len(builtIn), rows)
	}
}

func TestPeaks(t *testing.T) {
	type want map[Figure]float64
	mi300 := Properties{SMs: 304, Memory: 206141652992, Major: 9, Minor: 4}
	for _, c := range []struct {
		name   string
		props  Properties
		source Source
		want   want // 0: not known
	}{
		{"by name", Properties{Name: "NVIDIA H100 80GB HBM3", SMs: 132}, FromTable, want{BF16: 989.4, HBM: 3352, Link: 450, FP4: 0}},
		{"virtual", Properties{Name: "NVIDIA H100 80GB HBM3 VF"}, FromTable, want{BF16: 989.4}},
		{"spaces and case", Properties{Name: "nvidia  h100 pcie "}, FromTable, want{BF16: 756}},
		{"a few SMs fewer", Properties{Name: "NVIDIA GB200", SMs: 148}, FromTable, want{BF16: 2500, HBM: 8000}},
		{"MIG of a quarter", Properties{Name: "NVIDIA A100-SXM4-40GB MIG 2g.10gb", SMs: 28}, FromTable, want{BF16: 312 * 28. / 108, HBM: 1555. / 4, Link: 0}},
		{"MIG of half of the memory", Properties{Name: "NVIDIA A100-SXM4-40GB MIG 3g.20gb", SMs: 42}, FromTable, want{BF16: 312 * 42. / 108, HBM: 1555. / 2}},
		{"MIG of an A30", Properties{Name: "NVIDIA A30 MIG 1g.6gb", SMs: 14}, FromTable, want{BF16: 165. / 4, HBM: 933. / 4}},
		{"MIG of unknown size", Properties{Name: "NVIDIA A100-SXM4-40GB MIG 3g.20gb"}, "", want{BF16: 0, HBM: 0}},
		{"CPX partition", Properties{Name: "AMD Instinct MI300X", SMs: 38}, FromTable, want{BF16: 1307.4 / 8, HBM: 5325. / 8, Link: 0}},
		{"SR-IOV", Properties{Name: "AMD Instinct MI300X VF", SMs: 304}, FromTable, want{BF16: 1307.4}},
		{"without a name", mi300, FromTable, want{BF16: 1307.4, HBM: 5325}},
		{"more memory", Properties{Name: "AMD Radeon Graphics", SMs: 304, Memory: 274877906944}, FromTable, want{BF16: 1307.4, HBM: 6000}},
		{"unknown memory", Properties{SMs: 304}, FromTable, want{BF16: 1307.4, HBM: 0, Link: 448}},
		{"one of two", Properties{SMs: 104, Memory: 68702699520}, FromTable, want{BF16: 181, HBM: 1638, Link: 0}},
		{"one of two that differ", Properties{SMs: 256, Memory: 309220868096}, FromTable, want{BF16: 0, HBM: 8000}},
		{"without name and size", Properties{}, "", nil},
		{"a consumer GPU of AMD", Properties{Name: "AMD Radeon RX 9070 XT", SMs: 32, Major: 12, Memory: 17095983104, ClockHz: 2e9}, "", nil},
		{"not a GPU", Properties{Name: "ARTEMIS"}, "", nil},
		{"bandwidth of the export", Properties{Name: "Tesla T4", SMs: 40, Bandwidth: 320064000000}, FromTable, want{FP16: 65, HBM: 320.064}},
		// Published: 29.8 and 59.5 TFLOP/s, 760 GB/s.
		{"RTX 3080", Properties{Name: "NVIDIA GeForce RTX 3080", SMs: 68, Major: 8, Minor: 6, ClockHz: 1710e6, Bandwidth: 760080000000}, Estimated, want{FP32: 29.8, FP16: 59.5, BF16: 59.5, TF32: 29.8, FP8: 0, HBM: 760.1, PCIe: 0}},
		// Published: 82.6 TFLOP/s fp16 of an A30 at 1440 MHz is 165; this part has another name.
		{"absurd clock", Properties{Name: "NVIDIA A30X", SMs: 56, Major: 8, Minor: 0, ClockHz: 1e18}, "", want{FP16: 0, FP32: 0}},
		{"absurd size", Properties{Name: "NVIDIA A30X", SMs: 1e18, Major: 8, Minor: 0, ClockHz: 1440e6}, "", want{FP16: 0, FP32: 0}},
		{"new name", Properties{Name: "NVIDIA A30X", SMs: 56, Major: 8, Minor: 0, ClockHz: 1440e6}, Estimated, want{FP16: 165, FP32: 10.3, HBM: 0}},
		{"without a clock", Properties{Name: "NVIDIA A30X", SMs: 56, Major: 8}, "", nil},
		{"unknown capability", Properties{Name: "NVIDIA Thor", SMs: 20, Major: 11, ClockHz: 1e9}, "", nil},
	} {
		p := Catalog{}.Peaks(c.props)
		if p.Source() != c.source {
			t.Errorf("%s: source %q, want %q: %+v", c.name, p.Source(), c.source, p)
		}
		if c.want == nil && p.Figures != (Figures{}) {
			t.Errorf("%s: %+v, want none", c.name, p)
		}
		for f, v := range c.want {
			if !near(p.Figures[f], v, 0.003) {
				t.Errorf("%s: %s is %v, want %v", c.name, f, p.Figures[f], v)
			}
		}
		for f, v := range p.Figures {
			if v != 0 != (p.Sources[f] != "") {
				t.Errorf("%s: %s is %v from %q", c.name, Figure(f), v, p.Sources[f])
			}
		}
	}
}

// TestUserPeaks: the user's figures replace those of the table, of the export and of an
// estimate, and figures of the command line those of a file.
func TestUserPeaks(t *testing.T) {
	own, err := ParseDevices([]byte(`
devices:
- name: [NVIDIA H100 80GB HBM3, NVIDIA H100 custom]
  peak: {bf16: 700, hbm: 3000}
  source: measured
- name: Accelerator 1
  spec: {sms: 100}
  peak: {fp16: 50}
`), "d.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c := Catalog{}.With(own, Figures{})
	p := c.Peaks(Properties{Name: "NVIDIA H100 80GB HBM3", Bandwidth: 3.3e12})
	if p.Figures[BF16] != 700 || p.Figures[HBM] != 3000 || p.Figures[FP16] != 989.4 || p.Sources[FP16] != FromTable || p.Sources[HBM] != FromUser || p.Source() != FromUser || p.Origin != "measured" {
		t.Errorf("%+v", p)
	}
	if table := (Catalog{}).Peaks(Properties{Name: "NVIDIA H100 80GB HBM3"}); table.MHz != 1830 || p.MHz != 0 {
		t.Errorf("clock %g of the table, %g of the user's rates; want 1830 and none", table.MHz, p.MHz)
	}
	if p := (Catalog{}).With(nil, Figures{HBM: 3000}).Peaks(Properties{Name: "NVIDIA H100 80GB HBM3"}); p.MHz != 1830 {
		t.Errorf("a bandwidth changes the clock to %g MHz", p.MHz)
	}
	if p := c.Peaks(Properties{Name: "Accelerator 1", SMs: 50}); p.Figures[FP16] != 25 {
		t.Errorf("half of the device: %+v", p)
	}
	set, err := ParseFigures("bf16=650, HBM=2900")
	if err != nil {
		t.Fatal(err)
	}
	for _, props := range []Properties{{Name: "NVIDIA H100 80GB HBM3"}, {Name: "nothing known"}, {}} {
		p := c.With(nil, set).Peaks(props)
		if p.Figures[BF16] != 650 || p.Figures[HBM] != 2900 || p.Source() != FromUser {
			t.Errorf("%q: %+v", props.Name, p)
		}
	}
}

// TestDevicesMistakes: a mistake in a table has a line and a remedy.
func TestDevicesMistakes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "1: no devices: want a list called devices"},
		{"rules: []", `1: unknown field "rules", want the list devices, and nothing else`},
		{"devices: []", "1: devices: want a list of at least one device"},
		{"devices:\n- 3", "2: want a mapping of name, peak and spec, got int"},
		{"devices:\n- peak: {fp16: 3}", "2: the device has no name: want name, as captures have it"},
		{"devices:\n- name: X", `2: device "X" has no peak: want a mapping with one of fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, hbm, link, pcie, c2c`},
		{"devices:\n- name: X\n  peak: {fp16: 3}\n- name: [Y, x]\n  peak: {fp16: 3}", `4: device "x" is already in line 2`},
		{"devices:\n- name: X\n  peak:\n    fp17: 3", `4: unknown figure "fp17", want one of fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, hbm, link, pcie, c2c`},
		{"devices:\n- name: X\n  peak:\n    fp16: fast", `4: fp16: "fast" is no peak, want a number from 0.001 to 10000000 in 10^12 operations/s`},
		{"devices:\n- name: X\n  peak: {hbm: 3352000000000}", `3: hbm: "3352000000000" is no peak, want a number from 0.001 to 10000000 in 10^9 bytes/s`},
		{"devices:\n- name: X\n  peak: {hbm: .nan}", `3: hbm: ".nan" is no peak, want a number from 0.001 to 10000000 in 10^9 bytes/s`},
		{"devices:\n- name: X\n  peak: {hbm: 0}", `3: hbm: "0" is no peak, want a number from 0.001 to 10000000 in 10^9 bytes/s`},
		{"devices:\n- name: X\n  hbm: 3", `3: unknown field "hbm", want name, spec, peak, source or note`},
		{"devices:\n- name: X\n  spec: {sms: 1.5}\n  peak: {hbm: 3}", `3: sms: "1.5": want a whole number`},
		{"devices:\n- name: ''\n  peak: {hbm: 3}", "2: name: want the name that captures have, got an empty one"},
	} {
		_, err := ParseDevices([]byte(c.text), "d.yaml")
		if err == nil || err.Error() != "d.yaml:"+c.want {
			t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"":                "\"\": want FIGURE=NUMBER, as bf16=989.4",
		"bf16":            "\"bf16\": want FIGURE=NUMBER, as bf16=989.4",
		"bf16=1,":         "\"\": want FIGURE=NUMBER, as bf16=989.4",
		"bf16=1,bf16=2":   "bf16 is given twice",
		"bf16=1e-308":     `bf16: "1e-308" is no peak, want a number from 0.001 to 10000000 in 10^12 operations/s`,
		"hbm=0.00099":     `hbm: "0.00099" is no peak, want a number from 0.001 to 10000000 in 10^9 bytes/s`,
		"bf17=1":          `unknown figure "bf17", want one of fp64, fp32, tf32, fp16, bf16, fp8, fp4, int8, hbm, link, pcie, c2c`,
		"bf16=989.4TFLOP": `bf16: "989.4TFLOP" is no peak, want a number from 0.001 to 10000000 in 10^12 operations/s`,
	} {
		if _, err := ParseFigures(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestForms: a figure may be in capitals, as in --set-peak, and a table may be JSON in one line.
func TestForms(t *testing.T) {
	for _, text := range []string{"devices:\n- name: X\n  peak: {BF16: 800}", `{"devices": [{"name": "X", "peak": {"bf16": 800}}]}`} {
		rows, err := ParseDevices([]byte(text), "d.yaml")
		if err != nil || len(rows) != 1 || rows[0].Peak != (Figures{BF16: 800}) || rows[0].Names[0] != "X" {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
}

// TestUnmatched: a device of the user that no GPU has is named with the GPUs that there are.
func TestUnmatched(t *testing.T) {
	c := Catalog{}.With([]Device{{Names: []string{"H100"}}, {Names: []string{"nvidia h100  80GB hbm3", "other"}}}, Figures{})
	if got := c.Unmatched([]string{"NVIDIA H100 80GB HBM3 MIG 1g.10gb"}); len(got) != 1 || got[0] != "H100" {
		t.Errorf("%q", got)
	}
	if got := c.Unmatched(nil); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

// FuzzParseDevices: whatever a table has, it gives devices with names and usable figures, or an
// error in one line that starts with the name and the number of a line.
func FuzzParseDevices(f *testing.F) {
	f.Add([]byte("devices:\n- name: [X, Y]\n  spec: {sms: 132, mhz: 1830}\n  peak: {bf16: 989.4}\n  source: data sheet\n"))
	f.Add(devicesYAML[:2000])
	f.Add([]byte("devices:\n- name: {a: b}\n  peak: [1]\n"))
	f.Add([]byte("devices:\n- name: !!binary x\n  peak: {? hbm : ~}\n  note: |\n   a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := ParseDevices(text, "d.yaml")
		if err != nil {
			line, _, ok := strings.Cut(strings.TrimPrefix(err.Error(), "d.yaml:"), ":")
			if n, bad := strconv.Atoi(line); !ok || bad != nil || n < 1 || strings.Contains(err.Error(), "\n") {
				t.Fatalf("error %q", err)
			}
			return
		}
		for _, d := range rows {
			if len(d.Names) == 0 || d.Peak == (Figures{}) || d.SMs < 0 {
				t.Fatalf("%+v", d)
			}
			for _, v := range d.Peak {
				if v != 0 && !(v >= 0.001 && v <= 1e7) {
					t.Fatalf("%+v", d)
				}
			}
			if p := (Catalog{}).With(rows, Figures{}).Peaks(Properties{Name: d.Names[0]}); p.Source() != FromUser && !strings.Contains(strings.ToUpper(d.Names[0]), " MIG") && !strings.HasSuffix(d.Names[0], " VF") {
				t.Fatalf("%q is not found: %+v", d.Names[0], p)
			}
		}
	})
}

// TestOtherDevices: devices that are no GPUs of NVIDIA or AMD have the figures of their documentation.
func TestOtherDevices(t *testing.T) {
	for name, want := range map[string]Figures{
		"TPU v4":                            {BF16: 275, HBM: 1228},
		"TPU v5 lite":                       {BF16: 197, HBM: 819},
		"TPU v6e":                           {BF16: 918, HBM: 1638},
		"TPU7x":                             {BF16: 2307.0 / 2, FP8: 4614.0 / 2, HBM: 7380.0 / 2},                // a chip is two devices
		"Intel(R) Data Center GPU Max 1550": {FP32: 512 * 16 * 2 * 1.6e9 / 1e12, BF16: 512 * 512 * 1.6e9 / 1e12}, // 512 engines of a stack
		"GAUDI3":                            {BF16: 1835, HBM: 3700},
		"Ascend910_9392":                    {FP16: 800.0 / 2, HBM: 3200.0 / 2},
	} {
		p := Catalog{}.Peaks(Properties{Name: name})
		for f, v := range want {
			if v > 0 && !near(p.Figures[f], v, 0.01) {
				t.Errorf("%s: %s is %v, want %v", name, Figure(f), p.Figures[f], v)
			}
		}
		if p.Origin == "" {
			t.Errorf("%s has no source", name)
		}
	}
}
