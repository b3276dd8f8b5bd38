package summary

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Class is a set of kinds of GPU work that can run at the same time.
type Class uint8

// The single classes, in the order of their names. Unions of them are sets.
const (
	ClassComm    Class = 1 << iota // communication between devices
	ClassCompute                   // every other kernel
	ClassCopy                      // memory copies
	ClassMemset                    // memory fills

	classSets = 1 << iota // number of sets of classes
)

// classNames has the name of class 1<<i at index i.
var classNames = [...]string{"comm", "compute", "copy", "memset"}

// MarshalText returns the name of a class.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads the name of a single class.
func (c *Class) UnmarshalText(b []byte) error {
	one, ok := ClassOf(string(b))
	if !ok {
		return fmt.Errorf("unknown class %q", b)
	}
	*c = one
	return nil
}

// Singles returns the single classes in the order of their names.
func Singles() []Class { return []Class{ClassComm, ClassCompute, ClassCopy, ClassMemset} }

// Names returns the names of the classes in c, sorted; empty for the empty set.
func (c Class) Names() []string {
	names := []string{}
	for i, name := range classNames {
		if c&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String returns the names joined by "+", or "idle" for the empty set.
func (c Class) String() string {
	s := ""
	for _, name := range c.Names() {
		if s != "" {
			s += "+"
		}
		s += name
	}
	if s == "" {
		return "idle"
	}
	return s
}

// ClassOf returns the class with a name. It returns false if there is none.
func ClassOf(name string) (Class, bool) {
	i := slices.Index(classNames[:], name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// An Activity has, for each set of classes, the nanoseconds of a window during
// which exactly that set was running. The cells are disjoint and sum to the
// window; the cell of the empty set is idle time. Every overlap value is a sum
// of cells, so all of them are consistent with each other.
type Activity [classSets]int64

// Window returns the length of the window, which is the sum of all cells. Like
// every value of a, it is limited to math.MaxInt64: see [Plus].
func (a Activity) Window() int64 {
	return a.sum(func(Class) bool { return true })
}

// Idle returns the time during which nothing ran.
func (a Activity) Idle() int64 { return a[0] }

// Busy returns the time during which anything ran.
func (a Activity) Busy() int64 { return a.Window() - a[0] }

// With returns the time during which at least one of the classes in c ran.
func (a Activity) With(c Class) int64 {
	return a.sum(func(set Class) bool { return set&c != 0 })
}

// Without returns the time during which at least one class of c ran and no class of not.
func (a Activity) Without(c, not Class) int64 {
	return a.sum(func(set Class) bool { return set&c != 0 && set&not == 0 })
}

// Compute returns the time during which a compute kernel ran.
func (a Activity) Compute() int64 { return a.With(ClassCompute) }

// ExposedComm returns the time during which communication ran and no compute
// kernel did.
func (a Activity) ExposedComm() int64 { return a.Without(ClassComm, ClassCompute) }

// ExposedCopy returns the time during which a copy or memset ran and neither
// compute nor communication did. Compute, ExposedComm, ExposedCopy and Idle sum
// to Window.
func (a Activity) ExposedCopy() int64 {
	return a.Without(ClassCopy|ClassMemset, ClassCompute|ClassComm)
}

// HiddenComm returns the time during which communication was overlapped by a
// compute kernel.
func (a Activity) HiddenComm() int64 { return a.With(ClassComm) - a.ExposedComm() }

// Plus returns the sum of the cells of two windows, each limited to math.MaxInt64: see [Plus].
func (a Activity) Plus(b Activity) Activity {
	for i := range a {
		a[i] = Plus(a[i], b[i])
	}
	return a
}

func (a Activity) sum(take func(Class) bool) (ns int64) {
	for set, n := range a {
		if take(Class(set)) {
			ns = Plus(ns, n)
		}
	}
	return ns
}

type cell struct {
	Classes []string `json:"classes"`
	NS      int64    `json:"ns"`
}

// MarshalJSON writes the cells that are not zero, as a list.
func (a Activity) MarshalJSON() ([]byte, error) {
	cells := []cell{}
	for set, ns := range a {
		if ns != 0 {
			cells = append(cells, cell{Class(set).Names(), ns})
		}
	}
	return json.Marshal(cells)
}

// JSONShape returns what MarshalJSON encodes.
func (Activity) JSONShape() any { return []cell{} }

// UnmarshalJSON reads the format of MarshalJSON.
func (a *Activity) UnmarshalJSON(b []byte) error {
	var cells []cell
	if err := json.Unmarshal(b, &cells); err != nil {
		return err
	}
	*a = Activity{}
	for _, c := range cells {
		var set Class
		for _, name := range c.Classes {
			one, ok := ClassOf(name)
			if !ok {
				return fmt.Errorf("activity: unknown class %q", name)
			}
			set |= one
		}
		a[set] = Plus(a[set], c.NS)
	}
	return nil
}
