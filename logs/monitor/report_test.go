package monitor

import (
	"fmt"
	"strings"
	"testing"

	"assay/logs"
)

// A smi is what a report of nvidia-smi says of one GPU.
type smi struct {
	bus                        string
	util, temp, width, dramUnc int
	heat                       bool
}

func active(on bool) string {
	if on {
		return "Active"
	}
	return "Not Active"
}

// smiText is the text of "nvidia-smi -q" on a host with the given number of GPUs.
func smiText(second, attached int, gpus ...smi) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n==============NVSMI LOG==============\n\nTimestamp      : Fri Mar  6 04:05:%02d 2026\nDriver Version : 575.57.08\nCUDA Version   : 12.9\n\nAttached GPUs  : %d\n", second, attached)
	for _, g := range gpus {
		fmt.Fprintf(&b, "GPU %s\n    Product Name : NVIDIA L40S\n    MIG Device\n        FB Memory Usage\n            Used : 7 MiB\n    PCI\n        GPU Link Info\n            PCIe Generation\n                Max : 4\n                Current : 4\n            Link Width\n                Max : 16x\n                Current : %dx\n", g.bus, g.width)
		fmt.Fprintf(&b, "    Clocks Event Reasons\n        Idle : Not Active\n        SW Power Cap : Not Active\n        HW Slowdown : %s\n            HW Thermal Slowdown : %[1]s\n            HW Power Brake Slowdown : Not Active\n        SW Thermal Slowdown : Not Active\n", active(g.heat))
		fmt.Fprintf(&b, "    FB Memory Usage\n        Total : 46068 MiB\n        Used : 1024 MiB\n        Free : 45044 MiB\n    Utilization\n        GPU : %d %%\n        Memory : 3 %%\n", g.util)
		fmt.Fprintf(&b, "    ECC Errors\n        Volatile\n            SRAM Correctable : 0\n            SRAM Uncorrectable Parity : 1\n            SRAM Uncorrectable SEC-DED : 0\n            DRAM Correctable : 0\n            DRAM Uncorrectable : %d\n        Aggregate\n            DRAM Uncorrectable : 900\n    Retired Pages\n        Single Bit ECC : N/A\n    Remapped Rows\n        Pending : No\n", g.dramUnc)
		fmt.Fprintf(&b, "    Temperature\n        GPU Current Temp : %d C\n    GPU Power Readings\n        Average Power Draw : 210.50 W\n        Current Power Limit : 350.00 W\n    GPU Memory Power Readings\n        Average Power Draw : 40.00 W\n    Clocks\n        Graphics : 900 MHz\n        SM : 930 MHz\n    Max Clocks\n        SM : 2520 MHz\n    Processes\n        Process ID : 71\n            Used GPU Memory : 1000 MiB\n", g.temp)
	}
	return b.String()
}

