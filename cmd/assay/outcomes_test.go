package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/summary"
)

// What becomes of each file is a line: the elements of its event array; the
// kernels and copies by name, or where names are many or long their numbers and
// sums, or without any the spans of the host; the issues; and whether the input
// counts as complete. "refused" is exit status 3, with what the reason must
// hold. The numbers come from reading the files by other means: by eye where
// they are no JSON, else with Python's decoder, decimals and a pairing of its
// own. A comment above a line says what is odd about it, or what should be.
const malformedOutcomes = `
01_name_unescaped_quotes.json: 4 events; gemm×1; kernels-without-launch×1, quotes-repaired×1; complete
02_name_unescaped_quotes_and_newline.json: 4 events; gemm×1; kernels-without-launch×1, quotes-repaired×1, span-implausible×1; complete
03_windows_backslashes.json: 4 events; gemm×1; kernels-without-launch×1, span-implausible×1; complete
04_control_chars_in_name.json: 4 events; gemm×1; kernels-without-launch×1; complete
05_invalid_utf8.json: 4 events; gemm×1; kernels-without-launch×1; complete
# The copy has today's time and the kernel that of a minute after 1970.
06_bare_inf.json: 4 events; gemm×1, Memcpy HtoD (Pageable -> Device)×1; kernels-without-launch×2, window-implausible×1; complete
07_python_NaN_Infinity.json: 4 events; gemm×1; kernels-without-launch×1; complete
08_trailing_comma_in_args.json: 4 events; gemm×1; kernels-without-launch×1; complete
09_trailing_comma_in_array.json: 3 events; gemm×1; kernels-without-launch×1; complete
10_array_missing_close.json: 3 events; gemm×1; events-not-closed×1, kernels-without-launch×1; complete
11_array_missing_close_trailing_comma.json: 3 events; gemm×1; events-not-closed×1, kernels-without-launch×1; complete
12_object_truncated_mid_event.json: 2 events; gemm×1; input-truncated×1, kernels-without-launch×1; cut
13_object_truncated_mid_string.json: 2 events; gemm×1; input-truncated×1, kernels-without-launch×1; cut
14_no_comma_between_events.json: 3 events; gemm×1; kernels-without-launch×1; complete
15_leading_comma_elements.json: 3 events; gemm×1; kernels-without-launch×1; complete
16_utf8_bom.json: 3 events; gemm×1; kernels-without-launch×1; complete
17_utf16le_bom.json: 3 events; gemm×1; kernels-without-launch×1; complete
18_two_json_docs_concatenated.json: 3 events; gemm×1; kernels-without-launch×1, trailing-data×1; cut
19_jsonl_events_one_per_line.json: 3 events; gemm×1; kernels-without-launch×1; complete
20_string_ts_dur.json: 4 events; gemm×1, npu_op×1; kernels-without-launch×2, span-implausible×1; complete
21_absolute_ns_ts_19digits.json: 2 events; k1×1, k2×1; kernels-without-launch×2; complete
# A duration over int64, a time of "0.-12", and a duration below 0.
22_dur_overflow_and_negative.json: 4 events; k2×1; event-bad-time×2, event-negative-duration×1, kernels-without-launch×1; complete
23_uint64_comms_id.json: 4 events; gemm×1, ncclKernel×1; kernels-without-launch×2; complete
24_duplicate_keys.json: 4 events; gemm×1, k×1; kernels-without-launch×2; complete
# null and {} are what some writers end an array with; 3, "x" and [] are not.
25_non_object_elements.json: 9 events; gemm×1; event-not-object×3, kernels-without-launch×1; complete
26_args_is_array_or_null.json: 6 events; gemm×1; kernels-without-launch×1; complete
27_traceEvents_after_huge_metadata_and_null.json: refused, has no "traceEvents" array
28_traceEvents_not_first_and_twice.json: 3 events; gemm×1; events-repeated×1, kernels-without-launch×1; complete
29_missing_dur_tid_pid_ph.json: 9 events; gemm×1; event-bad-time×1, event-without-phase×1, kernels-without-launch×1, spans-not-paired×2; complete
30_partial_overlap_same_tid.json: 3 events; after×1, long×1, next×1; kernels-without-launch×3, stream-overlap×2; complete
31_log_line_inside_json.json: 3 events; gemm×1; kernels-without-launch×1, text-before-trace×1, trailing-data×1; complete
32_single_quotes_python_repr.json: refused, has a printed Python object
33_empty.json: refused, is empty
34_only_ws.json: refused, is empty
35_html_error_page.json: refused, is a web page
36_git_lfs_pointer.json.gz: refused, is a Git LFS pointer
37_gz_ext_but_plain.json.gz: 3 events; gemm×1; kernels-without-launch×1; complete
38_json_ext_but_gz.json: 3 events; gemm×1; kernels-without-launch×1; complete
39_gz_two_members.json.gz: 3 events; gemm×1; kernels-without-launch×1; complete
# The 278th event is cut in its duration.
40_gz_truncated.json.gz: 277 events; 277 spans, 799757 ns; input-truncated×1; cut
41_gz_trailing_garbage.json.gz: 3 events; gemm×1; kernels-without-launch×1, trailing-data×1; complete
42_zip_with_trace.zip: refused, is a zip archive
# Two writers made one element of two counters, and the third operator is not there.
43_interleaved_writers.json: 3 events; gemm×1; event-malformed×1, kernels-without-launch×1; complete
44_deep_nesting_args.json: 4 events; gemm×1; kernels-without-launch×1; complete
45_crlf_and_tabs.json: 3 events; gemm×1; kernels-without-launch×1; complete
46_NUL_padding_tail.json: 3 events; gemm×1; kernels-without-launch×1, trailing-data×1; complete
47_counter_empty_key_and_string_values.json: 5 events; gemm×1; kernels-without-launch×1; complete
48_comments_json5.json: 3 events; gemm×1; kernels-without-launch×1, text-before-trace×1; complete
`

