package attribute

import (
	"cmp"

	"assay/internal/label"
	"assay/summary"
	"assay/trace"
)

// An idleKey is a cause of idle time, packed in one number. It is looked up for each event of
// the host during idle time, so it must be cheap to compare.
type idleKey uint64

// idleKeyOf packs a cause, the state of a thread for the cause host wait, and a name, as an
// index into idleness.names.
func idleKeyOf(o idleOwner, s idleState, name int32) idleKey {
	return idleKey(o)<<40 | idleKey(s)<<32 | idleKey(uint32(name))
}

func (k idleKey) owner() string    { return ownerNames[k>>40] }
func (k idleKey) state() idleState { return idleState(k >> 32) }
func (k idleKey) name() int32      { return int32(uint32(k)) }

// An idleOwner is one of [summary.Owners]. An idleState is what the launching thread did during
// a host wait.
type (
	idleOwner uint8
	idleState uint8
)

const (
	byHost idleOwner = iota
	byLaunch
	byBetween
	byDependency
	byNeighbor
	byNothing
	byOpaque
	byNotRecorded
	byUnknown
)

var ownerNames = [...]string{
	byHost: summary.OwnerHost, byLaunch: summary.OwnerLaunch, byBetween: summary.OwnerBetween,
	byDependency: summary.OwnerDependency,
	byNeighbor:   summary.OwnerNeighbor,
	byNothing:    summary.OwnerNothing, byOpaque: summary.OwnerOpaque, byNotRecorded: summary.OwnerNotRecorded,
	byUnknown: summary.OwnerUnknown,
}

const (
	noState idleState = iota
	inSync
	inCopy
	inAlloc
	inLaunch
	inCall
	inData
	inCollector
	inCollective
	inOp
	inPython
	inAnnotation
	inOS
	isOff
	isUnrecorded
)

var stateNames = [...]string{
	noState: "", inSync: summary.StateSync, inCopy: summary.StateCopy, inAlloc: summary.StateAlloc,
	inLaunch: summary.StateLaunch,
	inCall:   summary.StateCall, inData: summary.StateData, inCollector: summary.StateCollector,
	inCollective: summary.StateCollective, inOp: summary.StateOp, inPython: summary.StatePython,
	inAnnotation: summary.StateAnnotation, inOS: summary.StateOS, isOff: summary.StateOff,
	isUnrecorded: summary.StateUnrecorded,
}

// callStates maps the kind of a call to the state of a thread that is in it.
var callStates = map[string]idleState{
	"launch": inLaunch, "graph-launch": inLaunch, "sync": inSync, "copy": inCopy, "memset": inCopy, "alloc": inAlloc,
	"free": inAlloc, "other": inCall,
}

// name returns the index into names of a symbol, whose text may end in an address: that is cut.
func (x *idleness) name(s trace.Sym) int32 {
	for int(s) >= len(x.bySym) {
		x.bySym = append(x.bySym, make([]int32, max(256, int(s)+1-len(x.bySym), len(x.bySym)))...)
	}
	if x.bySym[s] == 0 {
		x.bySym[s] = x.number(label.WithoutAddress(x.a.t.Name(s)))
	}
	return x.bySym[s]
}

func (x *idleness) number(name string) int32 {
	i, ok := x.byName[name]
	if !ok {
		i = int32(len(x.names))
		x.names, x.byName[name] = append(x.names, name), i
	}
	return i
}

// less orders keys by their texts, so that the order does not depend on numbers.
func (x *idleness) less(a, b idleKey) bool {
	return cmp.Or(cmp.Compare(a.owner(), b.owner()), cmp.Compare(stateNames[a.state()], stateNames[b.state()]),
		cmp.Compare(x.names[a.name()], x.names[b.name()])) < 0
}

// An idleTable has the rows of one device, numbered in the order of first use. Row names are
// empty until [idleness.finish].
type idleTable struct {
	index map[idleKey]int32
	keys  []idleKey
	rows  []*summary.Idle
}

// A recentRow caches the row for a key. It may be the row of otherNames.
type recentRow struct {
	device int
	key    idleKey
	number int32
	row    *summary.Idle
}

const recentBits = 10

// rowOf returns the number of the row for a key and adds the row if it is missing. A full table
// uses the row of otherNames; causes without a name are few and keep their rows.
func (t *idleTable) rowOf(x *idleness, key idleKey) int32 {
	number, ok := t.index[key]
	if !ok && len(t.rows) >= x.maxRows && key.name() != 0 {
		key = idleKeyOf(idleOwner(key>>40), key.state(), x.others)
		number, ok = t.index[key]
	}
	if !ok {
		number = int32(len(t.rows))
		t.index[key] = number
		t.keys = append(t.keys, key)
		t.rows = append(t.rows, &summary.Idle{Owner: key.owner(), State: stateNames[key.state()]})
	}
	return number
}