// smiXML is the same report as XML.
func smiXML(second, attached int, gpus ...smi) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<?xml version=\"1.0\" ?>\n<!DOCTYPE nvidia_smi_log SYSTEM \"nvsmi_device_v12.dtd\">\n<nvidia_smi_log>\n\t<timestamp>Fri Mar  6 04:05:%02d 2026</timestamp>\n\t<driver_version>575.57.08</driver_version>\n\t<attached_gpus>%d</attached_gpus>\n", second, attached)
	for _, g := range gpus {
		fmt.Fprintf(&b, "<gpu id=\"%s\">\n<product_name>NVIDIA L40S</product_name><mig_devices><mig_device><fb_memory_usage><used>7 MiB</used></fb_memory_usage></mig_device></mig_devices>\n<pci><pci_gpu_link_info><pcie_gen><max_link_gen>4</max_link_gen><current_link_gen>4</current_link_gen></pcie_gen><link_widths><max_link_width>16x</max_link_width><current_link_width>%dx</current_link_width></link_widths></pci_gpu_link_info></pci>\n", g.bus, g.width)
		fmt.Fprintf(&b, "<clocks_event_reasons><clocks_event_reason_gpu_idle>Not Active</clocks_event_reason_gpu_idle><clocks_event_reason_sw_power_cap>Not Active</clocks_event_reason_sw_power_cap><clocks_event_reason_hw_slowdown>%s</clocks_event_reason_hw_slowdown><clocks_event_reason_hw_thermal_slowdown>%[1]s</clocks_event_reason_hw_thermal_slowdown></clocks_event_reasons>\n", active(g.heat))
		fmt.Fprintf(&b, "<fb_memory_usage><total>46068 MiB</total><used>1024 MiB</used></fb_memory_usage><utilization><gpu_util>%d %%</gpu_util><memory_util>3 %%</memory_util></utilization>\n", g.util)
		fmt.Fprintf(&b, "<ecc_errors><volatile><sram_uncorrectable_parity>1</sram_uncorrectable_parity><dram_uncorrectable>%d</dram_uncorrectable></volatile><aggregate><dram_uncorrectable>900</dram_uncorrectable></aggregate></ecc_errors><remapped_rows><remapped_row_pending>No</remapped_row_pending></remapped_rows>\n", g.dramUnc)
		fmt.Fprintf(&b, "<temperature><gpu_temp>%d C</gpu_temp></temperature><gpu_power_readings><average_power_draw>210.50 W</average_power_draw><current_power_limit>350.00 W</current_power_limit></gpu_power_readings><gpu_memory_power_readings><power_draw>40 W</power_draw></gpu_memory_power_readings><clocks><sm_clock>930 MHz</sm_clock></clocks><max_clocks><sm_clock>2520 MHz</sm_clock></max_clocks></gpu>\n", g.temp)
	}
	return b.String() + "</nvidia_smi_log>\n"
}

