package summary

import "fmt"

// LargeCopyBytes is the size above which a copy counts as large: the runtime
// takes smaller ones from the host's memory at once, and does not wait.
const LargeCopyBytes = 64 << 10

// A CopyCall is every copy or memset of one name that calls of one name asked
// for, large ones apart from others. (Input, Rank, Device, Class, Name, Call,
// Large) is its key, and the rows of a device and class have all that [Copy]
// has.
type CopyCall struct {
	Name   string `json:"name"`           // as that of a Copy
	Call   string `json:"call,omitempty"` // as "cudaMemcpyAsync"; absent if not known
	Class  string `json:"class"`          // "copy" or "memset"
	Large  bool   `json:"large"`          // over LargeCopyBytes; false where bytes are not known
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`

	Count      int64  `json:"count"`
	TotalNS    int64  `json:"total_ns"` // sum of durations on the device
	MaxNS      int64  `json:"max_ns"`
	MaxStartNS int64  `json:"max_start_ns"`    // when the longest began, on the input's own clock
	Bytes      *int64 `json:"bytes,omitempty"` // sum over the runs that tell; absent if none does

	// HostNS is the time of the calls within the device's window, summed over
	// threads. LostNS is what not waiting could have saved at best: see [Sync].
	HostNS int64 `json:"host_ns"`
	LostNS int64 `json:"lost_ns,omitempty"`
}

// A Sync says for how long the host of one device stood still in calls that wait
// for all work of a stream, context or device (cudaStreamSynchronize,
// cudaDeviceSynchronize), those for an event not counted. It is of the threads
// that launch work on the device: while they wait, they launch none. (Input,
// Device) is its key.
type Sync struct {
	Input  int   `json:"input"`
	Rank   int   `json:"rank"`
	Device int64 `json:"device"`
	Calls  int64 `json:"calls"`   // that meet the device's window
	HostNS int64 `json:"host_ns"` // of the window, while at least one thread was in such a call
	// LostNS is idle time that not waiting could have saved at best. Of idle time
	// that ends with work that the host launched late, as much is charged to a
	// call before it as the call took, and none twice; of several calls, those that
	// copy included, to the longest.
	LostNS int64 `json:"lost_ns"`

	// The longest of them.
	Longest    string `json:"longest"` // as "cudaStreamSynchronize"
	MaxNS      int64  `json:"max_ns"`
	MaxStartNS int64  `json:"max_start_ns"` // on the input's own clock
}

// UtilizationChunks is how many chunks a window is cut into.
const UtilizationChunks = 30

// A Utilization is a device's window cut into chunks of equal length, of which
// the last may be shorter.
type Utilization struct {
	ChunkNS int64   `json:"chunk_ns"`
	BusyNS  []int64 `json:"busy_ns"` // how long anything ran in each
}

// ChunkAt returns the length of a chunk of a window and when it begins, counted
// from the window's start.
func (u *Utilization) ChunkAt(i int, window int64) (from, ns int64) {
	from = int64(i) * u.ChunkNS
	return from, min(u.ChunkNS, window-from)
}

// check returns an error if the chunks do not cut the window of d, or do not sum
// to its busy time.
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
