package stats

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
)

// show prints tables as text: a line for each table, one for its columns, and
// one for each row.
func show(t *profile.Tables) string {
	var b strings.Builder
	for _, table := range t.List {
		fmt.Fprintf(&b, "%s %s", table.Name, table.Of)
		if table.Run != "" {
			fmt.Fprintf(&b, " run=%s", table.Run)
		}
		if table.Missing != "" {
			fmt.Fprintf(&b, " missing: %s", table.Missing)
		}
		b.WriteByte('\n')
		b.WriteString(showRows(table))
	}
	for _, is := range t.Issues {
		fmt.Fprintf(&b, "%s: %s %s x%d\n", is.First, is.Severity, is.Code, is.Count)
	}
	return b.String()
}

func showRows(table *profile.Table) string {
	var b strings.Builder
	for i, h := range table.Columns {
		fmt.Fprintf(&b, "%s%s %s%s", strings.Repeat(" | ", min(i, 1)), h.Name, h.Unit, []string{"", " +", " *"}[h.Adds])
	}
	if len(table.Columns) > 0 {
		b.WriteByte('\n')
	}
	cells := func(list []profile.Cell) {
		for _, c := range list {
			if c.Known {
				fmt.Fprintf(&b, " %d", c.Value)
			} else {
				b.WriteString(" ?")
			}
		}
	}
	for _, r := range table.Rows {
		fmt.Fprintf(&b, "  %q", r.Name)
		cells(r.Cells)
		for _, l := range r.Labels {
			fmt.Fprintf(&b, " %s=%s", l.Key, l.Text)
		}
		b.WriteByte('\n')
	}
	if table.Left > 0 {
		fmt.Fprintf(&b, "  %d more", table.Left)
		cells(table.Rest)
		b.WriteByte('\n')
	}
	return b.String()
}

