package eventscan

import (
	"encoding/binary"
	"math/bits"
)

// memberFields are the members of an event that are read.
var memberFields = map[string]Field{
	"ph": Phase, "ts": Start, "dur": Dur, "args": Args,
	"cat": Category, "name": Name, "pid": PID, "tid": TID, "id": ID, "id2": ID2,
}

// argFields are the members of args that are read. Profilers of 2022 wrote
// "external id".
var argFields = map[string]Field{
	"Input Dims": InputDims, "Input type": InputTypes, "Input Strides": InputStrides, "Concrete Inputs": ConcreteInputs,
	"Collective name": Collective, "dtype": Dtype, "Process Group Name": GroupName, "Process Group Ranks": GroupRanks,
	"Comms Id": CommsID,
	"name":     ArgName, "kernel_hash": KernelHash, "kernel": LaunchedKernel, "cuda_sync_kind": SyncKind, "finished": Finished,
	"grid": Grid, "block": Block,
	"External id": ExternalID, "external id": ExternalID, "correlation": Correlation, "correlation_id": Correlation,
	"Python id": PythonID, "Python parent id": PythonParent, "Python module id": PythonModule,
	"Sequence number": Sequence, "Record function id": RecordFunction, "step_num": StepNumber, "Fwd thread id": ForwardThread,
	"device": Device, "stream": Stream, "bytes": Bytes,
	"registers per thread": Registers, "shared memory": SharedMemory,
	"In msg nelems": InElements, "Out msg nelems": OutElements, "Group size": GroupSize,
	"Seq": CollectiveSeq, "Src Rank": SourceRank, "Dst Rank": TargetRank, "Rank": PluginRank,
	"Bytes": MemBytes, "Addr": MemAddress, "Total Allocated": MemAllocated, "Total Reserved": MemReserved,
	"Device Id": MemDevice, "Device Type": MemDeviceType,
	"wait_on_stream": WaitStream, "wait_on_cuda_event_record_corr_id": WaitRecord,
	"graph id": GraphID, "graph node id": GraphNode, "size": CopySize,
}

// A keyTable finds the field of a key by its length and its first and last
// eight bytes, which are unique for each known key. Two loads and one
// comparison are several times faster than a map, and an event has about twenty
// keys.
type keyTable [1 << tableBits]keyEntry

const tableBits = 8

type keyEntry struct {
	head, tail uint64
	length     int
	field      Field
	key        string
}

var memberTable, argTable = newKeyTable(memberFields), newKeyTable(argFields)

func newKeyTable(fields map[string]Field) *keyTable {
	t := new(keyTable)
	for key, field := range fields {
		padded := append([]byte(key), make([]byte, 8)...)
		head, tail := ends(padded, 0, len(key))
		i := slot(head, tail)
		for t[i].length != 0 {
			i = (i + 1) % len(t)
		}
		t[i] = keyEntry{head, tail, len(key), field, key}
	}
	return t
}

// ends returns the first and the last eight bytes of the key b[i:end]. For a
// shorter key, head is filled up with zeros and tail is 0. Eight bytes must
// follow b[i].
func ends(b []byte, i, end int) (head, tail uint64) {
	head = binary.LittleEndian.Uint64(b[i:])
	n := end - i
	if n < 8 {
		return head & (1<<(8*n) - 1), 0
	}
	return head, binary.LittleEndian.Uint64(b[end-8:])
}

func slot(head, tail uint64) int {
	return int(((head ^ bits.RotateLeft64(tail, 23)) * 0x9e3779b97f4a7c15) >> (64 - tableBits))
}

// find returns the field of the key b[i:end]. Eight bytes must follow the key.
// An unknown key with the length, head and tail of a known key of more than
// sixteen bytes would match, so such keys are compared completely.
func (t *keyTable) find(b []byte, i, end int) Field {
	head, tail := ends(b, i, end)
	for at := slot(head, tail); ; at = (at + 1) % len(t) {
		e := &t[at]
		if e.length == end-i && e.head == head && e.tail == tail {
			if e.length > 16 && string(b[i:end]) != e.key {
				return FieldNone
			}
			return e.field
		}
		if e.length == 0 {
			return FieldNone
		}
	}
}
