// Package ascend reads what the profilers of Huawei's NPUs write: torch_npu (trace_view.json, kernel_details.csv) and
// msprof (msprof_*.json, op_summary_*.csv).
//
// A timeline is a Chrome trace, which package trace has read: Recast gives its spans their meaning. A table of tasks is a
// timeline without the host: see ReadCSV. QUIRKS.md has the oddities.
package ascend
