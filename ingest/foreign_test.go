package ingest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/ingest/refused"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// loadNamed loads a file of the given name and content.
func loadNamed(t *testing.T, name, content string) (*Input, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return loadPath(t, path)
}

func loadPath(t *testing.T, path string) (*Input, error) {
	t.Helper()
	f, err := Open(path, nil)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Load(f, trace.SelectAll())
}

// TestForeign: files of other programs are refused by their name, whatever reader
// would guess that they are its own, and text only where no table is in it.
func TestForeign(t *testing.T) {
	gzipped := func(text string) string { return string(gz(t, text)) }
	long := strings.Repeat("2026-01-02 03:04:05 INFO loading weights of layer\n", 8000) // over the sample at the head
	for name, tt := range map[string]struct{ file, content, want string }{
		"steps of Ascend":           {"step_trace_time.csv", "Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Stage,Bubble\n1,2,3,4,5,6,7\n", "step_trace_time.csv) of Ascend"},
		"an array of other objects": {"runs.json", `[{"batch_size":1,"mode":"FULL"},{"batch_size":2}]`, "objects are not events"},
		"veRL without a step":       {"train.log", long + "step:1 - timing_s/gen:\n", "a training log of veRL without a record"},
		"a server without requests": {"server.log", "[2026-01-02] server_args=ServerArgs(model_path='m')\n" + long, "a log of an SGLang server without a record"},
		"a result of vLLM":          {"result.json", `{"date":"20260102","tokenizer_id":"m","request_rate":1.0}`, "vLLM benchmark result"},
		"Firefox":                   {"p.json", `{"meta":{"interval":1,"markerSchema":[]},"threads":[]}`, "Firefox"},
		"rocpd":                     {"x.db", "SQLite format 3\x00" + strings.Repeat("\x00", 200) + "CREATE TABLE `rocpd_string_1` (id)", "rocprofv3 (rocpd)"},
		"gzip in gzip in gzip":      {"t.json.gz", gzipped(gzipped(gzipped(`{"traceEvents":[]}`))), "is compressed more than twice"},
		"zeros":                     {"t.json", strings.Repeat("\x00", 1_000_003), "consists of 1000003 bytes of zeros"},
		"zeros at the beginning":    {"t.json", strings.Repeat("\x00", 300_001) + `{"traceEvents":[]}`, "begins with 300001 bytes of zeros"},
		"zeros in gzip":             {"t.json.gz", gzipped(strings.Repeat("\x00", 500_000)), "consists of 500000 bytes of zeros"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := loadNamed(t, tt.file, tt.content)
			var r *Refusal
			if !errors.As(err, &r) || !strings.Contains(r.What, tt.want) || r.Do == "" {
				t.Errorf("%+v, %v; want a refusal with %q", in, err, tt.want)
			}
		})
	}
}

// TestForeignTables: tables in the logs of trainers and servers are read.
func TestForeignTables(t *testing.T) {
	for name, head := range map[string]string{
		"a server":      "[2026-01-02 03:04:05] Decode batch. #running-req: 3\n",
		"a trainer":     "step:1 - timing_s/gen:5.5\n",
		"a monitor":     "index, utilization.gpu [%], memory.used [MiB]\n0, 7 %, 12 MiB\n",
		"flops and all": "-------------------------- DeepSpeed Flops Profiler --------------------------\n",
	} {
		in, err := loadNamed(t, "run.log", head+logged(50)+nsysTable)
		if err != nil || in.Tables == nil || len(in.Tables.List) != 1 {
			t.Errorf("%s: %+v, %v; want one table", name, in, err)
		}
	}
}

