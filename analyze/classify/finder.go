package classify

import (
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// A finder finds the first rule that matches a name, among all rules on the
// base name or among all on the full name.
//
// One pass over the name finds the strings in it that patterns need, and only
// patterns whose needs are met are tried. Trying all would take tens of times
// as long, because a name has hundreds of bytes and there are hundreds of
// patterns. The strings are in a hash table by their first bytes. An
// Aho-Corasick automaton would read each byte once for any number of rules, but
// building it takes longer than classifying the kernels of a trace.
//
// For a small trace the finder is built for only a few names, so it has as little memory to
// touch for the first time as possible.
type finder struct {
	patterns []*pattern
	rules    []int32               // by pattern: the number of its rule, ascending
	sets     []int32               // by pattern: the number of its first set of needs
	owner    []int32               // by set: its pattern
	always   bitset                // the sets of patterns that must always be tried, one set each
	needles  []needle              // the strings of all sets; the first is unused
	long     [1 << longBits]int32  // by hash of the first four bytes: a chain of needles
	short    [1 << shortBits]int32 // the same by two bytes, for the few needles of two or three
	// compiled are the expressions by pattern, compiled on first use. Most are
	// never used.
	compiled []atomic.Pointer[regexp.Regexp]
}

// A needle is a string that patterns need.
type needle struct {
	text string
	set  int32 // the set that it belongs to
	next int32 // the next needle in its chain, or 0
}

const (
	longBits  = 12
	shortBits = 9
)

// bucket returns which of 1<<bits buckets has the needles that start with the bytes of key.
func bucket(key uint32, bits int) uint32 {
	return key * 0x9e3779b1 >> (32 - bits) // 2^32 over the golden ratio
}

// newFinder returns a finder for the rules that match the full name, or for
// those that match the base name.
func newFinder(rules []rule, onFull bool) *finder {
	patterns, sets, needles := 0, 0, 1
	for i := range rules {
		if rules[i].onFull != onFull {
			continue
		}
		patterns += len(rules[i].patterns)
		for j := range rules[i].patterns {
			p := &rules[i].patterns[j]
			sets += max(1, len(p.needs))
			for _, set := range p.needs {
				needles += len(set)
			}
		}
	}
	f := &finder{
		patterns: make([]*pattern, 0, patterns), rules: make([]int32, 0, patterns), sets: make([]int32, 0, patterns),
		owner: make([]int32, 0, sets), always: make(bitset, 0, (sets+63)/64), needles: make([]needle, 1, needles),
	}
	for i := range rules {
		if rules[i].onFull != onFull {
			continue
		}
		for j := range rules[i].patterns {
			f.rules = append(f.rules, int32(i))
			f.add(&rules[i].patterns[j])
		}
	}
	f.compiled = make([]atomic.Pointer[regexp.Regexp], len(f.patterns))
	return f
}

func (f *finder) add(p *pattern) {
	f.sets = append(f.sets, int32(len(f.owner)))
	for _, set := range p.needs {
		for _, need := range set {
			f.addNeedle(need, int32(len(f.owner)))
		}
		f.owner = append(f.owner, int32(len(f.patterns)))
	}
	if len(p.needs) == 0 {
		f.always.grow(len(f.owner) + 1)
		f.always.set(len(f.owner))
		f.owner = append(f.owner, int32(len(f.patterns)))
	}
	f.always.grow(len(f.owner))
	f.patterns = append(f.patterns, p)
}

func (f *finder) addNeedle(s string, set int32) {
	var head *int32
	if len(s) < 4 {
		head = &f.short[bucket(uint32(s[0])|uint32(s[1])<<8, shortBits)]
	} else {
		head = &f.long[bucket(uint32(s[0])|uint32(s[1])<<8|uint32(s[2])<<16|uint32(s[3])<<24, longBits)]
	}
	f.needles = append(f.needles, needle{s, set, *head})
	*head = int32(len(f.needles) - 1)
}

// first returns the number of the first rule that is wanted and matches name,
// or -1.
func (f *finder) first(name string, wanted func(rule int) bool) int {
	t, ok := newText(name)
	if !ok {
		for i, ru := range f.rules {
			if wanted(int(ru)) && f.regexp(i).MatchString(name) {
				return int(ru)
			}
		}
		return -1
	}
	found := f.search(t.lower)
	for set := found.next(0); set >= 0; set = found.next(set + 1) {
		i := int(f.owner[set])
		if ru := int(f.rules[i]); set == int(f.sets[i]) && f.met(i, found) && wanted(ru) && f.matches(i, name, t) {
			return ru
		}
	}
	return -1
}

// met reports whether all needs of pattern i were found.
func (f *finder) met(i int, found bitset) bool {
	for n := 1; n < len(f.patterns[i].needs); n++ {
		if !found.has(int(f.sets[i]) + n) {
			return false
		}
	}
	return true
}

// matches reports whether pattern i, whose needs are met, matches.
func (f *finder) matches(i int, name string, t text) bool {
	switch p := f.patterns[i]; {
	case p.sure:
		return true
	case p.parts != nil:
		return p.contains(t)
	}
	return f.regexp(i).MatchString(name)
}

// regexp returns the expression of pattern i, which is known to be valid. If
// two goroutines compile it at the same time, both results are equivalent.
func (f *finder) regexp(i int) *regexp.Regexp {
	re := f.compiled[i].Load()
	if re == nil {
		re = regexp.MustCompile(f.patterns[i].expr)
		f.compiled[i].Store(re)
	}
	return re
}

// search returns the sets with at least one string in s, which has a mark at
// both ends, and the sets of patterns that must always be tried.
func (f *finder) search(s string) bitset {
	found := slices.Clone(f.always)
	key := uint32(s[0]) << 24 // the last four bytes
	for i := 1; i < len(s); i++ {
		key = key>>8 | uint32(s[i])<<24
		if chain := f.short[bucket(key>>16, shortBits)]; chain != 0 {
			f.follow(chain, s[i-1:], found)
		}
		if chain := f.long[bucket(key, longBits)]; chain != 0 && i >= 3 {
			f.follow(chain, s[i-3:], found)
		}
	}
	return found
}

// follow adds to found the sets of the needles in a chain with which s starts.
func (f *finder) follow(chain int32, s string, found bitset) {
	for chain != 0 {
		n := &f.needles[chain]
		if set := int(n.set); !found.has(set) && strings.HasPrefix(s, n.text) {
			found.set(set)
		}
		chain = n.next
	}
}
