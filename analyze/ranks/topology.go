package ranks

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/summary"
)

// A topology says how the members of a job divide the work.
type topology struct {
	row     summary.Topology
	comms   map[string]*communicator // by key
	stage   []int                    // of each member; nil without a known pipeline
	peers   []int                    // the first member with the same work, for each member; nil if unknown
	node    []int                    // the machine of each member; nil if unknown
	classes int
}

// A communicator has the properties that its group of collectives and its groups of sends share.
type communicator struct {
	members  []int // ascending
	ranks    []int // of the job, in order; nil if they are not known
	size     int
	parallel string
	from     string
}

// topologyOf finds the topology of a job. The kinds of groups follow from their descriptions or
// names; stages from these, or from which ranks send to each other; ranks with the same work from
// stages or kernels. Anything uncertain stays unknown.
func (j *Job) topologyOf(s *summary.Summary, work *work, facts []Facts) *topology {
	t := &topology{comms: map[string]*communicator{}}
	for _, g := range j.groups {
		c := t.comms[g.key]
		if c == nil {
			c = &communicator{size: g.size}
			c.parallel, c.from = kindOf(s, j.members[g.lists[0].member], g)
			t.comms[g.key] = c
		}
		for _, l := range g.lists {
			if at, ok := slices.BinarySearch(c.members, l.member); !ok {
				c.members = slices.Insert(c.members, at, l.member)
			}
		}
		if c.ranks == nil && !g.local {
			c.ranks = rankList(g.ranks)
		}
	}
	for _, c := range t.comms {
		if c.ranks == nil && len(c.members) == c.size {
			for _, m := range c.members {
				c.ranks = append(c.ranks, j.members[m].Rank)
			}
		}
	}
	j.findStages(t, s, work)
	j.findPeers(t, work)
	j.findNodes(t, s)
	t.row.Groups = t.kinds()
	t.row.Messages = j.messages(t, facts, s)
	return t
}

// kinds returns the known kinds of groups, sorted.
func (t *topology) kinds() (out []summary.GroupKind) {
	for _, c := range t.comms {
		if c.parallel == "" || c.size < 2 {
			continue
		}
		is := func(k summary.GroupKind) bool {
			return k.Parallel == c.parallel && k.Size == c.size && k.From == c.from
		}
		i := slices.IndexFunc(out, is)
		if i < 0 {
			i = len(out)
			out = append(out, summary.GroupKind{Parallel: c.parallel, Size: c.size, From: c.from})
		}
		out[i].Count++
	}
	order := []string{summary.ParallelTensor, summary.ParallelContext, summary.ParallelExpert, summary.ParallelPipeline,
		summary.ParallelData}
	slices.SortFunc(out, func(a, b summary.GroupKind) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Parallel), slices.Index(order, b.Parallel)),
			cmp.Compare(a.Size, b.Size), cmp.Compare(a.From, b.From))
	})
	return out
}

// kindOf returns the kind of parallelism of a group, and the source: its description or its name.
func kindOf(s *summary.Summary, m Member, g *group) (parallel, from string) {
	if m.Input < len(s.Inputs) && !g.local {
		for _, p := range s.Inputs[m.Input].ProcessGroups {
			if p.Name == g.name && (p.Size == g.size || p.Size == 0 || g.size == 0) {
				if parallel = ParallelOf(p.Description); parallel != "" {
					return parallel, "description"
				}
			}
		}
		if parallel = ParallelOf(g.name); parallel != "" {
			return parallel, "name"
		}
	}
	return "", ""
}

// parallelWords are words of names of process groups: those of PyTorch's device meshes
// ("mesh_dp_shard"), Megatron ("TENSOR_MODEL_PARALLEL_GROUP"), SGLang and vLLM ("tp:0").
var parallelWords = map[string]string{
	"tensor": summary.ParallelTensor, "tp": summary.ParallelTensor,
	"pipeline": summary.ParallelPipeline, "pp": summary.ParallelPipeline,
	"data": summary.ParallelData, "dp": summary.ParallelData, "fsdp": summary.ParallelData,
	"expert": summary.ParallelExpert, "ep": summary.ParallelExpert,
	"context": summary.ParallelContext, "cp": summary.ParallelContext,
}