func xmlLog(t *testing.T, text string) *logs.Log {
	t.Helper()
	if !SniffXML([]byte(text)) {
		t.Error("the XML is not recognized")
	}
	log, err := ReadXML(strings.NewReader(text), "smi.xml", logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func reportedOf(log *logs.Log, metric, gpu string) (out []float64) {
	for _, s := range log.Series {
		if s.Metric.Name == metric && s.Label("gpu") == gpu {
			out = append(out, s.Points.Value...)
		}
	}
	return out
}

// TestReport: text and XML of three reports of two GPUs have the same values.
func TestReport(t *testing.T) {
	var text, doc string
	for n := range 3 {
		gpus := []smi{{"00000000:41:00.0", 90 + n, 50, 16, 2, false}, {"00000000:C1:00.0", 80, 87, 8, 0, n > 0}}
		text += smiText(10*n, 2, gpus...)
		doc += smiXML(10*n, 2, gpus...)
	}
	for form, log := range map[string]*logs.Log{"text": textLog(t, text), "XML": xmlLog(t, doc)} {
		for _, tc := range []struct {
			metric, gpu string
			want        []float64
		}{
			{"gpu.util", "0", []float64{0.90, 0.91, 0.92}}, {"gpu.util", "1", []float64{0.8, 0.8, 0.8}},
			{"gpu.temperature", "1", []float64{87, 87, 87}}, {"gpu.power", "0", []float64{210.5, 210.5, 210.5}},
			{"gpu.clock", "0", []float64{930e6, 930e6, 930e6}}, {"gpu.clock_max", "1", []float64{2520e6, 2520e6, 2520e6}},
			{"gpu.pcie_width", "1", []float64{8, 8, 8}}, {"gpu.pcie_width_max", "1", []float64{16, 16, 16}},
			{"gpu.throttled", "1", []float64{0, 1, 1}}, {"gpu.slowed_by_heat", "1", []float64{0, 1, 1}},
			{"gpu.slowed_by_heat", "0", nil}, {"gpu.slowed_by_supply", "1", nil}, {"gpu.slowed_by_power_limit", "1", nil},
			{"gpu.ecc_uncorrected", "0", []float64{3, 3, 3}}, {"gpu.ecc_uncorrected", "1", []float64{1, 1, 1}},
			{"memory.used", "0", []float64{1 << 30, 1 << 30, 1 << 30}}, {"gpu.retired_pages", "0", nil}, {"gpu.remap_pending", "0", nil},
		} {
			got := reportedOf(log, tc.metric, tc.gpu)
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("%s: %s of GPU %s is %v, want %v", form, tc.metric, tc.gpu, got, tc.want)
			}
		}
		if log.Records != 6 || !log.Complete {
			t.Errorf("%s: %d records, complete %v", form, log.Records, log.Complete)
		}
		if len(log.Settings) != 2 || log.Settings[0].Value != "575.57.08" || log.Settings[1].Value != "NVIDIA L40S" || log.Settings[1].Varies {
			t.Errorf("%s: settings %+v", form, log.Settings)
		}
		times := log.Series[0].Points.Time
		if len(times) != 3 || times[1]-times[0] != 10*second {
			t.Errorf("%s: times %v", form, times)
		}
	}
}

// TestReportOfSomeGPUs: the numbers of GPUs are unknown if the report does not have all.
func TestReportOfSomeGPUs(t *testing.T) {
	log := textLog(t, smiText(0, 8, smi{"00000000:C1:00.0", 75, 60, 16, 0, false}))
	if got := reportedOf(log, "gpu.util", "00000000:C1:00.0"); len(got) != 1 || got[0] != 0.75 {
		t.Errorf("use is %v", got)
	}
}

// TestQuoted: reports and panels that are quoted in Markdown.
func TestQuoted(t *testing.T) {
	panel := "+---+\n| NVIDIA-SMI 550.54.15   Driver Version: 550.54.15   CUDA Version: 12.4 |\n|   0  NVIDIA H100 80GB HBM3   On  |   00000000:18:00.0 Off |   0 |\n" +
		"| N/A   64C    P0            631W /  700W |   71234MiB /  81559MiB |    75%      Default |\n"
	for _, text := range []string{panel, smiText(0, 1, smi{"00000000:C1:00.0", 75, 60, 16, 0, false})} {
		log := textLog(t, "As you see:\n\n> "+strings.ReplaceAll(text, "\n", "\n> ")+"\nThat is all.\n")
		if got := reportedOf(log, "gpu.util", "0"); len(got) != 1 || got[0] != 0.75 {
			t.Errorf("use is %v of\n%s", got, text)
		}
	}
}

// TestNoReport: lines that look like values of a report behind another text, and XML of others.
func TestNoReport(t *testing.T) {
	report := smiText(0, 1, smi{"00000000:C1:00.0", 75, 60, 16, 0, false})
	log := textLog(t, report+"epoch 1\n    Utilization\n        GPU : 5 %\n    Temperature\n        GPU Current Temp : 20 C\n")
	if got := reportedOf(log, "gpu.util", "0"); len(got) != 1 || got[0] != 0.75 {
		t.Errorf("use is %v", got)
	}
	if log := textLog(t, "    Utilization\n        GPU : 5 %\n"); !log.Empty() {
		t.Error("values without a report are read")
	}
	if SniffXML([]byte("<?xml version=\"1.0\"?>\n<note>nvidia_smi_log</note>")) {
		t.Error("another XML is taken for a report")
	}
	cut := smiXML(0, 1, smi{"00000000:C1:00.0", 75, 60, 16, 0, false})
	cut = cut[:strings.Index(cut, "<clocks>")]
	if log := xmlLog(t, cut); log.Complete || len(log.Issues) != 1 || len(reportedOf(log, "gpu.util", "0")) != 1 {
		t.Errorf("a report that is cut off: complete %v, %d issues", log.Complete, len(log.Issues))
	}
}

func FuzzXML(f *testing.F) {
	f.Add(smiXML(1, 1, smi{"00000000:C1:00.0", 75, 60, 16, 0, true}))
	f.Add("<nvidia_smi_log><gpu><a><b>1</b></gpu></gpu></nvidia_smi_log>")
	f.Fuzz(func(t *testing.T, text string) {
		log, err := ReadXML(strings.NewReader(text), "f", logs.Limits{})
		if err == nil && log == nil {
			t.Error("no log and no error")
		}
	})
}