const corpusOutcomes = `
== formats/perfetto_json_cases
flow_events_json_v1.json: 10 events; 5 spans, 1020000 ns; no issues; complete
flow_events_json_v2.json: 8 events; 6 spans, 2017000 ns; no issues; complete
test_args_ordered.json: 2 events; nothing; spans-not-paired×2; complete
test_invalid_string_ts_and_dur.json: 2 events; nothing; event-bad-time×2; complete
test_json_all_slice_types.json: 9 events; 2 spans, 150000 ns; no issues; complete
test_json_async.json: 6 events; 3 spans, 300000 ns; no issues; complete
test_json_counter_args.json: 1 events; nothing; no issues; complete
test_json_extreme_vals.json: 4 events; 2 spans, 150000 ns; event-bad-time×1; complete
test_json_flow.json: 9 events; 2 spans, 150000 ns; no issues; complete
test_json_id2.json: 4 events; 2 spans, 200000 ns; no issues; complete
test_json_id2_global_int_id.json: 4 events; 1 spans, 167000 ns; no issues; complete
test_json_id2_global_string_id.json: 2 events; 1 spans, 100000 ns; no issues; complete
test_json_id2_local_int_id.json: 4 events; 1 spans, 167000 ns; no issues; complete
test_json_id2_local_string_id.json: 2 events; 1 spans, 100000 ns; no issues; complete
test_json_incomplete.json: 1 events; 1 spans, 8000000 ns; events-not-closed×1; complete
test_json_metadata.json: 13 events; 4 spans, 95000 ns; no issues; complete
test_json_metadata_missing_or_invalid_ts.json: 3 events; nothing; no issues; complete
test_json_pid_tid_zero.json: 14 events; 7 spans, 12000 ns; no issues; complete
test_json_sort_index_hints.json: 4 events; 1 spans, 100000 ns; no issues; complete
test_json_sort_index_ordering.json: 12 events; 4 spans, 400000 ns; no issues; complete
test_json_thread_state.json: 7 events; nothing; no issues; complete
test_json_thread_state_sched.json: 5 events; nothing; no issues; complete
test_json_trace_metadata.json: 1 events; 1 spans, 10000 ns; no issues; complete
test_json_trailing_comma.json: 2 events; 2 spans, 4059845208 ns; no issues; complete
test_overlapping_complete_event_import_log.json: 2 events; 2 spans, 200000 ns; no issues; complete
test_overlapping_complete_event_recovered.json: 2 events; 2 spans, 200000 ns; no issues; complete
test_string_pid_tid.json: 1 events; 1 spans, 500100 ns; no issues; complete
test_string_ts_and_dur.json: 3 events; 2 spans, 151000 ns; no issues; complete
test_string_ts_trailing_chars.json: 2 events; nothing; event-bad-time×2; complete
test_string_tts_and_tdur.json: 1 events; 1 spans, 100000 ns; no issues; complete
test_trailing_empty_event.json: 2 events; 1 spans, 2000 ns; no issues; complete
test_x_event_order.json: 2 events; 2 spans, 15000 ns; no issues; complete
== formats/chrome_other
SYNTHETIC_ray1_timeline_string_pid_tid.json: 3 events; 3 spans, 2822294 ns; no issues; complete
SYNTHETIC_ray2_timeline_int_pid_tid.json: 3 events; 1 spans, 1500000 ns; no issues; complete
bazel_4.2.3_command.profile.gz: 1599 events; 1555 spans, 7192405000 ns; derived-spans×1; complete
chromium156_trace_startup.json.gz: 42439 events; 32499 spans, 17610073000 ns; spans-not-paired×38; complete
chromium156_trace_startup_subset.json: 528 events; 115 spans, 1808431000 ns; spans-not-paired×34; complete
clang14_ftime_trace.json: 1820 events; 1733 spans, 77256649000 ns; derived-spans×85; complete
node20.cpuprofile: 10 events; 2 tables of 64 rows; no issues; complete
node20_node_trace.1.log: 118 events; 84 spans, 180612000 ns; no issues; complete
== formats/tf_jax
SYNTHETIC_tf1_timeline.json: 19 events; MatMul×1; kernels-without-launch×1; complete
tracelens_jax_conv_minimal_mi300.xplane.pb: 3650 events; 235 kernels of 6 names, 28137077 ns; no issues; complete
== formats/kineto
hta_2022_old_Kernel_Runtime_async_gpu.json.gz: 54 events; 4 kernels of 4 names, 30000 ns; no issues; complete
hta_alexnet_2023_int_us.json.gz: 1408 events; 79 kernels of 16 names, 10692000 ns, 19 copies of 2 names, 55511000 ns; no issues; complete
hta_call_stack_backward_thread.json: 7 events; 1 kernels of 1 names, 45000 ns; no issues; complete
hta_cpu_only_rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz: 30 events; 15 spans, 2345569044 ns; no issues; complete
hta_cuda_event_sync.json.gz: 92 events; 4 kernels of 4 names, 49000 ns, 1 copies of 1 names, 2000 ns; no issues; complete
hta_cuda_event_sync_multi_stream.json.gz: 149 events; ampere_sgemm_128x64_nn×3, Memset (Device)×3; no issues; complete
# 77 calls of cudaLaunchKernel and no kernel.
hta_cupti_profiler_range_2023.json.gz: 4222 events; 2322 spans, 88744374000 ns; gpu-events-missing×77; complete
hta_ddp_sampled_rank-0.json.gz: 4855 events; 1154 kernels of 194 names, 606519000 ns, 50 copies of 5 names, 1325000 ns; no issues; complete
hta_ddp_sampled_rank-1.json.gz: 4720 events; 1104 kernels of 183 names, 651026000 ns, 50 copies of 5 names, 16504000 ns; no issues; complete
# 1313 of the spans are the device's (category mtia_ccp_events), which is taken for a host.
hta_mtia_inference_2026.json.gz: 16158 events; 14178 spans, 7250279280 ns; no issues; complete
hta_nccl_metadata_2024.json.gz: 40573 events; 2700 kernels of 70 names, 162532340 ns, 1074 copies of 2 names, 2653498 ns; no issues; complete
hta_overlaid_critical_path_output.json.gz: 1732 events; 79 kernels of 16 names, 10728000 ns, 19 copies of 2 names, 39088000 ns; no issues; complete
hta_simple_add_execution_trace_ET_1.0.1.json.gz: 38 events; 1 tables of 17 rows; no issues; complete
hta_simple_add_trace.json.gz: 111 events; 4 kernels of 2 names, 16000 ns; tables-joined×1; complete
hta_trace_compare_base_2022.json.gz: 33 events; 6 kernels of 3 names, 432000 ns, 12 copies of 3 names, 1262000 ns; kernels-without-launch×16, launches-missing×1; complete
tracelens_gpu_only_mi210.json.gz: 2443 events; 562 kernels of 45 names, 5343422 ns; no issues; complete
tracelens_h100_bert_small_memory_stack_modules.json.gz: 2551 events; 60 kernels of 11 names, 307197 ns, 1 copies of 1 names, 2240 ns; no issues; complete
tracelens_mi300_bert_small_memory_stack.json.gz: 2653 events; 60 kernels of 11 names, 388344 ns, 1 copies of 1 names, 2404 ns; no issues; complete
tracelens_normalization_layers_fwdbwd_rocm.json.gz: 8500 events; 168 kernels of 36 names, 991996 ns, 5 copies of 1 names, 26636 ns; no issues; complete
tracelens_sglang_Qwen3-8B_decode_rocm.json.gz: 2058 events; 555 kernels of 27 names, 9765437 ns, 3 copies of 2 names, 13177 ns; no issues; complete
tracelens_torch_compile_triton_rocm7.json.gz: 246 events; 12 kernels of 8 names, 12549021 ns; no issues; complete
tracelens_vllm_decode_graph_execution_rocm.json.gz: 1993 events; 425 kernels of 24 names, 10674517 ns, 9 copies of 1 names, 43191 ns; no issues; complete
== nsight/GindaChen_nsys-ai
h100_2gpu_1s.sqlite: 27388 events; 3442 kernels of 41 names, 44829522 ns, 926 copies of 5 names, 1880871430 ns; kernels-without-launch×2276, launches-without-kernels×2280, profiler-overhead×198; complete
mock.sqlite: 44 events; 2 kernels of 2 names, 4129 ns, 1 copies of 1 names, 1632 ns; no-nvtx×1, profiler-overhead×3; complete
== nsight/brycelelbach_nsightful
ncu_copy_blocked_details.csv: 83 events; 1 kernels with counters; no issues; complete
power_iteration__baseline.expected-chrome.json: 12590 events; 12590 spans, 12246016032 ns; no issues; complete
power_iteration__baseline.sqlite: 13935 events; 3689 kernels of 10 names, 1131742684 ns, 89 copies of 1 names, 322040 ns; cuda-events-uncertain×1, profiler-overhead×1; complete
== nsight/bwyogatama_Mordred-Deprecated
report1_v1.sqlite: 5405 events; 12 kernels of 2 names, 8544420 ns, 60 copies of 3 names, 135960 ns; no-nvtx×1; complete
== nsight/hpcgroup_pipit
nbody-nvtx_nvtx_pushpop_trace.csv: 131 events; 1 tables of 11 rows; no issues; complete
saxpy-mpi-cuda_nsys_perlmutter0.sqlite: 3393 events; 5 kernels of 1 names, 88573480 ns, 15 copies of 2 names, 284699600 ns; no issues; complete
== nsight/microsoft_superbenchmark
cublaslt_ncu_details.log: 58 events; 1 kernels with counters; no issues; complete
== nsight/nsys_json_docs
json_type_excerpts.jsonl: 9 events; (string 316)×1, Memcpy DtoH (Device -> Pinned)×1; string-missing×3; complete
jsonlines_doc_excerpt.jsonl: 0 events; nothing; no-cuda×1, string-missing×1; complete
power_iteration.SYNTHETIC.jsonl: 12077 events; 3689 kernels of 10 names, 1131742684 ns, 89 copies of 1 names, 322040 ns; profiler-overhead×1; complete
== nsight/zx3xyy_assignment2-systems
nsys_stats.txt: 97 events; 20 tables of 97 rows; names-cut×20; complete
nsys_stats_clean.txt: 39 events; 20 tables of 39 rows; names-cut×20; complete
nsys_stats_compile_ro.txt: 20 events; 20 tables of 20 rows; names-cut×2; complete
result_2_7B_nvtx.sqlite: 52919 events; 7328 kernels of 23 names, 3408380989 ns, 294 copies of 2 names, 3156475895 ns; profiler-overhead×3; complete
== formats/torch_legacy_trace
legacy_autograd_1.13.json: 101 events; 101 spans, 4618000 ns; no issues; complete
`

