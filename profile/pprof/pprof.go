// Package pprof reads and writes profile.proto, the format of pprof, as far as assay needs
// it. Fields that are not part of a [Profile] are checked and dropped.
//
// It does what package github.com/google/pprof/profile does, with the same errors and the
// same bytes, which its tests compare. That package also reads the text formats before
// profile.proto, and compiles their expressions whenever a program starts: a fifth of the
// start of assay.
package pprof

import (
	"errors"
	"fmt"
)

// A Profile is a profile.proto.
type Profile struct {
	SampleType        []*ValueType
	DefaultSampleType string
	Sample            []*Sample
	Mapping           []*Mapping
	Location          []*Location
	Function          []*Function
	Comments          []string
	TimeNanos         int64
	DurationNanos     int64
}

// A ValueType says what the values of a column are.
type ValueType struct{ Type, Unit string }

// A Sample is a stack, innermost first, with a value for each [ValueType].
type Sample struct {
	Location []*Location
	Value    []int64
	Label    map[string][]string
	NumLabel map[string][]int64
	NumUnit  map[string][]string // of the numbers of NumLabel, or nothing

	locations []uint64    // ids, until they are resolved
	labels    [][4]uint64 // likewise
}

// A Mapping is a binary.
type Mapping struct {
	ID   uint64
	File string

	HasFunctions, HasFilenames, HasLineNumbers bool // these are only written
}

// A Location is an instruction. It is in several functions, innermost first, if some are
// inlined.
type Location struct {
	ID      uint64
	Mapping *Mapping
	Address uint64
	Line    []Line

	mapping uint64 // its id, until it is resolved
}

// A Line is a line of a function.
type Line struct {
	Function *Function
	Line     int64

	function uint64 // its id, until it is resolved
}

// A Function is a function of a program.
type Function struct {
	ID             uint64
	Name, Filename string
}

// CheckValid returns an error if a sample has not one value for each type, if an id is
// missing or not unique, or if something refers to what the profile does not have.
func (p *Profile) CheckValid() error {
	if len(p.SampleType) == 0 && len(p.Sample) != 0 {
		return errors.New("missing sample type information")
	}
	for _, s := range p.Sample {
		if len(s.Value) != len(p.SampleType) {
			return fmt.Errorf("mismatch: sample has %d values vs. %d types", len(s.Value), len(p.SampleType))
		}
		for _, l := range s.Location {
			if l == nil {
				return errors.New("sample has nil location")
			}
		}
	}
	mappings, functions := make(map[uint64]*Mapping, len(p.Mapping)), make(map[uint64]*Function, len(p.Function))
	for _, m := range p.Mapping {
		switch {
		case m.ID == 0:
			return errors.New("found mapping with reserved ID=0")
		case mappings[m.ID] != nil:
			return fmt.Errorf("multiple mappings with same id: %d", m.ID)
		}
		mappings[m.ID] = m
	}
	for _, f := range p.Function {
		switch {
		case f.ID == 0:
			return errors.New("found function with reserved ID=0")
		case functions[f.ID] != nil:
			return fmt.Errorf("multiple functions with same id: %d", f.ID)
		}
		functions[f.ID] = f
	}
	return p.checkLocations(mappings, functions)
}

func (p *Profile) checkLocations(mappings map[uint64]*Mapping, functions map[uint64]*Function) error {
	locations := make(map[uint64]bool, len(p.Location))
	for _, l := range p.Location {
		switch {
		case l.ID == 0:
			return errors.New("found location with reserved id=0")
		case locations[l.ID]:
			return fmt.Errorf("multiple locations with same id: %d", l.ID)
		}
		locations[l.ID] = true
		if m := l.Mapping; m != nil && mappings[m.ID] != m {
			return fmt.Errorf("inconsistent mapping: %d", m.ID)
		}
		for _, line := range l.Line {
			f := line.Function
			if f == nil {
				return fmt.Errorf("location id: %d has a line with nil function", l.ID)
			}
			if functions[f.ID] != f {
				return fmt.Errorf("inconsistent function: %d", f.ID)
			}
		}
	}
	return nil
}