// read reads an input that must be valid.
func read(t *testing.T, name, in string) *profile.Tables {
	t.Helper()
	tables, err := Read(strings.NewReader(in), name, Limits{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, table := range tables.List {
		if err := table.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	return tables
}

// kernels is the content of every input of TestSameTable.
const kernels = `total nanoseconds + | count count + | mean nanoseconds | min nanoseconds | max nanoseconds | stddev nanoseconds
  "gemm<float, 2>" 9000000 3 3000000 2000000 4000000 1000000
  "fill" 1000000 4 250000 100000 400000 129099
`

// TestSameTable: the same rows in text, in CSV, in any unit, of any version and
// with any surrounding text give the same table.
func TestSameTable(t *testing.T) {
	for name, in := range map[string]string{
		"text": `
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)   Min (ns)  Max (ns)  StdDev (ns)       Name      
 --------  ---------------  ---------  ---------  --------  --------  -----------  --------------
     90.0          9000000          3  3000000.0   2000000   4000000    1000000.0  gemm<float, 2>
     10.0          1000000          4   250000.0    100000    400000     129099.4  fill          

`,
		"csv, no preamble": "Time (%),Total Time (ns),Instances,Avg (ns),Min (ns),Max (ns),StdDev (ns),Name\n" +
			"90.0,9000000,3,3000000.0,2000000,4000000,1000000.0,\"gemm<float, 2>\"\n10.0,1000000,4,250000.0,100000,400000,129099.4,fill\n",
		"csv, name without quotes": "Time (%),Total Time (ns),Instances,Avg (ns),Min (ns),Max (ns),StdDev (ns),Name\n" +
			"90.0,9000000,3,3000000.0,2000000,4000000,1000000.0,gemm<float, 2>\n10.0,1000000,4,250000.0,100000,400000,129099.4,fill\n",
		"csv of 2021, without a last line feed": "Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name\n" +
			"90.0,9000000,3,3000000.0,2000000,4000000,1000000.0,\"gemm<float, 2>\"\n10.0,1000000,4,250000.0,100000,400000,129099.4,fill",
		"csv with CRLF and a BOM": "\ufeffTime (%),Total Time (ns),Instances,Avg (ns),Min (ns),Max (ns),StdDev (ns),Name\r\n" +
			"90.0,9000000,3,3000000.0,2000000,4000000,1000000.0,\"gemm<float, 2>\"\r\n10.0,1000000,4,250000.0,100000,400000,129099.4,fill\r\n",
		"tsv": "Time (%)\tTotal Time (ns)\tInstances\tAvg (ns)\tMin (ns)\tMax (ns)\tStdDev (ns)\tName\n" +
			"90.0\t9000000\t3\t3000000.0\t2000000\t4000000\t1000000.0\tgemm<float, 2>\n10.0\t1000000\t4\t250000.0\t100000\t400000\t129099.4\tfill\n",
		"microseconds": "Time (%),Total Time (us),Instances,Avg (us),Min (us),Max (us),StdDev (us),Name\n" +
			"90.0,9000.000,3,3000.000,2000.000,4000.000,1000.000,\"gemm<float, 2>\"\n10.0,1000.000,4,250.000,100.000,400.000,129.099,fill\n",
		"seconds": "Time (%),Total Time (sec),Instances,Avg (sec),Min (sec),Max (sec),StdDev (sec),Name\n" +
			"90.0,0.009,3,0.003,0.002,0.004,0.001,\"gemm<float, 2>\"\n10.0,0.001,4,0.00025,0.0001,0.0004,0.000129099,fill\n",
		"separators of a locale": `
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances   Avg (ns)    Min (ns)   Max (ns)   StdDev (ns)       Name      
 --------  ---------------  ---------  -----------  ---------  ---------  -----------  --------------
     90.0        9,000,000          3  3,000,000.0  2,000,000  4,000,000  1,000,000.0  gemm<float, 2>
     10.0        1,000,000          4    250,000.0    100,000    400,000    129,099.4  fill          
`,
		"separators of another": `
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances   Avg (ns)    Min (ns)   Max (ns)   StdDev (ns)       Name      
 --------  ---------------  ---------  -----------  ---------  ---------  -----------  --------------
     90,0        9.000.000          3  3.000.000,0  2.000.000  4.000.000  1.000.000,0  gemm<float, 2>
     10,0        1.000.000          4    250.000,0    100.000    400.000    129.099,4  fill          
`,
		"behind the prefix of a log": `
[rank0] 10:31  ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):
[rank0] 10:31 
[rank0] 10:31  Time (%)  Total Time (ns)  Instances  Avg (ns)   Min (ns)  Max (ns)  StdDev (ns)       Name      
[rank0] 10:31  --------  ---------------  ---------  ---------  --------  --------  -----------  --------------
[rank0] 10:31      90.0          9000000          3  3000000.0   2000000   4000000    1000000.0  gemm<float, 2>
[rank0] 10:31      10.0          1000000          4   250000.0    100000    400000     129099.4  fill          
[rank0] 10:31 
`,
		"white space that an editor has changed": `
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)   Min (ns)  Max (ns)  StdDev (ns)       Name
 --------  ---------------  ---------  ---------  --------  --------  -----------  --------------
 90.0  9000000  3  3000000.0  2000000  4000000  1000000.0  gemm<float, 2>
     10.0          1000000          4   250000.0    100000    400000     129099.4  fill
`,
		"statistics of 2021": `
 CUDA Kernel Statistics:

 Time(%)  Total Time (ns)  Instances   Average   Minimum  Maximum   StdDev         Name      
 -------  ---------------  ---------  ---------  -------  -------  ---------  --------------
    90.0          9000000          3  3000000.0  2000000  4000000  1000000.0  gemm<float, 2>
    10.0          1000000          4   250000.0   100000   400000   129099.4  fill          
`,
		"JSON": `[{"Time (%)":90.0,"Total Time (ns)":9000000,"Instances":3,"Avg (ns)":3000000.0,"Min (ns)":2000000,"Max (ns)":4000000,"StdDev (ns)":1000000.0,"Name":"gemm<float, 2>"},
{"Time (%)":10.0,"Total Time (ns)":1000000,"Instances":4,"Avg (ns)":250000.0,"Min (ns)":100000,"Max (ns)":400000,"StdDev (ns)":129099.4,"Name":"fill"}]
`,
		"behind the program's own lines": "epoch 1, loss 0.5, lr 0.1\n{\"a\": 1}\nProcessing [r.sqlite] with [/opt/nsys/reports/gpukernsum.py]... \n" +
			"Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,StdDev,Name\n" +
			"90.0,9000000,3,3000000.0,2000000,4000000,1000000.0,\"gemm<float, 2>\"\n10.0,1000000,4,250000.0,100000,400000,129099.4,fill\n\ndone\n",
	} {
		tables := read(t, "in", in)
		if len(tables.List) != 1 || tables.List[0].Name != "cuda_gpu_kern_sum" || tables.List[0].Of != profile.OfKernel {
			t.Errorf("%s: got\n%s", name, show(tables))
			continue
		}
		if diff := cmp.Diff(kernels, showRows(tables.List[0])); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", name, diff)
		}
		if len(tables.Issues) > 0 || !tables.Complete || tables.Records != 2 {
			t.Errorf("%s: %d records, complete %v, issues %+v", name, tables.Records, tables.Complete, tables.Issues)
		}
		if !Sniff([]byte(in)) {
			t.Errorf("%s: not seen as tables of nsys", name)
		}
	}
}

// TestRead has one input for each case that a reader must handle, with its
// complete result.
func TestRead(t *testing.T) {
	for _, tc := range []struct{ name, file, in, want string }{
		{"several reports, with what nsys says between them", "stats.txt", `Generating SQLite file /tmp/run.sqlite from /tmp/run.nsys-rep
Processing [/tmp/run.sqlite] with [/opt/nvidia/nsight-systems/2024.6.2/host-linux-x64/reports/nvtx_sum.py]... 
SKIPPED: /tmp/run.sqlite does not contain NV Tools Extension (NVTX) data.

Processing [/tmp/run.sqlite] with [/opt/nvidia/nsight-systems/2024.6.2/host-linux-x64/reports/osrt_sum.py]... 

 ** OS Runtime Summary (osrt_sum):

 Time (%)  Total Time (ns)  Num Calls  Avg (ns)  Name
 --------  ---------------  ---------  --------  ----
    100.0               30          3      10.0  poll

Processing [/tmp/run.sqlite] with [/opt/nvidia/nsight-systems/2024.6.2/host-linux-x64/reports/cuda_gpu_mem_size_sum.py]... 

 ** CUDA GPU MemOps Summary (by Size) (cuda_gpu_mem_size_sum):

 Total (MB)  Count  Avg (MB)  Operation
 ----------  -----  --------  ----------------------------
    104.858      2    52.429  [CUDA memcpy Host-to-Device]

`, `nvtx_sum range run=run missing: /tmp/run.sqlite does not contain NV Tools Extension (NVTX) data.
osrt_sum os-call run=run
total nanoseconds + | count count + | mean nanoseconds
  "poll" 30 3 10
cuda_gpu_mem_size_sum copy run=run
total bytes + | count count + | mean bytes
  "[CUDA memcpy Host-to-Device]" 104858000 2 52429000
`},
		{"the lines of nsys profile --stats=true", "log", `[1/2] [========================100%] run.nsys-rep
[3/8] Executing 'cuda_api_sum' stats report

 Time (%)  Total Time (ns)  Num Calls  Name
 --------  ---------------  ---------  ----------
     75.0                3          1  cudaMalloc
     25.0                1          1  cudaFree

[4/8] Executing 'cuda_gpu_kern_sum' stats report
SKIPPED: run.sqlite does not contain CUDA kernel data.
Generated:
    /tmp/run.nsys-rep
`, `cuda_api_sum call
total nanoseconds + | count count +
  "cudaMalloc" 3 1
  "cudaFree" 1 1
cuda_gpu_kern_sum kernel missing: run.sqlite does not contain CUDA kernel data.
`},
		{"a file of nsys stats -o", "out/base_osrt_sum.csv", "Time (%),Total Time (ns),Num Calls,Name\n100.0,5,1,cudaLike\n",
			"osrt_sum os-call run=base\ntotal nanoseconds + | count count +\n  \"cudaLike\" 5 1\n"},
		{"calls of which nothing says what they are", "-", "Time (%),Total Time (ns),Num Calls,Name\n50.0,5,1,poll\n50.0,5,1,curl_read\n",
			"osrt_sum os-call\ntotal nanoseconds + | count count +\n  \"poll\" 5 1\n  \"curl_read\" 5 1\n-:1: info report-assumed x1\n"},
		{"calls of the driver", "-", "Time (%),Total Time (ns),Num Calls,Name\n100.0,5,1,cuLaunchKernel\n",
			"cuda_api_sum call\ntotal nanoseconds + | count count +\n  \"cuLaunchKernel\" 5 1\n-:1: info report-assumed x1\n"},
		{"names with quotes and commas, doubled and not", "-", "Time (%),Total Time (ns),Instances,Style,Range\n" +
			"50.0,5,1,PushPop,\"say \"\"a, b\"\"\"\n30.0,3,1,PushPop,\"say \"a, b\"\"\n20.0,2,1,PushPop,say \"a\n",
			"nvtx_sum range\ntotal nanoseconds * | count count +\n  \"say \\\"a, b\\\"\" 5 1 style=PushPop\n  \"say \\\"a, b\\\"\" 3 1 style=PushPop\n  \"say \\\"a\" 2 1 style=PushPop\n"},
		{"names over several lines", "-", "Time (%),Total Time (ns),Instances,Style,Range\n60.0,6,1,PushPop,\"two\nlines\"\n40.0,4,1,PushPop,one\n",
			"nvtx_sum range\ntotal nanoseconds * | count count +\n  \"two\\nlines\" 6 1 style=PushPop\n  \"one\" 4 1 style=PushPop\n"},
		{"a name that begins with a quote", "-", "Time (%),Total Time (ns),Instances,Style,Range\n50.0,5,1,PushPop,\"one\n30.0,3,1,PushPop,two\n20.0,2,1,PushPop,\"three\n",
			"nvtx_sum range\ntotal nanoseconds * | count count +\n  \"\\\"one\" 5 1 style=PushPop\n  \"two\" 3 1 style=PushPop\n  \"\\\"three\" 2 1 style=PushPop\n"},
		{"grids and blocks", "-", "Time (%),Total Time (ns),Instances,Avg (ns),GridXYZ,BlockXYZ,Name\n100.0,9,1,9.0,\"   1    2    3\",128 1 1,k\n",
			"cuda_gpu_kern_gb_sum kernel\ntotal nanoseconds + | count count + | mean nanoseconds\n  \"k\" 9 1 9 block=128 1 1 grid=1    2    3\n"},
		{"device work and calls together", "-", "Time (%),Total Time (ns),Instances,Category,Operation\n60.0,6,1,CUDA_KERNEL,k\n40.0,4,2,MEMORY_OPER,[CUDA memset]\n",
			"cuda_gpu_sum gpu-op\ntotal nanoseconds + | count count +\n  \"k\" 6 1 category=CUDA_KERNEL\n  \"[CUDA memset]\" 4 2 category=MEMORY_OPER\n-:1: info report-assumed x1\n"},
		{"a trace of device work is added up", "-", "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MBps),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n" +
			"10,5,1,1,1,1,1,1,1,16,0.000,0.000,,,,,A100 (0),1,7,k\n20,7,2,1,1,1,1,1,1,16,0.000,0.000,,,,,A100 (0),1,7,k\n" +
			"30,100,3,,,,,,,,,,1.500,15.0,Pageable,Device,A100 (0),1,7,[CUDA memcpy Host-to-Device]\n40,50,4,,,,,,,,,,0.500,10.0,Pinned,Device,A100 (0),1,7,[CUDA memcpy Host-to-Device]\n",
			"cuda_gpu_trace gpu-op\ntotal nanoseconds + | bytes bytes + | count count + | min nanoseconds | max nanoseconds\n  \"k\" 12 ? 2 5 7\n" +
				"  \"[CUDA memcpy Host-to-Device]\" 100 1500000 1 100 100 from=Pageable to=Device\n  \"[CUDA memcpy Host-to-Device]\" 50 500000 1 50 50 from=Pinned to=Device\n"},
		{"a trace of calls", "-", "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n1,5,cudaMalloc,0,1,2,3,20,python\n9,6,cudaMalloc,0,2,2,3,20,python\n",
			"cuda_api_trace call\ntotal nanoseconds + | count count + | min nanoseconds | max nanoseconds\n  \"cudaMalloc\" 11 2 5 6\n-:1: info report-assumed x1\n"},
		{"nested ranges add up to more than there was", "-", "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n" +
			"0,10,10,6,4,outer,1,1,0,1,1,,:1,outer\n2,8,6,0,6,inner,1,1,1,0,2,1,:1:2,--inner\n",
			"nvtx_pushpop_trace range\ntotal nanoseconds * | self nanoseconds + | count count + | min nanoseconds | max nanoseconds\n  \"outer\" 10 4 1 10 10\n  \"inner\" 6 6 1 6 6\n"},
		{"ranges without work have no times", "-", "Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Orig Duration (ns),Style,PID,TID,NumGPUOps,Lvl,NumChild,RangeId,ParentId,RangeStack\n" +
			"step,5,100,1,50,PushPop,1,1,3,0,0,1,None,:1\nempty,None,None,3,4,PushPop,1,1,0,0,0,2,None,:2\nstep,205,120,201,60,PushPop,1,1,4,0,0,3,None,:3\n",
			"nvtx_gpu_proj_trace range\ntotal nanoseconds * | host_total nanoseconds * | gpu_ops count * | count count + | min nanoseconds | max nanoseconds\n  \"step\" 220 110 7 2 100 120 style=PushPop\n"},
		{"names that nsys has cut", "-", `
 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum:base):

 Time (%)  Total Time (ns)  Instances       Name
 --------  ---------------  ---------  ---------------
     50.0                5          1  elementwise<at…
     50.0                5          2  elementwise<at…
`, "cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"elementwise<at…\" 5 1\n  \"elementwise<at…\" 5 2\n-:4: info names-cut x2\n"},
		{"rows that head has cut off", "-", "Time (%),Total Time (ns),Instances,Name\n60.0,6,1,a\n20.0,2,1,b\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 6 1\n  \"b\" 2 1\n-:2: data-loss table-cut x2\n"},
		{"shares that are not those of the totals", "-", "Time (%),Total Time (ns),Instances,Name\n90.0,5,1,a\n10.0,5,1,b\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 5 1\n  \"b\" 5 1\n-:2: suspect share-mismatch x2\n"},
		{"rows that are damaged", "-", "Time (%),Total Time (ns),Instances,Name\n50.0,5,1,a\n50.0,five,1,b\n1.0\n50.0,-5,1,c\n50.0,99999999999999999999,1,d\n50.0,5,1,e\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 5 1\n  \"e\" 5 1\n-:3: data-loss row-malformed x4\n"},
		{"values that are not known", "-", "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,5,,nan,a\n,None,3,-,b\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count + | mean nanoseconds\n  \"a\" 5 ? ?\n  \"b\" ? 3 ?\n"},
		{"a unit that no header says", "-", "Time(%),Total,Calls,Name\n100.0,5,1,cudaFree\n",
			"cuda_api_sum call\ncount count +\n  \"cudaFree\" 1\n-:1: data-loss unit-unknown x1\n-:1: info report-assumed x1\n"},
		{"a table without rows", "-", "Processing [r.sqlite] with [reports/cuda_gpu_kern_sum.py]... \nTime (%),Total Time (ns),Instances,Name\n\n",
			"cuda_gpu_kern_sum kernel run=r\ntotal nanoseconds + | count count +\n"},
		{"an error of nsys behind a table", "-", "Time (%),Total Time (ns),Instances,Name\n100.0,5,1,a\n\nProcessing [r.sqlite] with [reports/osrt_sum.py]... \nERROR: the disk is full.\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 5 1\n-:5: data-loss nsys-error x1\n"},
		{"a form that is not read", "-", "Processing [r.sqlite] with [reports/osrt_sum.py]... \n\n+------+\n| poll |\n+------+\n\nProcessing [r.sqlite] with [reports/cuda_api_sum.py]... \nTime (%),Total Time (ns),Num Calls,Name\n100.0,5,1,a\n",
			"cuda_api_sum call run=r\ntotal nanoseconds + | count count +\n  \"a\" 5 1\n-:7: data-loss table-unread x1\n"},
		{"JSON with quotes that are not escaped", "-", "Processing [r.sqlite] with [reports/nvtx_sum.py]... \n[\n  {\n    \"Time (%)\": 60.0,\n    \"Total Time (ns)\": 6,\n    \"Instances\": 2,\n    \"Style\": \"PushPop\",\n    \"Range\": \"say \"a\", {b}\"\n  },\n" +
			"  {\"Time (%)\": 40.0, \"Total Time (ns)\": 4, \"Instances\": null, \"Style\": \"PushPop\", \"Range\": \"c\\\\d\"}\n]\n",
			"nvtx_sum range run=r\ntotal nanoseconds * | count count +\n  \"say \\\"a\\\", {b}\" 6 2 style=PushPop\n  \"c\\\\d\" 4 ? style=PushPop\n"},
		{"JSON that breaks off", "-", "[{\"Time (%)\":60.0,\"Total Time (ns)\":6,\"Instances\":2,\"Name\":\"a\"},{\"Time (%)\":40.0,\"Total Ti",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 6 2\n-:2: data-loss row-malformed x1\n-:2: data-loss table-cut x1\n"},
		{"a report that is not known", "-", " ** A New Summary (a_new_sum):\n\n Time (%)  Total Time (ms)  Count  Name\n --------  ---------------  -----  ----\n    100.0              1.5      2  x\n",
			"a_new_sum row\ntotal nanoseconds + | count count +\n  \"x\" 1500000 2\n"},
		{"columns that are not known", "-", "Time (%),Total Time (ns),Color,Instances,Rate (furlongs),Name\n100.0,5,red,1,2,a\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 5 1\n"},
		{"the kernels of ranges", "-", "NVTX Range,Style,PID,TID,NVTX Inst,Kern Inst,Total Time (ns),Avg (ns),Kernel Name\nstep,PushPop,1,1,2,6,60,10.0,k\n",
			"nvtx_kern_sum kernel\nranges count * | count count + | total nanoseconds * | mean nanoseconds\n  \"k\" 2 6 60 10 range=step style=PushPop\n"},
		{"queues of launches", "-", "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),AAvg (ns),QAvg (ns),KAvg (ns),API Name,Kernel Name\n1,1,0,5,4,100.0,90.0,10.0,20.0,70.0,cudaLaunchKernel,k\n",
			"cuda_kern_exec_sum kernel\ncount count + | queued count + | span_mean nanoseconds | span_median nanoseconds | call_mean nanoseconds | queue_mean nanoseconds | mean nanoseconds\n" +
				"  \"k\" 5 4 100 90 10 20 70 call=cudaLaunchKernel\n"},
		{"bytes that are not UTF-8", "-", "Time (%),Total Time (ns),Instances,Name\n100.0,5,1,\xff\xfek\n",
			"cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"\ufffdk\" 5 1\n"},
	} {
		if diff := cmp.Diff(tc.want, show(read(t, tc.file, tc.in))); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tc.name, diff)
		}
	}
}

// TestNamed reads the names of files that nsys stats -o writes.
func TestNamed(t *testing.T) {
	for name, want := range map[string]string{
		"out/base_cuda_gpu_kern_sum.csv": "cuda_gpu_kern_sum of base", `C:\runs\my-run.CUDA_API_SUM.txt`: "cuda_api_sum of my-run", "cuda_gpu_sum.csv": "cuda_gpu_sum of ", "paddle_gpukernsum.csv": "cuda_gpu_kern_sum of paddle",
		"a_cuda_gpu_kern_gb_sum.csv": "cuda_gpu_kern_gb_sum of a", "run_nvtx_pushpop_trace.csv.gz": "nvtx_pushpop_trace of run", "osrt_sum_cuda_api_sum.csv": "cuda_api_sum of osrt_sum",
		"osrt_sum/loss.csv": "", "checksum.csv": "", "-": "", "": "",
	} {
		got := ""
		if rep, run, ok := reportInName(name); ok {
			got = rep.name + " of " + run
		}
		if got != want || Named(name) != (want != "") {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestNotMine: an input without a table of nsys is refused with a fix, and not
// recognized by Sniff.
func TestNotMine(t *testing.T) {
	for name, in := range map[string]string{
		"nothing": "", "a log": "loss 0.1\nloss 0.2\n", "other CSV": "a,b,c\n1,2,3\n", "a trace": `{"traceEvents":[]}`,
		"a Markdown table": "| Name | Time |\n| ---- | ---- |\n| a | 1 |\n", "dashes": "-----  -----  -----\n", "zeros": "Time (%),Total Time (ns),Instances,Name\n\x00",
		"CSV of another program": "name,start,duration\nx,1,2\n", "JSON of another program": `[{"name":"x","start":1,"duration":2}]`, "JSON of nothing": "[{}]", "an open bracket": "[\n",
		"a torch profiler table": "---------  ------------  ------------\nName       Self CPU %      Self CPU\n---------  ------------  ------------\naten::mm        10.00%     1.000us\n",
	} {
		if Sniff([]byte(in)) {
			t.Errorf("%s: seen as a table", name)
		}
		if strings.ContainsRune(in, 0) {
			continue
		}
		tables, err := Read(strings.NewReader(in), "in", Limits{})
		if err == nil || !strings.Contains(err.Error(), "in:1: no table of nsys stats") {
			t.Errorf("%s: got %v, %v", name, tables, err)
		}
	}
}

// TestBrokenOff: the tables before the position where an input breaks off are
// kept, and an issue has the position.
func TestBrokenOff(t *testing.T) {
	fire := errors.New("disk error")
	in := io.MultiReader(strings.NewReader("Time (%),Total Time (ns),Instances,Name\n100.0,5,1,a\n"), iotest.ErrReader(fire))
	tables, err := Read(in, "in", Limits{})
	if !errors.Is(err, fire) || tables == nil || tables.Complete {
		t.Fatalf("got %+v, %v", tables, err)
	}
	want := "cuda_gpu_kern_sum kernel\ntotal nanoseconds + | count count +\n  \"a\" 5 1\nin:3: data-loss input-truncated x1\n"
	if diff := cmp.Diff(want, show(tables)); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
	if !strings.Contains(tables.Issues[0].Help, "disk error") {
		t.Errorf("the issue does not say why: %s", tables.Issues[0].Help)
	}
	if tables, err := Read(iotest.ErrReader(fire), "in", Limits{}); !errors.Is(err, fire) || tables != nil {
		t.Errorf("nothing was read, got %+v, %v", tables, err)
	}
}

// A limit is an error with a code of its own; a tail is an error after the end
// of the data.
type limit struct{}

func (limit) Error() string { return "too long" }
func (limit) Code() string  { return "input-limit" }

type tail struct{}

func (tail) Error() string  { return "not gzip" }
func (tail) Harmless() bool { return true }

// TestEnds: a limit has its own code, and an error after the compressed data is
// not data loss.
func TestEnds(t *testing.T) {
	for _, tc := range []struct {
		err      error
		complete bool
		want     string
	}{
		{limit{}, false, "in:3: data-loss input-limit x1\n"}, {tail{}, true, "in:3: info trailing-data x1\n"}, {io.ErrUnexpectedEOF, false, "in:3: data-loss input-truncated x1\n"},
	} {
		in := io.MultiReader(strings.NewReader("Time (%),Total Time (ns),Instances,Name\n100.0,5,1,a\n"), iotest.ErrReader(tc.err))
		tables, err := Read(in, "in", Limits{})
		if !errors.Is(err, tc.err) || tables == nil || tables.Complete != tc.complete {
			t.Errorf("%v: got %+v, %v", tc.err, tables, err)
		} else if got := show(tables); !strings.HasSuffix(got, tc.want) {
			t.Errorf("%v: got\n%s", tc.err, got)
		}
	}
}

// TestSmallReads: the result does not depend on how the input arrives.
func TestSmallReads(t *testing.T) {
	in := "Processing [r.sqlite] with [reports/cuda_gpu_kern_sum.py]... \n\nTime (%),Total Time (ns),Instances,Name\n100.0,5,1,\"a\nb\"\n"
	tables, err := Read(iotest.OneByteReader(strings.NewReader(in)), "in", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(show(read(t, "in", in)), show(tables)); diff != "" {
		t.Errorf("whole(-) byte by byte(+)\n%s", diff)
	}
}

// TestLimits: data over a limit is added up or left out, with an issue.
func TestLimits(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("Time (%),Total Time (ns),Instances,Avg (ns),Name\n")
	for i := range 100 {
		fmt.Fprintf(&csv, "1.0,%d,2,7.0,k%d\n", 1000+i, i)
	}
	tables, err := Read(strings.NewReader(csv.String()), "in", Limits{Rows: 10})
	if err != nil {
		t.Fatal(err)
	}
	table := tables.List[0]
	if len(table.Rows) != 10 || table.Left != 90 || table.Rest[2].Known {
		t.Errorf("got %d rows, %d left, rest %+v", len(table.Rows), table.Left, table.Rest)
	}
	// 1000*100 + 0+1+...+99
	if total, count := table.Sum(0), table.Sum(1); total.Value != 104950 || count.Value != 200 {
		t.Errorf("columns sum to %+v and %+v, want 104950 and 200", total, count)
	}
	if tables.Issues[0].Code != "table-rows-pooled" || tables.Issues[0].Count != 90 {
		t.Errorf("issues %+v", tables.Issues)
	}
	many := strings.Repeat("Time (%),Total Time (ns),Instances,Name\n100.0,5,1,a\n\n", maxTables+5)
	if tables := read(t, "in", many); len(tables.List) != maxTables || tables.Issues[0].Code != "too-many-tables" || tables.Issues[0].Count != 5 {
		t.Errorf("got %d tables, issues %+v", len(tables.List), tables.Issues)
	}
	long := "Time (%),Total Time (ns),Instances,Name\n100.0,5,1," + strings.Repeat("x", maxLine) + "\n"
	if tables := read(t, "in", long); len(tables.List[0].Rows) != 1 || tables.Issues[0].Code != "line-too-long" {
		t.Errorf("a line that is too long gives %d rows, issues %+v", len(tables.List[0].Rows), tables.Issues)
	}
}

// TestManyMembers: rows in JSON may have any number of members, and reading
// them takes time proportional to it. If a key occurs twice, the last value is
// used.
func TestManyMembers(t *testing.T) {
	var more strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&more, "\"c%d\":1,\n", i)
	}
	start := time.Now()
	in := "[\n{" + more.String() + `"Time (%)":100.0,"Total Time (ns)":4,"Instances":1,"Name":"a"},` +
		"\n{" + more.String() + `"Time (%)":0.0,"Total Time (ns)":7,"Instances":2,"Total Time (ns)":8,"Name":"b"}` + "\n]\n"
	tables, err := Read(strings.NewReader(in), "cuda_gpu_kern_sum.json", Limits{})
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if err != nil || len(tables.List) != 1 {
		t.Fatalf("%v, %d tables", err, len(tables.List))
	}
	table := tables.List[0]
	if total := table.Sum(0); len(table.Rows) != 2 || !total.Known || total.Value != 12 {
		t.Errorf("%d rows, %d columns, sum %+v, %v", len(table.Rows), len(table.Columns), table.Sum(0), tables.Issues)
	}
}
