package refused

import (
	"encoding/binary"
	"strings"
	"testing"
)

// record returns a record of an event file of TensorBoard: a length, a checksum
// and the event.
func record(event string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(event)))) + "\x01\x02\x03\x04" + event + "\x05\x06\x07\x08"
}

// samples has the beginning of a made-up file of each format, as short as it can
// be recognised.
var samples = map[string]string{
	"xplane":                    "\x0a\xb0\x09\x12\x09/host:CPU\x1a\x40",
	"perfetto":                  "\x0a\x04\x50\x01\x58\x02\x0a\x06\x40\x01\x50\x03\x78\x01\x0a\x02\x50\x04",
	"tfevents":                  record("\x09\x00\x00\x80\x2e\xa1\x11\xd9\x41\x1a\x0dbrain.Event:2"),
	"parquet":                   "PAR1\x15\x04\x15\x10",
	"arrow":                     "ARROW1\x00\x00\xff\xff\xff\xff",
	"memray":                    "memray\x00\x0c\x00",
	"austin-mojo":               "MOJ\x03\x01\x00",
	"safetensors":               "\x40\x00\x00\x00\x00\x00\x00\x00{\"w\":{\"dtype\":\"F32\"",
	"checkpoint":                "PK\x03\x04\x00\x00\x08\x08run/data.pkl\x80\x02}",
	"rpd":                       "SQLite format 3\x00\x10CREATE TABLE \"rocpd_api_ops\" (id)",
	"rocpd":                     "SQLite format 3\x00\x10CREATE TABLE `rocpd_string_0af3` (id)",
	"rocprof-v1-sqlite":         "SQLite format 3\x00\x10CREATE TABLE HIP (BeginNs)",
	"ascend-sqlite":             "SQLite format 3\x00\x10CREATE TABLE STRING_IDS (id)CREATE TABLE CANN_API (id)",
	"ascend-kernel-details":     "Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n0,MatMul_1,MatMul,AI_CORE,1.5\t,2\n",
	"ascend-op-summary":         "Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us)\n",
	"ascend-step-trace":         "Step,Computing,Communication(Not Overlapped),Overlapped,Stage,Bubble\n",
	"rocprofv3-csv":             "\"Kind\",\"Agent_Id\",\"Queue_Id\"\n\"KERNEL_DISPATCH\",4,1\n",
	"rocprofv3-allocations-csv": "\"Kind\",\"Operation\",\"Agent_Id\",\"Allocation_Size\"\n\"MEMORY_ALLOCATION\",\"FREE\",\"Agent 4\",\"8\"\n",
	"rocprofv3-counters-csv":    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Counter_Name\",\"Counter_Value\"\n",
	"rocprof-stats-csv":         "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"gemm\",1,2,2,100\n",
	"rocprof-v1-csv":            "\"Index\",\"KernelName\",\"gpu-id\"\n0,\"gemm\",1\n",
	"dcgm-csv":                  "GPUId,TimeStampUs,Field,Values\n1,5,power_usage,300\n",
	"locust-csv":                "Timestamp,User Count,Type,Name,Requests/s\n",
	"dstat-csv":                 "\"Dstat 0.7.9 CSV output\"\n\"Host:\",\"node\"\n",
	"nvidia-smi-csv":            "index, utilization.gpu [%], memory.used [MiB]\n0, 7 %, 12 MiB\n",
	"tracelens-csv":             "name,total_direct_kernel_time_sum,Count\ngemm,1,1\n",
	"metrics-csv":               "epoch,train/loss,step\n0,2.5,10\n",
	"cuda-graph-annotations":    `{"4294967301": [{"name": "layers.0.mlp", "stream": 7}], "4294967302": ["norm"]}`,
	"proton-hatchet":            `[{"children":[],"frame":{"name":"ROOT"},"metrics":{"count":0}}]`,
	"rocprofv3-json":            `{"rocprofiler-sdk-tool":[{"metadata":{}}]}`,
	"speedscope":                `{"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[]}`,
	"scalene":                   `{"alloc_samples":0,"elapsed_time_sec":2.5,"files":{}}`,
	"v8-cpuprofile":             `{"nodes":[{"id":1,"callFrame":{"functionName":"f"},"hitCount":3}]}`,
	"firefox-profile":           `{"meta":{"interval":1,"markerSchema":[]},"threads":[]}`,
	"nccl-flight-recorder":      `{"version":"2.9","pg_config":{},"pg_status":{},"entries":[]}`,
	"commcanary":                `{"events":[{"collective_id":"c","compute_before_us":0.5}],"format":"commcanary.trace.v1"}`,
	"ascend-communication":      `{"step0":{"hcom_allReduce":{"Communication Time Info":{"Elapse Time(ms)":1}}}}`,
	"trainer-state":             `{"global_step":7,"is_world_process_zero":true,"log_history":[]}`,
	"verl-jsonl":                `{"step": 3, "data": {"timing_s/gen": 5.5}}`,
	"wandb-summary":             `{"loss":1,"_runtime":60,"_timestamp":1700000000}`,
	"sglang-bench":              `{"backend":"sglang","dataset_name":"random","request_rate":Infinity}`,
	"vllm-bench":                `{"backend":"vllm","tokenizer_id":"m","num_prompts":4,"request_rate":"inf"}`,
	"llmperf":                   `{"name":"m","mean_input_tokens":5,"mean_output_tokens":6}`,
	"k6":                        `{"metrics":{"iteration_duration":{"avg":1}}}`,
	"sysstat-json":              `{"sysstat": {"hosts": []}}`,
	"rocm-smi-json":             `{"card0": {"GPU use (%)": "3"}}`,
	"notebook":                  `{"cells":[{"cell_type":"code"}],"nbformat":4}`,
	"mlperf-log":                ":::MLLOG {\"key\": \"run_start\"}\n",
	"torch-trace-log":           "V0704 10:20:30.123000 42 torch/_dynamo/guards.py:9] {\"dynamo_start\": {}}\n",
	"nemo-rl-log":               "===== Step 4/9 =====\n  Total step time: 5.5s\n",
	"skyrl-log":                 "2026-01-02 | INFO | t:3 - Finished: 'generate', time cost: 2.50s\n",
	"verl-log":                  "(TaskRunner pid=7) step:3 - actor/lr:0.1 - timing_s/gen:5.5\n",
	"torchtitan-log":            "[titan] \x1b[31mstep:  3  \x1b[32mloss:  2.5  grad_norm: 1.0  \x1b[38mmemory:  9.50GiB(12%)  tps: 7\n",
	"megatron-log":              "node1:  iteration       3/     50 | elapsed time per iteration (ms): 9.5 |\n",
	"deepspeed-flops":           "x\n-------------------------- DeepSpeed Flops Profiler --------------------------\n",
	"deepspeed-log":             "[INFO] [timer.py:9:stop] epoch=0/micro_step=4, RunningAvgSamplesPerSec=7.5\n",
	"sglang-server-log":         "[2026-01-02 03:04:05 TP0] Decode batch. #running-req: 3, #token: 9\n",
	"vllm-server-log":           "INFO 01-02 [loggers.py:1] Engine 000: Avg prompt throughput: 7.5 tokens/s\n",
	"sglang-one-batch":          "Prefill. latency: 0.5 s, throughput: 9.5 token/s\n",
	"serving-bench":             "warming up\r============ Serving Benchmark Result ============\r\n",
	"hf-trainer-log":            " 3%|#  | 3/90 [00:01] {'loss': 0.5, 'epoch': 0.1}\n",
	"nccl-tests":                "#       size         count      type   redop\n#        (B)    (elements)\n",
	"nccl-watchdog":             "[rank3]: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)\n",
	"nccl-log":                  "node1:12:34 [0] NCCL INFO Channel 00/02\n",
	"nvidia-smi-dmon":           "# gpu    pwr  gtemp     sm\n# Idx      W      C      %\n    0     56     30      0\n",
	"nvidia-smi":                "Mon Jan  5\n+----+\n| NVIDIA-SMI 999.10   Driver Version: 999.10 |\n",
	"rocm-smi":                  "======= ROCm System Management Interface =======\n",
	"prometheus":                "# HELP queue_len requests that wait\n# TYPE queue_len gauge\nqueue_len 3\n",
	"top":                       "top - 10:20:30 up 3 days,  load average: 0.5, 0.4, 0.3\n",
	"vmstat":                    "procs -----------memory---------- ---swap--\n r  b   swpd\n",
	"iostat":                    "Linux 9.9 (n) \t01/02/26 \t_x86_64_\t(2 CPU)\n\nDevice             tps    kB_read/s\nsda 1 2\n",
	"pidstat":                   "Linux 9.9 (n) \t01/02/26 \t_x86_64_\t(2 CPU)\n\n10:20:30      UID       PID    %usr %system\n",
	"mpstat":                    "Linux 9.9 (n) \t01/02/26 \t_x86_64_\t(2 CPU)\n\n10:20:30     CPU    %usr   %nice\n",
	"sar":                       "Linux 9.9 (n) \t01/02/26 \t_x86_64_\t(2 CPU)\n\n10:20:30        IFACE   rxpck/s\n",
	"perf-script":               "python 77 [001] 12.345678:     250000 cpu-clock: \n\tffffffff81 do_work+0x5 ([kernel])\n",
	"py-spy-dump":               "Process 9: python train.py\nThread 9 (active): \"MainThread\"\n    step (train.py:3)\n",
}

