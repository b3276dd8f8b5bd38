package monitor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/logs"
)

// TestMIG: a MIG device has a power and no utilization, in dmon and in a query. It must not
// appear as idle.
func TestMIG(t *testing.T) {
	// Trap: MIG '-'.
	for name, text := range map[string]string{
		"dmon":  "# gpu    pwr  gtemp     sm    mem    enc    dec    jpg    ofa   mclk\n# Idx      W      C      %      %      %      %      %      %    MHz\n    0    438     51      -      -      -      -      -      -   2619\n",
		"query": "index, power.draw [W], temperature.gpu, utilization.gpu [%], utilization.memory [%], clocks.mem [MHz]\n0, 438.00 W, 51, [N/A], [N/A], 2619 MHz\n",
	} {
		log := textLog(t, text)
		equal(t, name+": power", valuesOf(log, "gpu.power", "gpu=0"), 438)
		equal(t, name+": memory clock", valuesOf(log, "gpu.memory_clock"), 2619e6)
		for _, metric := range []string{"gpu.util", "gpu.memory_util"} {
			equal(t, name+": "+metric, valuesOf(log, metric))
		}
		for _, s := range log.Series {
			if s.Metric.Name == "gpu.util" && (s.N != 0 || s.Missing != 1) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestPmonColumns: newer drivers have more columns before the command, and the command is cut.
func TestPmonColumns(t *testing.T) {
	// Trap: pmon with spaces, with the columns of newer drivers.
	log := textLog(t, `# gpu         pid   type     sm    mem    enc    dec    jpg    ofa     fb   ccpm    command
# Idx           #    C/G      %      %      %      %      %      %     MB     MB    name
    0        4711   C+G      12      3      -      -      -      -   2048      0    VLLM::Engine Co
    0        4712     C       -      -      -      -      -      -     64      0    sglang::schedul
    1           -     -       -      -      -      -      -      -      -      -    -
`)
	equal(t, "use", valuesOf(log, "gpu.process_util"), 0.12)
	equal(t, "memory", valuesOf(log, "gpu.process_memory", "process=VLLM::Engine Co 4711"), 2<<30)
	equal(t, "memory", valuesOf(log, "gpu.process_memory", "process=sglang::schedul 4712"), 64<<20)
	for _, s := range log.Series {
		if s.Label("gpu") != "0" {
			t.Errorf("GPU 1 has no process: %+v", s)
		}
	}
}

// TestMissingTexts: whatever a query prints for a value that it has not is missing.
func TestMissingTexts(t *testing.T) {
	// Trap: deprecated texts, N/A with and without brackets, and empty fields: missing is not zero.
	for _, text := range []string{"[Requested functionality has been deprecated]", "[N/A]", "N/A", "", "[Not Supported]", "[Unknown Error]", "[GPU is lost]"} {
		log := textLog(t, "index, power.draw [W], utilization.gpu [%]\n0, 100.50 W, "+text+"\n0, "+text+", 7 %\n")
		equal(t, text+": power", valuesOf(log, "gpu.power"), 100.5)
		equal(t, text+": use", valuesOf(log, "gpu.util"), 0.07)
		for _, as := range []string{"power.draw", "utilization.gpu"} {
			for _, s := range log.Series {
				if s.As == as && s.Missing != 1 {
					t.Errorf("%q of %s: %+v", text, as, s)
				}
			}
		}
	}
}

// TestQueryUnits: the units of a query are those of its columns, with and without a unit
// behind the value.
func TestQueryUnits(t *testing.T) {
	const head = "index, memory.used [MiB], utilization.gpu [%], power.draw [W], clocks.current.sm [MHz], clocks_event_reasons_counters.sw_power_cap [us]\n"
	for name, row := range map[string]string{
		// Trap: units of the CSV of a query.
		"units":   "0, 2048 MiB, 25 %, 631.50 W, 1980 MHz, 1500000 us\n",
		"nounits": "0, 2048, 25, 631.50, 1980, 1500000\n",
	} {
		log := textLog(t, head+row)
		equal(t, name+": memory", valuesOf(log, "memory.used"), 2<<30)
		equal(t, name+": use", valuesOf(log, "gpu.util"), 0.25)
		equal(t, name+": power", valuesOf(log, "gpu.power"), 631.5)
		equal(t, name+": clock", valuesOf(log, "gpu.clock"), 1.98e9)
		equal(t, name+": throttled, by a counter that only grows", valuesOf(log, "gpu.throttled"))
	}
	for _, text := range []string{"index, power.draw [mW], temperature.gpu\n0, 631500, 50\n", "index, power.draw [kW], temperature.gpu\n0, 0.6315, 50\n",
		"index, power.draw, temperature.gpu\n0, 631500 mW, 50\n"} {
		equal(t, text, valuesOf(textLog(t, text), "gpu.power"), 631.5)
	}
}

// TestThrottleBits: each reason is a bit, and some do not mean a limit.
func TestThrottleBits(t *testing.T) {
	for bits, want := range map[uint64]float64{
		// Trap: throttle bit masks (idle, settings of applications, sync boost and display do not count).
		0: 0, 0x1: 0, 0x2: 0, 0x10: 0, 0x100: 0, 0x113: 0,
		// Power cap, hardware slowdown, thermal of software and hardware, power brake, and with idle.
		0x4: 1, 0x8: 1, 0x20: 1, 0x40: 1, 0x80: 1, 0x5: 1,
	} {
		for _, column := range []string{"clocks_event_reasons.active", "clocks_throttle_reasons.active"} {
			log := textLog(t, fmt.Sprintf("index, utilization.gpu [%%], %s\n0, 5 %%, 0x%016x\n", column, bits))
			equal(t, fmt.Sprintf("%s %#x", column, bits), valuesOf(log, "gpu.throttled"), want)
		}
		log := textLog(t, fmt.Sprintf("GPUId,TimeStampUs,Field,Values\n0,1718783836956328,current_clock_throttle_reasons,%d\n", bits))
		equal(t, fmt.Sprintf("DCGM %#x", bits), valuesOf(log, "gpu.throttled"), want)
	}
	log := textLog(t, "index, utilization.gpu [%], clocks_event_reasons.active\n0, 5 %, [N/A]\n")
	equal(t, "an unknown mask", valuesOf(log, "gpu.throttled"))
}

// TestPanelLoop: panels over midnight have the dates that are above them, and rows of MIG
// devices and of processes are none of a GPU.
func TestPanelLoop(t *testing.T) {
	const panel = `
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|   0  NVIDIA H100 80GB HBM3          On  |   00000000:1B:00.0 Off |                   On |
| N/A   41C    P0            438W /  700W |    1024MiB /  81559MiB |     N/A      Default |
|  0    7   0   0  |              11MiB /  9984MiB    | 16      0 |  1   0    1    0    1 |
|                  |               0MiB / 16383MiB    |           |                       |
|  10  NVIDIA A100                    On  |   00000000:4A:00.0 Off |                    0 |
| 33%   30C    P8    N/A /  N/A           |       4MiB /  81920MiB |      0%      Default |
|   10   N/A  N/A      3977      C   python                                        512MiB |
`
	// Trap: panel loop (a date above each panel).
	log := textLog(t, "Thu Oct 31 23:59:30 2024"+panel+"Fri Nov  1 00:00:00 2024"+panel)
	equal(t, "power", valuesOf(log, "gpu.power", "gpu=0"), 438, 438)
	equal(t, "power of 10", valuesOf(log, "gpu.power", "gpu=10"))
	equal(t, "use", valuesOf(log, "gpu.util", "gpu=0"))
	equal(t, "use of 10", valuesOf(log, "gpu.util", "gpu=10"), 0, 0)
	equal(t, "memory", valuesOf(log, "memory.used"), 1<<30, 1<<30, 4<<20, 4<<20)
	s := seriesOf(t, log, "gpu.temperature", "temp")
	start := time.Date(2024, 10, 31, 23, 59, 30, 0, time.UTC).UnixNano()
	if len(s.Points.Time) != 2 || s.Points.Time[0] != start || s.Points.Time[1] != start+30*second {
		t.Errorf("times are %v", s.Points.Time)
	}
}

// TestRocmKeys: each version of ROCm has other names of the same values, all of them texts.
func TestRocmKeys(t *testing.T) {
	// Trap: rocm-smi JSON key changes.
	for _, power := range []string{"Average Graphics Package Power (W)", "Current Socket Graphics Package Power (W)", "Current Socket Power (W)"} {
		for _, clock := range []string{"(1402Mhz)", "1402Mhz", "1402MHz"} {
			text := `{"card3": {"Temperature (Sensor edge) (C)": "40.0", "Temperature (Sensor junction) (C)": "61.0", "Temperature (Sensor memory) (C)": "52.0", "` + power +
				`": "300.5", "Max Graphics Package Power (W)": "750.0", "sclk clock speed:": "` + clock + `", "GPU use (%)": "0", "GPU Memory Allocated (VRAM%)": "N/A"}, "system": {"Driver version": "6.2"}}`
			log, err := ReadJSON(strings.NewReader(text), "x", logs.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			equal(t, power, valuesOf(log, "gpu.power", "gpu=3"), 300.5)
			equal(t, "clock "+clock, valuesOf(log, "gpu.clock"), 1402e6)
			equal(t, "temperature", valuesOf(log, "gpu.temperature"), 61)
			equal(t, "memory temperature", valuesOf(log, "gpu.memory_temperature"), 52)
			equal(t, "use", valuesOf(log, "gpu.util"), 0)
			equal(t, "memory, which is not known", valuesOf(log, "memory.usage"))
		}
	}
}

// TestDCGMMissing: in both forms of DCGM the first samples have no values.
func TestDCGMMissing(t *testing.T) {
	// Trap: dcgmi N/A (first samples, the highest GPU first, and an entity of two words).
	log := textLog(t, `#Entity   NVLTX       POWER      GPUTL
ID                        W
GPU 1     N/A         N/A        N/A
GPU 0     N/A         N/A        N/A
GPU 1     1024        70.5       N/A
#Entity   NVLTX       POWER      GPUTL
ID                        W
GPU 0     0           350.25     0
`)
	equal(t, "power of 0", valuesOf(log, "gpu.power", "gpu=0"), 350.25)
	equal(t, "power of 1", valuesOf(log, "gpu.power", "gpu=1"), 70.5)
	equal(t, "use of 0", valuesOf(log, "gpu.util", "gpu=0"), 0)
	equal(t, "use of 1", valuesOf(log, "gpu.util", "gpu=1"))
	// Trap: DCGM long form (µs since 1970, one field in a row).
	log = textLog(t, "GPUId,TimeStampUs,Field,Values\n0,1718783836000001,gpu_utilization,N/A\n0,1718783837000001,gpu_utilization,100\n0,1718783837000001,fb_used,\n")
	s := seriesOf(t, log, "gpu.util", "gpu_utilization")
	if s.N != 1 || s.Missing != 1 || s.Max != 1 || s.Points.Time[0] != 1718783837000001000 {
		t.Errorf("%+v", s)
	}
	equal(t, "memory", valuesOf(log, "memory.used"))
}

// TestBarBefore: the bar of a job in the same terminal is before a heading, and has no end
// of its line.
func TestBarBefore(t *testing.T) {
	// Trap: lone carriage returns.
	bars := strings.Repeat(" 10%|#         | 1/9 [00:01<00:09,  1.00it/s]\r", 20)
	log := textLog(t, bars+"# gpu   pwr    sm\r\n# Idx     W     %\r\n"+bars+"    0   300    95\r\n    0   310    96\n")
	equal(t, "use", valuesOf(log, "gpu.util"), 0.95, 0.96)
}

// TestDecimalComma: programs of other locales write a comma in a fraction.
func TestDecimalComma(t *testing.T) {
	// Trap: decimal comma.
	log := textLog(t, "Linux 6.1 (vm) \t11/20/26 \t_x86_64_\t(2 CPU)\n\n11:57:33     CPU    %usr   %nice    %sys %iowait   %idle\n11:57:34     all    1,06    0,00    0,50    0,25   98,19\n")
	equal(t, "waiting", valuesOf(log, "host.iowait", "cpu=all"), 0.0025)
	equal(t, "idle", valuesOf(log, "host.cpu_idle"), 0.9819)
}