// TestMalformedOutcomes runs the command on every file of testdata/malformed.
func TestMalformedOutcomes(t *testing.T) {
	checkOutcomes(t, filepath.Join("..", "..", "testdata", "malformed"), malformedOutcomes)
}

// TestCorpusOutcomes runs the command on other people's traces, in the folder
// that ASSAY_CORPUS names.
func TestCorpusOutcomes(t *testing.T) {
	corpus := filepath.Dir(test.Corpus(t, "formats"))
	for _, section := range strings.Split(corpusOutcomes, "\n== ")[1:] {
		folder, rows, _ := strings.Cut(section, "\n")
		t.Run(folder, func(t *testing.T) { checkOutcomes(t, filepath.Join(corpus, folder), rows) })
	}
}

// checkOutcomes compares what becomes of the files of a directory with the
// rows. Every file must have one.
func checkOutcomes(t *testing.T, dir, rows string) {
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	wants := make(map[string]string)
	for _, row := range strings.Split(rows, "\n") {
		if row != "" && row[0] != '#' {
			name, want, _ := strings.Cut(row, ": ")
			wants[name] = want
		}
	}
	for _, file := range files {
		want, ok := wants[file.Name()]
		if !ok {
			t.Errorf("%s: no row says what to expect", file.Name())
			continue
		}
		delete(wants, file.Name())
		if got := outcome(t, filepath.Join(dir, file.Name()), want); got != want {
			t.Errorf("%s\n got %s\nwant %s", file.Name(), got, want)
		}
	}
	for name := range wants {
		t.Errorf("%s: a row for a file that is not there", name)
	}
}

