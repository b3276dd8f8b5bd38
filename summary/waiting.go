package summary

import "fmt"

// LargeCopyBytes is the size in bytes above which a copy counts as large. The runtime copies smaller ones
// from pageable host memory without waiting for the device.
const LargeCopyBytes = 64 << 10

// A CopyCall represents all copies or memsets of one name that were requested by calls of one name,
// separately for large and other ones. (Input, Rank, Device, Class, Name, Call, Large) is its key. The rows
// of a device and class have the same sums as the [Copy] rows.
type CopyCall struct {
	Name   string `json:"name"`           // as for a Copy
	Call   string `json:"call,omitempty"` // such as "cudaMemcpyAsync"; absent if unknown
	Class  string `json:"class"`          // "copy" or "memset"
	Large  bool   `json:"large"`          // over LargeCopyBytes; if the size is unknown, by its time: 1 ms or more
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`

	Count      int64  `json:"count"`
	TotalNS    int64  `json:"total_ns"` // total time on the device
	MaxNS      int64  `json:"max_ns"`
	MaxStartNS int64  `json:"max_start_ns"`    // start of the longest run, on the input's own clock
	Bytes      *int64 `json:"bytes,omitempty"` // sum over the runs with a known size; absent if there are none

	// HostNS is the time of the calls within the device's window, summed over
	// threads. LostNS is the upper bound of the time saved by not waiting: see
	// [Sync].
	HostNS int64 `json:"host_ns"`
	LostNS int64 `json:"lost_ns,omitempty"`
}

// A Sync has the time during which the host of one device was blocked in calls that wait for all work of a
// stream, context or device (cudaStreamSynchronize, cudaDeviceSynchronize), or for an event that is the end
// of all work. It covers the threads that launch work on the device, because these launch nothing while
// they wait. (Input, Device) is its key.
type Sync struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`
	Calls  int64 `json:"calls"`   // calls that overlap the device's window
	HostNS int64 `json:"host_ns"` // part of the window during which at least one thread was in such a call
	// LostNS is an upper bound of the idle time that would be saved by not waiting. If an idle interval
	// ends with work that the host launched late, a call before it is charged with the part of the interval
	// that is at most as long as the call. No part is charged twice: of several calls, including those that
	// copy, the longest is charged.
	LostNS int64 `json:"lost_ns"`

	// The same for calls that wait for an event and return when the device has done all work that was
	// launched before, so that no other work is queued.
	EventCalls  int64 `json:"event_calls,omitempty"`
	EventHostNS int64 `json:"event_host_ns,omitempty"`
	EventLostNS int64 `json:"event_lost_ns,omitempty"`

	// The longest call. Calls that wait for an event are considered only if there are no others.
	Longest    string `json:"longest"` // such as "cudaStreamSynchronize"
	MaxNS      int64  `json:"max_ns"`
	MaxStartNS int64  `json:"max_start_ns"` // on the input's own clock
}

// UtilizationChunks is the number of chunks of a window.
const UtilizationChunks = 30

// A Utilization is a device's window divided into chunks of equal length. The
// last chunk may be shorter.
type Utilization struct {
	ChunkNS int64   `json:"chunk_ns"`
	BusyNS  []int64 `json:"busy_ns"` // busy time in each chunk
}

// ChunkAt returns the start of a chunk, relative to the window's start, and its
// length.
func (u *Utilization) ChunkAt(i int, window int64) (from, ns int64) {
	from = int64(i) * u.ChunkNS
	return from, min(u.ChunkNS, window-from)
}

// check returns an error if the chunks do not cover the window of d exactly, or
// do not sum to its busy time.
func (u *Utilization) check(d *Device) error {
	if u == nil {
		return nil
	}
	n := int64(len(u.BusyNS))
	if n == 0 || n > UtilizationChunks || u.ChunkNS <= 0 || (d.WindowNS-1)/u.ChunkNS != n-1 {
		return fmt.Errorf("utilization: %d chunks of %d ns do not cut a window of %d ns", n, u.ChunkNS, d.WindowNS)
	}
	rest := d.Activity.Busy()
	for i, busy := range u.BusyNS {
		if _, ns := u.ChunkAt(i, d.WindowNS); busy < 0 || busy > ns {
			return fmt.Errorf("utilization: chunk %d has %d ns, want 0 to %d", i, busy, ns)
		}
		rest -= busy
	}
	if rest != 0 {
		return fmt.Errorf("utilization sums to %d ns, want the %d ns in which anything ran", d.Activity.Busy()-rest, d.Activity.Busy())
	}
	return nil
}
