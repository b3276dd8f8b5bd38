package stats

import (
	"fmt"
	"strings"
	"testing"

	"assay/trace"
)

const (
	gpuTrace = "Start (us),Duration (us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n" +
		"10.5,2.25,7,4,1,1,256,1,1,32,0.001,0.002,,,,,NVIDIA L4 (2),1,13,\"void f<1, 2>(int, float)\"\n" +
		"20,1,8,,,,,,,,,,3.500,9,Pageable,Device,NVIDIA L4 (2),1,14,[CUDA memcpy HtoD]\n30,1,9,,,,,,,,,,3.500,9,,Device,NVIDIA L4 (2),1,14,[CUDA memset]\n"
	apiTrace  = "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n9000,500,cudaLaunchKernel_v7000,0,7,77,78,20,\"a, b\"\n19000,400,cuMemcpyHtoDAsync_v2,0,8,77,78,20,x\n"
	nvtxTrace = "Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n8000,30000,22000,0,22000,\":step 1, warm\",77,78,0,0,1,,:1,s\n"
)

func lines(t *testing.T, parts ...string) (out string) {
	t.Helper()
	var in []Part
	for i, text := range parts {
		in = append(in, Part{fmt.Sprint("part", i), strings.NewReader(text)})
	}
	tr, err := ReadTimeline(in, "x.csv", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	for a := range tr.Activities.All() {
		d := tr.Detail(a.Detail)
		out += fmt.Sprintln(a.Kind, tr.Name(a.Name), a.Start, a.Dur, a.Correlation, d.Grid, d.Block, d.Registers, d.SharedMemory, d.Bytes, tr.Tracks[a.Track].Device, tr.Tracks[a.Track].Stream)
	}
	for c := range tr.Calls.All() {
		out += fmt.Sprintln(c.Kind, tr.Name(c.Name), c.Start, c.Dur, c.Correlation)
	}
	for s := range tr.Spans.All() {
		out += fmt.Sprintln(s.Kind, tr.Name(s.Name), s.Start, s.Dur)
	}
	for _, is := range tr.Issues {
		out += fmt.Sprintln(is.Code, is.Count)
	}
	return out + tr.Meta.Devices[2]
}

// TestTimeline: units are those of the header, and work is linked to calls if one process made them.
func TestTimeline(t *testing.T) {
	const work = "kernel void f<1, 2>(int, float) 10500 2250 %s [4 1 1] [256 1 1] 32 3000 -1 2 13\n" +
		"gpu_memcpy Memcpy HtoD (Pageable -> Device) 20000 1000 %s [0 0 0] [0 0 0] -1 -1 3500000 2 14\ngpu_memset Memset (Device) 30000 1000 %s [0 0 0] [0 0 0] -1 -1 3500000 2 14\n"
	if got, want := lines(t, apiTrace, nvtxTrace, gpuTrace), fmt.Sprintf(work, "7", "8", "9")+
		"cuda_runtime cudaLaunchKernel_v7000 9000 500 7\ncuda_driver cuMemcpyHtoDAsync_v2 19000 400 8\nuser_annotation step 1, warm 8000 22000\nNVIDIA L4"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	two := apiTrace + "19000,400,cudaFree,0,7,99,99,20,x\n"
	if got := lines(t, two, gpuTrace); !strings.HasPrefix(got, fmt.Sprintf(work, "0", "0", "0")) {
		t.Errorf("calls of two processes: %s", got)
	}
	if got := lines(t, gpuTrace+"x,1,8,,,,,,,,,,3.500,9,Pageable,Device,NVIDIA L4 (2),1,14,k\n1,2\n5,1e30,8,,,,,,,,,,,9,,,,1,14,k\n"); !strings.Contains(got, "event-bad-time 2\n") || !strings.Contains(got, "row-malformed 1\n") {
		t.Error(got)
	}
}

func TestSniffTimeline(t *testing.T) {
	for text, want := range map[string][2]bool{gpuTrace: {true, true}, apiTrace: {true, false}, nvtxTrace: {true, false},
		"Time (%),Total Time (ns),Instances,Avg (ns),Name\n": {}, "Start,Duration,CorrId,GrdX,BlkX,Strm,Name\n": {}, "start (ns),duration (ns),name\n": {}, "": {}} {
		if is, work := SniffTimeline([]byte(text)); is != want[0] || work != want[1] {
			t.Errorf("%.40q: %v, %v", text, is, work)
		}
	}
	if _, err := ReadTimeline([]Part{{"x", strings.NewReader("a,b\n1,2\n")}}, "x", trace.SelectAll()); err != ErrNoEvents {
		t.Error(err)
	}
}

func FuzzTimeline(f *testing.F) {
	f.Add(gpuTrace)
	f.Add(apiTrace)
	f.Add(nvtxTrace)
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ReadTimeline([]Part{{"x", strings.NewReader(text)}}, "x", trace.SelectAll())
		if err != nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Start < 0 || a.Dur < 0 {
				t.Fatalf("%+v", a)
			}
		}
		for c := range tr.Calls.All() {
			if c.Start < 0 || c.Dur < 0 {
				t.Fatalf("%+v", c)
			}
		}
	})
}