// corpusNames has, for files of the corpus, the row of the table by which they
// are refused. A folder stands for all files in it but their README.
var corpusNames = map[string]string{
	"inputs/ascend/msprof_analyze_cluster_step_trace_time.csv": "ascend-step-trace",
	"inputs/ascend/msprof_analyze_cluster_communication.json":  "ascend-communication",
	"inputs/xplane/tracelens_jax_conv_minimal_goldens":         "tracelens-csv",
	"series/dcgm":                                                            "dcgm-csv",
	"series/deepspeed":                                                       "deepspeed-log",
	"series/gpu_metrics":                                                     "prometheus",
	"series/lightning":                                                       "metrics-csv",
	"series/loadgen/louskac__deep-vision":                                    "locust-csv",
	"series/loadgen/ray-project__llmperf-leaderboard":                        "llmperf",
	"series/loadgen/scottgal__mostlyucid-nmt":                                "k6",
	"series/megatron":                                                        "megatron-log",
	"series/mlperf":                                                          "mlperf-log",
	"series/nccl_tests":                                                      "nccl-tests",
	"series/nemo_rl":                                                         "nemo-rl-log",
	"series/nvidia_smi/guanqun-yang__SlurmMWE":                               "nvidia-smi",
	"series/sglang_bench/bowenwan6__sglang-vllm-profiler":                    "sglang-bench",
	"series/sglang_bench/datacrunch-research__h200-benchmarks":               "sglang-bench",
	"series/sglang_bench/Tomorrowdawn__VLMWalk":                              "sglang-bench",
	"series/sglang_server/shun8686__for_debug":                               "sglang-server-log",
	"series/skyrl":                                                           "skyrl-log",
	"series/sysmon/WOWSCpp__new_test_res":                                    "iostat",
	"series/sysmon/gkristian__csd_project":                                   "top",
	"series/sysmon/jschaub30__viz_dstat":                                     "dstat-csv",
	"series/sysmon/marionavarra__tesienea":                                   "vmstat",
	"series/sysmon/kellyjonbrazil__jc/centos-7.7__mpstat-A-2-5.out":          "mpstat",
	"series/sysmon/kellyjonbrazil__jc/centos-7.7__pidstat-hl.out":            "pidstat",
	"series/sysmon/kellyjonbrazil__jc/ubuntu-20.10__iostat-x.out":            "iostat",
	"series/tfevents":                                                        "tfevents",
	"series/torchtitan":                                                      "torchtitan-log",
	"series/trl_hf/guanqun-yang__SlurmMWE":                                   "hf-trainer-log",
	"series/trl_hf/qhy991__GRPO-Clean-2":                                     "trainer-state",
	"series/verl":                                                            "verl-log",
	"series/vllm_bench/aurotripathy__vllm-bench":                             "vllm-bench",
	"series/vllm_bench/tsho__vllm-benchmark-scripts":                         "serving-bench",
	"series/vllm_server":                                                     "vllm-server-log",
	"series/watchdog":                                                        "nccl-watchdog",
	"formats/rl_logs/SYNTHETIC_skyrl_console.log":                            "skyrl-log",
	"formats/rl_logs/SYNTHETIC_verl_file_logger.jsonl":                       "verl-jsonl",
	"formats/sglang/SYNTHETIC_server_log_all_eras.log":                       "sglang-server-log",
	"formats/vllm/SYNTHETIC_stats_lines_all_eras.log":                        "vllm-server-log",
	"formats/nccl/SYNTHETIC_nccl_2.2x_info_lines.log":                        "nccl-log",
	"formats/nccl/CONSTRUCTED_flight_recorder_v2.5_rank0.json":               "nccl-flight-recorder",
	"formats/sysmon/SYNTHETIC_nvidia-smi_query_csv_variants.csv":             "nvidia-smi-csv",
	"formats/sysmon/SYNTHETIC_dmon_gpm_metrics.txt":                          "nvidia-smi-dmon",
	"ranks/bytedance_AR/trace-AR.parquet":                                    "parquet",
	"kineto/tracelens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005_perf_report_csvs": "tracelens-csv",
}

// corpusTraces are the files of corpus/inputs that are traces in the Chrome
// format, which are read, and those that have refusals of their own.
var corpusTraces = []string{"msprof_analyze_trace_view.json", "rocmblogs_hip_results.json", "rpd_matmul_result.json", "aoberai_tf25_20210617_181207.trace.json.gz"}

// TestForeignCorpus: each file of the corpus that belongs to another program is
// refused by its name, and nothing of inputs and series is read but traces and logs.
func TestForeignCorpus(t *testing.T) {
	corpus := filepath.Dir(test.Corpus(t, "inputs"))
	is, read := make(map[string]string), make(map[string]bool)
	for _, f := range refused.All() {
		is[f.Name], read[f.Name] = f.Is(), f.Read
	}
	met := make(map[string]bool)
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(corpus, path)
		rel = filepath.ToSlash(rel)
		folder, _, _ := strings.Cut(rel, "/")
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "README") {
			return err
		}
		want, at := "", rel
		for at != "." && want == "" {
			if want = corpusNames[at]; want != "" {
				met[at] = true
			}
			at = filepath.ToSlash(filepath.Dir(at))
		}
		if want == "" && folder != "inputs" && folder != "series" {
			return nil
		}
		in, err := loadPath(t, path)
		switch {
		case err == nil && in.Series != nil && (want == "" || want == "deepspeed-flops" || read[want]): // see TestSeriesCorpus
		case want != "" && (err == nil || !strings.Contains(err.Error(), is[want])):
			t.Errorf("%s: %+v, %v; want that it %q", rel, in, err, is[want])
		case want == "" && err == nil && !slices.Contains(corpusTraces, d.Name()) && !slices.Contains([]string{summary.FormatXPlane, summary.FormatProtonTree, "ncu", "torch-trace", "speedscope", "scalene", "perf-script", "execution-trace"}, in.Format) && !strings.HasPrefix(in.Format, "ro") && !strings.HasPrefix(in.Format, "ascend") && !strings.HasPrefix(in.Format, "rpd") && !strings.HasSuffix(in.Format, "perfetto"):
			t.Errorf("%s is read as %s", rel, in.Format)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range corpusNames {
		if !met[name] {
			t.Errorf("%s is not in the corpus", name)
		}
	}
}

// TestHole: space that was reserved and never written is counted, however large.
func TestHole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	const size = 64<<20 + 7
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	if _, err := loadPath(t, path); err == nil || !strings.Contains(err.Error(), "consists of 67108871 bytes of zeros") {
		t.Error(err)
	}
}
