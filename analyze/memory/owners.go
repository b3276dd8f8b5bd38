package memory

import (
	"cmp"
	"slices"
	"strings"

	"assay/summary"
	"assay/torchprof/memory"
)

// An ownerKey identifies an allocation site: a place in the program and a purpose.
type ownerKey struct{ kind, frame string }

// owners maps stacks to allocation sites.
type owners struct {
	stacks *memory.Stacks
	of     []int32 // owner plus 1, by stack; 0 until computed
	list   []ownerKey
	index  map[ownerKey]int32
	known  map[memory.FrameID]frameFacts
}

// frameFacts are the properties of a function that matter for memory allocated below it.
type frameFacts struct {
	kind    string // purpose, or ""
	foreign bool   // see isForeign
}

// noOwner is the owner of memory without a stack.
const noOwner = int32(0)

func newOwners(s *memory.Stacks) *owners {
	unknown := ownerKey{kind: summary.KindUnknown}
	return &owners{stacks: s, of: make([]int32, s.Len()), list: []ownerKey{unknown}, index: map[ownerKey]int32{unknown: noOwner}, known: make(map[memory.FrameID]frameFacts)}
}

func (o *owners) owner(id memory.StackID) int32 {
	if id == 0 {
		return noOwner
	}
	if n := o.of[id]; n != 0 {
		return n - 1
	}
	key := o.key(o.stacks.IDs(id))
	n, ok := o.index[key]
	if !ok {
		n = int32(len(o.list))
		o.index[key] = n
		o.list = append(o.list, key)
	}
	o.of[id] = n + 1
	return n
}

// key returns the allocation site of a stack: the innermost frame of the program itself or, without
// one, the innermost frame with a file. The kind is from the first rule that any frame matches.
func (o *owners) key(ids []memory.FrameID) ownerKey {
	at, inFile, best := -1, -1, len(kindRules)
	for i, id := range ids {
		f := o.facts(id)
		if !f.foreign && at < 0 {
			at = i
		}
		if file := o.stacks.At(id).File; inFile < 0 && file != "" && file != "??" {
			inFile = i
		}
		for j := 0; f.kind != "" && j < best; j++ {
			if kindRules[j].kind == f.kind {
				best = j
			}
		}
	}
	key := ownerKey{kind: summary.KindOther}
	if best < len(kindRules) {
		key.kind = kindRules[best].kind
	}
	if at < 0 {
		at = max(0, inFile)
	}
	key.frame = frameText(o.stacks.At(ids[at]))
	return key
}

