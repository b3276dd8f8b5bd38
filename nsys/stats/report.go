package stats

import (
	"path"
	"strings"

	"assay/internal/profile"
)

// A report is one of the tables that nsys stats can print.
type report struct {
	name string // name since 2023
	old  string // name until 2022; "" if it did not exist
	of   string
	// nested is set if rows may be nested in other rows, so that their times
	// add up to more than the elapsed time.
	nested bool
}

// reports lists the known reports. A report that is not in the list is read too
// if its columns are known; its rows then have no known kind.
func reports() []report {
	return []report{
		{"cuda_gpu_kern_sum", "gpukernsum", profile.OfKernel, false},
		{"cuda_gpu_kern_gb_sum", "gpukerngbsum", profile.OfKernel, false},
		{"cuda_gpu_sum", "gpusum", profile.OfDeviceOp, false},
		{"cuda_gpu_trace", "gputrace", profile.OfDeviceOp, false},
		{"cuda_gpu_mem_time_sum", "gpumemtimesum", profile.OfCopy, false},
		{"cuda_gpu_mem_size_sum", "gpumemsizesum", profile.OfCopy, false},
		{"cuda_api_sum", "cudaapisum", profile.OfCall, false},
		{"cuda_api_trace", "cudaapitrace", profile.OfCall, false},
		{"cuda_api_gpu_sum", "apigpusum", profile.OfRow, false},
		{"cuda_kern_exec_sum", "kernexecsum", profile.OfKernel, false},
		{"cuda_kern_exec_trace", "kernexectrace", profile.OfKernel, false},
		{"nvtx_sum", "nvtxsum", profile.OfRange, true},
		{"nvtx_pushpop_sum", "nvtxppsum", profile.OfRange, true},
		{"nvtx_pushpop_trace", "nvtxpptrace", profile.OfRange, true},
		{"nvtx_startend_sum", "nvtxsesum", profile.OfRange, true},
		{"nvtx_kern_sum", "nvtxkernsum", profile.OfKernel, true},
		{"nvtx_gpu_proj_sum", "", profile.OfRange, true},
		{"nvtx_gpu_proj_trace", "nvtxgpuproj", profile.OfRange, true},
		{"osrt_sum", "osrtsum", profile.OfOSCall, false},
		{"syscall_sum", "", profile.OfOSCall, false},
		{"openacc_sum", "openaccsum", profile.OfCall, true},
		{"openmp_sum", "openmpevtsum", profile.OfCall, true},
		{"mpi_event_sum", "", profile.OfCall, false},
		{"mpi_event_trace", "mpieventtrace", profile.OfCall, false},
		{"um_sum", "unifiedmemory", profile.OfRow, false},
		{"um_total_sum", "unifiedmemorytotals", profile.OfRow, false},
		{"um_cpu_page_faults_sum", "umcpupagefaults", profile.OfRow, false},
		{"vulkan_api_sum", "", profile.OfCall, false},
		{"vulkan_api_trace", "", profile.OfCall, false},
		{"vulkan_marker_sum", "vulkanmarkerssum", profile.OfRange, true},
		{"vulkan_gpu_marker_sum", "", profile.OfRange, true},
		{"opengl_khr_range_sum", "khrdebugsum", profile.OfRange, true},
		{"opengl_khr_gpu_range_sum", "khrdebuggpusum", profile.OfRange, true},
		{"dx11_pix_sum", "dx11pixsum", profile.OfRange, true},
		{"dx12_pix_sum", "dx12pixsum", profile.OfRange, true},
		{"dx12_gpu_marker_sum", "dx12gpumarkersum", profile.OfRange, true},
		{"wddm_queue_sum", "wddmqueuesdetails", profile.OfRow, false},
		{"nvvideo_api_sum", "", profile.OfCall, false},
	}
}