// TestSamples: each row of the table is found by its own sample, whatever the
// file is called, and each row has one.
func TestSamples(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range All() {
		if seen[f.Name] {
			t.Errorf("%s is there twice", f.Name)
		}
		seen[f.Name] = true
		sample, ok := samples[f.Name]
		if !ok {
			t.Errorf("%s has no sample", f.Name)
			continue
		}
		for _, content := range []string{sample, "\xef\xbb\xbf" + sample} {
			if f.Shape == shapeBinary || f.Shape == shapeSQLite {
				content = sample
			}
			if got := Find("whatever", []byte(content)); got == nil || got.Name != f.Name {
				t.Errorf("%s: its sample is found to be %+v", f.Name, got)
			}
		}
		if !strings.HasPrefix(f.What, "a ") && !strings.HasPrefix(f.What, "an ") && !strings.HasPrefix(f.What, "the ") && !strings.HasPrefix(f.What, "stacks ") || f.Do == "" {
			t.Errorf("%s: %q; %q", f.Name, f.Is(), f.Do)
		}
	}
	for name := range samples {
		if !seen[name] {
			t.Errorf("a sample of %s, which the table does not have", name)
		}
	}
}

// TestStrict: what readers guess about, and text that may hold tables, is left to
// the readers.
func TestStrict(t *testing.T) {
	for _, f := range All() {
		want := !f.Read && (f.Shape == shapeBinary || f.Shape == shapeCSV && !f.Loose)
		if got := Strict("whatever", []byte(samples[f.Name])); (got != nil) != want {
			t.Errorf("%s: %v, want %v", f.Name, got, want)
		}
	}
}

