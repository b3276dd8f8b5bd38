package hardware

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"assay/internal/settings"
)

// A Device has what is published of a kind of GPU.
type Device struct {
	Names  []string // as captures have them
	SMs    int64    // SMs or compute units; 0 if not known
	MHz    float64  // the clock that yields the rates of matrix units; 0 if not known
	Memory float64  // GB; 0 if captures have a name
	Cache  float64  // MiB of the last level
	Peak   Figures
	Source string // where the figures are from
	Note   string
}

//go:embed devices.yaml
var devicesYAML []byte

// BuiltIn returns the text of the built-in table, as "assay help peaks" prints it.
func BuiltIn() []byte { return devicesYAML }

// Devices returns the built-in table.
func Devices() []Device { return slices.Clone(builtIn) }

// ParseDevices reads a table of devices in the form of the built-in one. An error starts
// with the name and the line, as in "devices.yaml:7: ".
func ParseDevices(text []byte, name string) ([]Device, error) {
	list, err := devices(text)
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	return list, nil
}

func devices(text []byte) ([]Device, error) {
	list, err := settings.List(text, "devices", "device")
	if err != nil {
		return nil, err
	}
	var out []Device
	taken := map[string]int{}
	for _, n := range list {
		d, err := parseDevice(n)
		if err != nil {
			return nil, err
		}
		for _, name := range d.Names {
			if at, dup := taken[fold(name)]; dup {
				return nil, settings.Errorf(n, "device %q is already in line %d", name, at)
			}
			taken[fold(name)] = settings.Line(n)
		}
		out = append(out, d)
	}
	return out, nil
}

func parseDevice(n ast.Node) (d Device, err error) {
	seen := map[string]bool{}
	err = settings.EachEntry(n, "name, peak and spec", func(e *ast.MappingValueNode) error {
		key := settings.Key(e)
		if seen[key] {
			return settings.Errorf(e.Key, "%s is given twice", key)
		}
		seen[key] = true
		switch key {
		case "name":
			return d.parseNames(e.Value)
		case "spec":
			return settings.EachEntry(e.Value, "sms, mhz, memory and cache", d.parseSpec)
		case "peak":
			return settings.EachEntry(e.Value, "figures", d.parsePeak)
		case "source", "note":
			text, err := settings.Scalar(e.Value)
			if err != nil {
				return settings.Errorf(e.Key, "%s: %w", key, err)
			}
			if key == "note" {
				d.Note = text
			} else {
				d.Source = text
			}
			return nil
		}
		return settings.Errorf(e.Key, "unknown field %q, want name, spec, peak, source or note", key)
	})
	switch {
	case err != nil:
		return d, err
	case len(d.Names) == 0:
		return d, settings.Errorf(n, "the device has no name: want name, as captures have it")
	case d.Peak == Figures{}:
		return d, settings.Errorf(n, "device %q has no peak: want a mapping with one of %s", d.Names[0], figureList())
	}
	return d, nil
}

func (d *Device) parseNames(n ast.Node) error {
	names := []ast.Node{n}
	if seq, ok := n.(*ast.SequenceNode); ok {
		names = seq.Values
	}
	for _, n := range names {
		name, err := settings.Scalar(n)
		if err == nil && strings.TrimSpace(name) == "" {
			err = errors.New("want the name that captures have, got an empty one")
		}
		if err != nil {
			return settings.Errorf(n, "name: %w", err)
		}
		d.Names = append(d.Names, strings.TrimSpace(name))
	}
	return nil
}

func (d *Device) parseSpec(e *ast.MappingValueNode) error {
	fields := map[string]*float64{"sms": new(float64), "mhz": &d.MHz, "memory": &d.Memory, "cache": &d.Cache}
	field, ok := fields[settings.Key(e)]
	if !ok {
		return settings.Errorf(e.Key, "unknown field %q, want sms, mhz, memory or cache", settings.Key(e))
	}
	text, err := settings.Scalar(e.Value)
	if err != nil {
		return settings.Errorf(e.Key, "%s: %w", settings.Key(e), err)
	}
	const most = 1e6
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v <= 0 || v > most {
		return settings.Errorf(e.Value, "%s: %q: want a number over 0 and up to %.0f", settings.Key(e), text, most)
	}
	if *field = v; settings.Key(e) == "sms" {
		if d.SMs = int64(v); float64(d.SMs) != v {
			return settings.Errorf(e.Value, "sms: %q: want a whole number", text)
		}
	}
	return nil
}

func (d *Device) parsePeak(e *ast.MappingValueNode) error {
	f := FigureOf(strings.ToLower(settings.Key(e)))
	if f == NoFigure {
		return settings.Errorf(e.Key, "unknown figure %q, want one of %s", settings.Key(e), figureList())
	}
	text, err := settings.Scalar(e.Value)
	if err != nil {
		return settings.Errorf(e.Key, "%s: %w", f, err)
	}
	if d.Peak[f] != 0 {
		return settings.Errorf(e.Key, "%s is given twice", f)
	}
	if d.Peak[f], err = parseFigure(f, text); err != nil {
		return settings.Errorf(e.Value, "%w", err)
	}
	return nil
}

// deviceNamed returns the row of a name, or nil.
func deviceNamed(rows []Device, name string) *Device {
	name = fold(name)
	for i := range rows {
		if slices.ContainsFunc(rows[i].Names, func(n string) bool { return fold(n) == name }) {
			return &rows[i]
		}
	}
	return nil
}

func fold(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// String returns the first name.
func (d Device) String() string { return fmt.Sprint(d.Names[0]) }
