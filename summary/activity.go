package summary

import (
	"encoding/json"
	"fmt"
	"slices"
)

// A Class is a set of kinds of GPU work that can run at the same time.
type Class uint8

// The single classes, in the order of their names. Their unions are sets.
const (
	ClassComm    Class = 1 << iota // communication between devices
	ClassCompute                   // every other kernel
	ClassCopy                      // memory copies
	ClassMemset                    // memory fills

	classSets = 1 << iota // how many sets of classes there are
)

// classNames has the name of class 1<<i at index i.
var classNames = [...]string{"comm", "compute", "copy", "memset"}

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

// ClassOf returns the class of one name, or false.
func ClassOf(name string) (Class, bool) {
	i := slices.Index(classNames[:], name)
	if i < 0 {
		return 0, false
	}
	return 1 << i, true
}

// An Activity says, for each set of classes, how many nanoseconds of a window
// exactly that set was running. The cells are disjoint and sum to the window;
// the cell of the empty set is idle time. Every overlap figure is a sum of
// cells, so all of them agree with each other.
type Activity [classSets]int64

// Window returns the length of the window: the sum of all cells. Like every
// figure of a, it stops at math.MaxInt64: see [Plus].
func (a Activity) Window() int64 {
	return a.sum(func(Class) bool { return true })
}

// Idle returns how long nothing ran.
func (a Activity) Idle() int64 { return a[0] }

// Busy returns how long anything ran.
func (a Activity) Busy() int64 { return a.Window() - a[0] }

// With returns how long at least one of the classes in c ran.
func (a Activity) With(c Class) int64 {
	return a.sum(func(set Class) bool { return set&c != 0 })
}

// Without returns how long at least one class of c ran and none of not.
func (a Activity) Without(c, not Class) int64 {
	return a.sum(func(set Class) bool { return set&c != 0 && set&not == 0 })
}

// Compute returns how long a compute kernel ran.
func (a Activity) Compute() int64 { return a.With(ClassCompute) }

// ExposedComm returns how long communication ran and no compute kernel did.
func (a Activity) ExposedComm() int64 { return a.Without(ClassComm, ClassCompute) }

// ExposedCopy returns how long a copy or memset ran and neither compute nor
// communication did. Compute, ExposedComm, ExposedCopy and Idle sum to Window.
func (a Activity) ExposedCopy() int64 {
	return a.Without(ClassCopy|ClassMemset, ClassCompute|ClassComm)
}

// HiddenComm returns how long communication ran under a compute kernel.
func (a Activity) HiddenComm() int64 { return a.With(ClassComm) - a.ExposedComm() }

// Plus returns the cells of two windows added up, each as by [Plus].
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

// UnmarshalJSON reads what MarshalJSON wrote.
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