// outcome returns the line for one file. A refusal is want if its reason holds
// what want says, and is quoted in full otherwise.
func outcome(t *testing.T, path, want string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", "--format", "json", path})
	switch {
	case status == exitTrouble && stdout.Len() == 0:
		reason, refused := strings.CutPrefix(want, "refused, ")
		if refused && strings.Contains(stderr.String(), reason) {
			return want
		}
		return "refused, " + stderr.String()
	case status != exitOK || stderr.Len() > 0:
		return fmt.Sprintf("exit status %d, %q", status, stderr.String())
	}
	s, err := summary.Read(&stdout, path)
	if err != nil {
		return err.Error()
	}
	in := s.Inputs[0]
	end := "cut"
	if in.Complete {
		end = "complete"
	}
	return fmt.Sprintf("%d events; %s; %s; %s", in.Events, measured(s), issues(s), end)
}

// A tally counts runs by name and sums their durations.
type tally struct {
	runs    map[string]int64
	n, ns   int64
	longest int // of the names, in bytes
}

func (c *tally) add(name string, runs, ns int64) {
	if c.runs == nil {
		c.runs = make(map[string]int64)
	}
	c.runs[name] += runs
	c.n += runs
	c.ns += ns
	c.longest = max(c.longest, len(name))
}

// list names everything, as "gemm×2".
func (c *tally) list() (out []string) {
	for _, name := range slices.Sorted(maps.Keys(c.runs)) {
		out = append(out, fmt.Sprintf("%s×%d", name, c.runs[name]))
	}
	return out
}