func (o *owners) facts(id memory.FrameID) frameFacts {
	f, ok := o.known[id]
	if !ok {
		frame := o.stacks.At(id)
		file := strings.ReplaceAll(frame.File, `\`, "/")
		f = frameFacts{kind: kindOf(file, frame.Function), foreign: isForeign(file, frame.Function)}
		o.known[id] = f
	}
	return f
}

// A kindRule gives the purpose of memory allocated below a function. It matches if the file contains
// one of files, the function is one of names, or the function contains one of words.
type kindRule struct {
	kind                string
	files, names, words []string
}

// kindRules are in order of precedence, because a stack can match several: a backward pass that
// recomputes a forward pass is below backward, checkpoint and forward. For FSDP the list has only
// the files with collectives, because its modules enclose every forward pass.
var kindRules = []kindRule{
	{kind: summary.KindKVCache, files: []string{"kv_cache", "kvcache", "cache_engine", "mem_cache/memory_pool"}, words: []string{"kv_cache", "kvcache"}},
	{kind: summary.KindWorkspace, words: []string{"orkspace"}},
	{kind: summary.KindOptimizer, files: []string{"torch/optim/", "/optimizers/", "bitsandbytes/optim"}, names: []string{"_init_group", "optimizer_step"}},
	{kind: summary.KindComm, files: []string{"torch/distributed/distributed_c10d", "fsdp/_flat_param", "fsdp/_unshard", "fsdp/_runtime_utils", "_fsdp_param", "_fsdp_collectives", "deepspeed/comm"}, words: []string{"nccl", "all_gather", "reduce_scatter", "all_reduce"}},
	{kind: summary.KindRecomputed, names: []string{"recompute_fn", "unpack_hook"}, words: []string{"recompute"}},
	{kind: summary.KindBackward, files: []string{"torch/autograd/__init__.py", "torch/autograd/graph.py"}, names: []string{"backward", "_engine_run_backward"}, words: []string{"autograd::Engine"}},
	{kind: summary.KindActivations, names: []string{"forward", "_call_impl", "_wrapped_call_impl"}},
	{kind: summary.KindData, files: []string{"torch/utils/data"}, words: []string{"collate", "pin_memory"}},
	{kind: summary.KindParameters, names: []string{"__init__", "_apply", "from_pretrained", "load_state_dict", "load_weights", "reset_parameters", "to_empty"}},
}

func kindOf(file, function string) string {
	contains := func(text string) func(string) bool {
		return func(part string) bool { return strings.Contains(text, part) }
	}
	for _, r := range kindRules {
		if slices.ContainsFunc(r.files, contains(file)) || slices.Contains(r.names, function) || slices.ContainsFunc(r.words, contains(function)) {
			return r.kind
		}
	}
	return ""
}

// isForeign reports whether a function is part of PyTorch or Python, or is compiled. Such functions
// allocate on behalf of their callers.
func isForeign(file, function string) bool {
	switch {
	case file == "" || file == "??" || strings.HasPrefix(file, "<"):
		return true
	case strings.HasPrefix(file, "torch/") || strings.Contains(file, "/torch/"):
		return true
	case strings.Contains(file, "/lib/python3") && !strings.Contains(file, "-packages/"):
		return true
	}
	return strings.Contains(function, "::") || !strings.HasSuffix(file, ".py") && strings.Contains(file, ".")
}

// stackText formats the innermost frames of a stack.
func (o *owners) stackText(id memory.StackID) (out []string) {
	ids := o.stacks.IDs(id)
	for _, f := range ids[:min(len(ids), summary.MaxFrames)] {
		out = append(out, frameText(o.stacks.At(f)))
	}
	return out
}

// A holding is one live allocation.
type holding struct {
	bytes int64
	time  int64
	stack memory.StackID
	label int32
}

// A tally sums holdings by allocation site, kind and label.
type tally struct {
	o       *owners
	labels  []string
	total   int64
	byOwner map[int32]*ownerSum
	byLabel map[int32]*summary.Held
	top     []holding // the largest holdings, unsorted
}

type ownerSum struct {
	bytes, count int64
	largest      holding
}

func newTally(o *owners, labels []string) *tally {
	return &tally{o: o, labels: labels, byOwner: make(map[int32]*ownerSum), byLabel: make(map[int32]*summary.Held)}
}

func (t *tally) add(h holding) {
	t.total = summary.Plus(t.total, h.bytes)
	owner := t.o.owner(h.stack)
	s := t.byOwner[owner]
	if s == nil {
		s = &ownerSum{largest: h}
		t.byOwner[owner] = s
	}
	s.bytes, s.count = summary.Plus(s.bytes, h.bytes), s.count+1
	if compareHoldings(h, s.largest) < 0 {
		s.largest = h
	}
	l := t.byLabel[h.label]
	if l == nil {
		l = &summary.Held{Name: t.labels[h.label]}
		t.byLabel[h.label] = l
	}
	l.Bytes, l.Count = summary.Plus(l.Bytes, h.bytes), l.Count+1
	if t.top = append(t.top, h); len(t.top) >= 4*summary.MaxOwners {
		t.top = t.largest()
	}
}

// compareHoldings orders larger holdings first, and of equal sizes older ones.
func compareHoldings(a, b holding) int {
	return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.time, b.time), cmp.Compare(a.stack, b.stack))
}

func (t *tally) largest() []holding {
	slices.SortFunc(t.top, compareHoldings)
	return t.top[:min(len(t.top), summary.MaxOwners)]
}

// ranked returns the owners by descending bytes.
func (t *tally) ranked() []int32 {
	list := make([]int32, 0, len(t.byOwner))
	for owner := range t.byOwner {
		list = append(list, owner)
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(t.byOwner[b].bytes, t.byOwner[a].bytes),
			cmp.Compare(t.o.list[a].frame, t.o.list[b].frame), cmp.Compare(t.o.list[a].kind, t.o.list[b].kind))
	})
	return list
}

// write adds the sums to a row; at says to which time they belong.
func (t *tally) write(row *summary.Snapshot, at string) {
	row.OwnersAt, row.OwnersBytes = at, t.total
	kinds := map[string]summary.Held{}
	for i, n := range t.ranked() {
		s, key := t.byOwner[n], t.o.list[n]
		k := kinds[key.kind]
		kinds[key.kind] = summary.Held{Name: key.kind, Bytes: summary.Plus(k.Bytes, s.bytes), Count: k.Count + s.count}
		if i < summary.MaxOwners {
			row.Owners = append(row.Owners, summary.Owner{Kind: key.kind, Frame: key.frame, Bytes: s.bytes, Count: s.count, Stack: t.o.stackText(s.largest.stack)})
		}
	}
	row.Kinds = summary.SortHeld(kinds)
	for _, h := range t.largest() {
		key := t.o.list[t.o.owner(h.stack)]
		o := summary.Owner{Kind: key.kind, Frame: key.frame, Bytes: h.bytes, Count: 1, Stack: t.o.stackText(h.stack)}
		if h.time >= 0 {
			o.NS = new(h.time)
		}
		row.Largest = append(row.Largest, o)
	}
	if _, none := t.byLabel[0]; none && len(t.byLabel) == 1 {
		return // the program set no labels
	}
	labels := map[string]summary.Held{}
	for _, l := range t.byLabel {
		labels[l.Name] = *l
	}
	row.Labels = summary.SortHeld(labels)
	row.Labels = slices.Clone(row.Labels[:min(len(row.Labels), summary.MaxOwners)])
}