// ParallelOf returns the kind of parallelism in a description of a process group, or "". A group that
// combines several kinds has none, except that data parallelism combined with context or expert
// parallelism is data parallelism.
func ParallelOf(text string) string {
	kinds := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if k := parallelWords[word]; k != "" {
			kinds[k] = true
		}
		if word == "embedding" || word == "embd" {
			return ""
		}
	}
	if kinds[summary.ParallelData] && len(kinds) == 2 &&
		(kinds[summary.ParallelContext] || kinds[summary.ParallelExpert]) {
		return summary.ParallelData
	}
	if len(kinds) != 1 {
		return ""
	}
	for k := range kinds {
		return k
	}
	return ""
}

// rankList parses a list of ranks like "[0, 1]". It returns nil if the text is anything else, such as
// a list that the profiler truncated.
func rankList(text string) (out []int) {
	inner, opened := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !opened || !closed || inner == "" {
		return nil
	}
	for word := range strings.SplitSeq(inner, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// findStages finds the stage of each member: its position in its pipeline group or, without such
// groups, in the chain of ranks that send to each other.
func (j *Job) findStages(t *topology, s *summary.Summary, work *work) {
	stage := slices.Repeat([]int{-1}, len(j.members))
	ok := false
	for _, c := range t.comms {
		if c.parallel != summary.ParallelPipeline || c.size < 2 {
			continue
		}
		ok, t.row.StagesFrom = true, c.from
		for _, m := range c.members {
			at := slices.Index(c.ranks, j.members[m].Rank)
			if at < 0 || stage[m] >= 0 && stage[m] != at {
				t.row.StagesFrom = ""
				return
			}
			stage[m] = at
		}
		t.row.Stages = max(t.row.Stages, c.size)
	}
	if !ok {
		stage, ok = j.chains(t, s, work)
		t.row.StagesFrom, t.row.Stages = "sends", slices.Max(append(slices.Clone(stage), -1))+1
	}
	if !ok || slices.Contains(stage, -1) {
		t.row.StagesFrom, t.row.Stages = "", 0
		return
	}
	t.stage = stage
}

// chains returns the position of each member in the chain of ranks that it sends to and receives
// from. All ranks of the job must be given, and in chains of equal length with ascending ranks. Two
// ranks are a chain only if they run different kernels, because two ranks may exchange data for
// other reasons.
func (j *Job) chains(t *topology, s *summary.Summary, work *work) ([]int, bool) {
	n := len(j.members)
	first := j.members[0].Input
	if first >= len(s.Inputs) || s.Inputs[first].WorldSize != n {
		return nil, false
	}
	next, before := slices.Repeat([]int{-1}, n), slices.Repeat([]int{-1}, n)
	for _, g := range j.groups {
		if g.sends == noSends {
			continue
		}
		if len(g.lists) != 2 || t.comms[g.key].parallel != "" {
			return nil, false
		}
		a, b := min(g.lists[0].member, g.lists[1].member), max(g.lists[0].member, g.lists[1].member)
		if next[a] >= 0 && next[a] != b || before[b] >= 0 && before[b] != a {
			return nil, false // a ring, or sends to more than the neighbours
		}
		next[a], before[b] = b, a
	}
	stage, length := make([]int, n), 0
	for m := range n {
		if before[m] < 0 {
			k := 0
			for at := m; at >= 0; at = next[at] {
				stage[at] = k
				k++
			}
			if length > 0 && k != length || k < 2 || k == 2 && work.alike(m, next[m]) > 0.9 {
				return nil, false
			}
			length = k
		}
	}
	return stage, length > 1
}

// findPeers finds which members do the same work: those of one stage, or those that run the same
// kernels. Ranks that send to each other outside of known stages may do different work with the same
// kernels, so they are left unknown.
func (j *Job) findPeers(t *topology, work *work) {
	class := func(same func(a, b int) bool) {
		t.peers = make([]int, len(j.members))
		var firsts []int
		order := make([]int, len(j.members))
		for m := range order {
			order[m] = m
		}
		// Members whose inputs ended early have only a part of what identifies a class.
		slices.SortStableFunc(order, func(a, b int) int { return compareBools(j.members[a].Cut, j.members[b].Cut) })
		for _, m := range order {
			i := slices.IndexFunc(firsts, func(first int) bool { return same(first, m) })
			if i < 0 {
				i = len(firsts)
				firsts = append(firsts, m)
			}
			t.peers[m] = firsts[i]
		}
		t.classes = len(firsts)
	}
	if t.stage != nil {
		class(func(a, b int) bool { return t.stage[a] == t.stage[b] })
		t.row.PeersFrom = "stages"
		return
	}
	for _, g := range j.groups {
		if g.sends != noSends && t.comms[g.key].parallel == "" {
			return
		}
	}
	// A rank with more work launches kernels more often, so do not ask for equal counts.
	const enough = 0.5
	class(func(a, b int) bool { return work.alike(a, b) >= enough })
	t.row.PeersFrom = "all"
	if t.classes > 1 {
		t.row.PeersFrom = "kernels"
	}
}

// findNodes finds the machine of each member, by name or by number of GPUs. It is unknown if traces
// state neither, or if a process sees only its own GPU.
func (j *Job) findNodes(t *topology, s *summary.Summary) {
	names, from := make([]string, len(j.members)), "input"
	first := j.members[0].Input
	if first >= len(s.Inputs) {
		return
	}
	if slices.ContainsFunc(j.members, func(m Member) bool { return m.Input != first }) {
		from = "hosts"
		for i, m := range j.members {
			names[i] = s.Inputs[m.Input].Host
		}
		if slices.Contains(names, "") {
			from = "gpus"
			gpus := s.Inputs[first].GPUs
			for i, m := range j.members {
				if gpus < 2 || s.Inputs[m.Input].GPUs != gpus || m.Device != int64(m.Rank%gpus) {
					return
				}
				names[i] = strconv.Itoa(m.Rank / gpus)
			}
		}
	}
	index := map[string]int{}
	t.node = make([]int, len(names))
	for i, name := range names {
		if _, ok := index[name]; !ok {
			index[name] = len(index)
		}
		t.node[i] = index[name]
	}
	t.row.Nodes, t.row.NodesFrom = len(index), from
}

// nodesOf returns the number of machines of the members of a group, or 0 if unknown.
func (t *topology) nodesOf(g *group) int {
	if t.node == nil {
		return 0
	}
	seen := map[int]bool{}
	for _, l := range g.lists {
		seen[t.node[l.member]] = true
	}
	return len(seen)
}

// staged reports whether the members of a group belong to several stages.
func (t *topology) staged(g *group) bool {
	return t.stage != nil && slices.ContainsFunc(g.lists,
		func(l list) bool { return t.stage[l.member] != t.stage[g.lists[0].member] })
}

// ofPeers reports whether all members of a group do the same work.
func (t *topology) ofPeers(g *group) bool {
	return t.peers != nil && !slices.ContainsFunc(g.lists,
		func(l list) bool { return t.peers[l.member] != t.peers[g.lists[0].member] })
}

// messages returns the number of messages that a stage sends to the next one per step, or nil if
// steps are unknown or the number differs. Of a pair, only messages of the size with the most bytes
// count, because programs also send the shapes of tensors.
func (j *Job) messages(t *topology, facts []Facts, s *summary.Summary) *int64 {
	if t.stage == nil {
		return nil
	}
	steps := map[summary.GPU]int64{}
	for i := range s.Steps {
		steps[summary.GPU{Input: s.Steps[i].Input, Rank: s.Steps[i].Rank, Device: s.Steps[i].Device}]++
	}
	each := int64(-1)
	for i, g := range j.groups {
		f := &facts[i]
		if g.sends != sendsOfPair || len(g.lists) != 2 || f.Instances == 0 {
			continue
		}
		from, to := g.lists[0].member, g.lists[1].member
		if !f.Sends {
			from, to = to, from
		}
		n, of := f.Largest, steps[j.members[from].gpu()]
		if t.stage[to] != t.stage[from]+1 {
			continue
		}
		if of == 0 || n%of != 0 || each >= 0 && each != n/of {
			return nil
		}
		each = n / of
	}
	if each <= 0 {
		return nil
	}
	return &each
}

// largest returns the number of complete instances of the size with the most bytes.
func (g *group) largest() (n int64) {
	count := map[int64]int64{}
	for i := range g.instances {
		if in := &g.instances[i]; g.complete(in) {
			count[max(in.what.In, in.what.Message)]++
		}
	}
	most := int64(-1)
	for size, k := range count {
		if bytes := max(1, size) * k; bytes > most || bytes == most && k < n {
			most, n = bytes, k
		}
	}
	return n
}