// headings has the table titles of the versions of 2019 to 2021, with the
// report for each.
func headings() []struct{ title, report string } {
	return []struct{ title, report string }{
		{"cuda api statistics", "cuda_api_sum"},
		{"cuda kernel statistics", "cuda_gpu_kern_sum"},
		{"cuda memory operation statistics (by time)", "cuda_gpu_mem_time_sum"},
		{"cuda memory operation statistics (nanoseconds)", "cuda_gpu_mem_time_sum"},
		{"cuda memory operation statistics (by size", "cuda_gpu_mem_size_sum"},
		{"cuda memory operation statistics (kib)", "cuda_gpu_mem_size_sum"},
		{"cuda memory operation statistics", "cuda_gpu_mem_time_sum"},
		{"operating system runtime api statistics", "osrt_sum"},
		{"nvtx push-pop range statistics", "nvtx_pushpop_sum"},
		{"nvtx start-end range statistics", "nvtx_startend_sum"},
		{"nvtx range statistics", "nvtx_sum"},
	}
}

// reportOf returns the report with an id of any version, without the arguments
// that may follow a colon. An unknown report has that id as its name.
func reportOf(id string) report {
	id, _, _ = strings.Cut(id, ":")
	for _, r := range reports() {
		if id == r.name || r.old != "" && id == r.old {
			return r
		}
	}
	return report{name: id, of: profile.OfRow}
}

// reportInName returns the report that the name of a file contains, and the text
// before it: "nsys stats -o base" writes base_cuda_gpu_kern_sum.csv. If the name
// contains several reports, it returns the last one, and of those that end at the
// same position the longest.
func reportInName(file string) (rep report, run string, ok bool) {
	base := path.Base(strings.ReplaceAll(file, `\`, "/"))
	name := strings.ToLower(base)
	from, to := -1, -1
	for _, r := range reports() {
		for _, id := range []string{r.name, r.old} {
			at := strings.LastIndex(name, id)
			if id == "" || at < 0 {
				continue
			}
			if end := at + len(id); end > to || end == to && at < from {
				rep, from, to = r, at, end
			}
		}
	}
	if to < 0 {
		return report{}, "", false
	}
	if len(base) == len(name) {
		run = clip(strings.TrimRight(base[:from], "_-."))
	}
	return rep, run, true
}

// byColumns returns the reports that can have these columns, the most common
// first.
func (l *layout) byColumns() []string {
	has := func(header string) bool { return l.headers[header] }
	switch {
	case has("projected start"):
		return []string{"nvtx_gpu_proj_trace"}
	case has("total proj time"):
		return []string{"nvtx_gpu_proj_sum"}
	case has("durnonchild"):
		return []string{"nvtx_pushpop_trace"}
	case has("queue start"):
		return []string{"cuda_kern_exec_trace"}
	case has("qcount"):
		return []string{"cuda_kern_exec_sum"}
	case has("nvtx range"):
		return []string{"nvtx_kern_sum"}
	case has("start") && (has("grdx") || has("dstmemkd")):
		return []string{"cuda_gpu_trace"}
	case has("start") && has("result"):
		return []string{"cuda_api_trace", "vulkan_api_trace"}
	case has("category") && has("operation"):
		return []string{"cuda_gpu_sum", "cuda_api_gpu_sum"}
	case has("operation") && has("time"):
		return []string{"cuda_gpu_mem_time_sum"}
	case has("operation"):
		return []string{"cuda_gpu_mem_size_sum"}
	case has("range") && has("style"):
		return []string{"nvtx_sum"}
	case has("range"):
		return []string{"nvtx_pushpop_sum", "nvtx_startend_sum", "vulkan_marker_sum", "vulkan_gpu_marker_sum", "opengl_khr_range_sum", "opengl_khr_gpu_range_sum"}
	case has("gridxyz"):
		return []string{"cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum"}
	case has("instances"):
		return []string{"cuda_gpu_kern_sum", "cuda_gpu_kern_gb_sum", "openacc_sum", "openmp_sum"}
	case has("num calls") || has("calls"):
		return []string{"cuda_api_sum", "osrt_sum", "syscall_sum", "vulkan_api_sum", "nvvideo_api_sum"}
	}
	return nil
}