// TestNames: a name counts where the content does not tell, and only with the
// right shape.
func TestNames(t *testing.T) {
	for _, tt := range []struct{ name, content, want string }{
		{"dir/host.XPLANE.pb", "\x0a\x05\x08\x01", "xplane"},
		{"t.pftrace.gz", "\x00\x01", "perfetto"},
		{`c:\runs\wandb-summary.json`, `{"loss":1}`, "wandb-summary"},
		{"a.hatchet", `{"traceEvents":[]}`, "proton-hatchet"},
		{"t.pftrace", "text", ""},
		{"wandb-summary.json", "text", ""},
	} {
		got := ""
		if f := Find(tt.name, []byte(tt.content)); f != nil {
			got = f.Name
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestReadable: nothing is found in what assay reads.
func TestReadable(t *testing.T) {
	for _, content := range []string{
		`{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":1,"dur":2}]}`,
		`[{"ph":"X","name":"step 3","args":{"frame":1,"children":2}}]`,
		"Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,5,1,5.0,gemm\n",
		"\"ID\",\"Process ID\",\"Process Name\",\"Kernel Name\",\"Metric Name\"\n",
		"-------  ------------  ------------\n   Name    Self CPU %      Self CPU\n",
		"main;step;forward 12\nmain;step;backward 30\n",
		"# callgrind format\nevents: Instructions\nfn=main\n1 2\n",
		"\x80\x04}\x94(\x8c\x08segments\x94]\x94",
		"[2026-01-02 03:04:05] loss 3\n", "", "step 1\n",
	} {
		for _, name := range []string{"whatever", "trace.json", "log.txt"} {
			if f := Find(name, []byte(content)); f != nil {
				t.Errorf("%.40q is found to be %s", content, f.Name)
			}
		}
	}
}