func (c *tally) sum(what string) string {
	return fmt.Sprintf("%d %s of %d names, %d ns", c.n, what, len(c.runs), c.ns)
}

func measured(s *summary.Summary) string {
	var kernels, copies, spans tally
	for _, k := range s.Kernels {
		kernels.add(k.Name, k.Count, k.TotalNS)
	}
	for _, c := range s.Copies {
		copies.add(c.Name, c.Count, c.TotalNS)
	}
	for _, p := range s.Spans {
		spans.add(p.Name, p.Count, p.TotalNS)
	}
	device := len(kernels.runs) + len(copies.runs)
	switch {
	case len(s.Counters) > 0:
		return fmt.Sprintf("%d kernels with counters", len(s.Counters))
	case len(s.Tables) > 0:
		var rows int64
		for _, t := range s.Tables {
			rows += int64(len(t.Rows)) + t.Left
		}
		return fmt.Sprintf("%d tables of %d rows", len(s.Tables), rows)
	case device == 0 && spans.n == 0:
		return "nothing"
	case device == 0:
		return fmt.Sprintf("%d spans, %d ns", spans.n, spans.ns)
	case device <= 4 && max(kernels.longest, copies.longest) <= 40:
		return strings.Join(append(kernels.list(), copies.list()...), ", ")
	case copies.n == 0:
		return kernels.sum("kernels")
	}
	return kernels.sum("kernels") + ", " + copies.sum("copies")
}

func issues(s *summary.Summary) string {
	var all tally
	for _, is := range s.Issues {
		all.add(is.Code, is.Count, 0)
	}
	if all.n == 0 {
		return "no issues"
	}
	return strings.Join(all.list(), ", ")
}
