package hardware

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Properties are what a capture states about a GPU. What it does not state is 0.
type Properties struct {
	Name      string
	SMs       int64
	Memory    int64 // bytes
	Major     int   // major version of the compute capability
	Minor     int
	ClockHz   int64  // the highest clock of the SMs
	Bandwidth int64  // bandwidth of the memory in bytes/s
	Cache     int64  // bytes of the last-level cache
	HalfRate  int64  // FLOP/s of matrix units at 16 bits
	Source    Source // of what the capture states about rates; "" for FromNsys
}

// A Source says where a peak is from.
type Source string

// The sources. A peak that the user gave replaces all others.
const (
	FromTable Source = "table"     // of published figures
	FromNsys  Source = "nsys"      // the properties in an export of Nsight Systems
	FromTrace Source = "capture"   // the properties in another capture
	Estimated Source = "estimated" // from the number of SMs and a clock, or from another device's
	FromUser  Source = "user"
)

// Peaks are the maximum rates of one GPU. A figure that is not known is 0.
type Peaks struct {
	Device  string // the name in the table, or ""
	Figures Figures
	Sources [numFigures]Source // source of each known figure
	MHz     float64            // the clock that the rates of matrix units assume; 0 if not known
	Cache   float64            // bytes of the last level; 0 if not known
	Origin  string             // the source that the table states
	Note    string             // a restriction on these peaks, or ""
}

// Known reports whether a figure is known.
func (p *Peaks) Known(f Figure) bool { return p.Figures[f] > 0 }

// Source returns where the peaks are from in one word: "user" if any is the user's, else
// the source of the first that is known. It is "" if none is known.
func (p *Peaks) Source() Source {
	if slices.Contains(p.Sources[:], FromUser) {
		return FromUser
	}
	for _, s := range p.Sources {
		if s != "" {
			return s
		}
	}
	return ""
}

// set sets a figure and its source.
func (p *Peaks) set(f Figure, v float64, from Source) {
	if v > 0 {
		p.Figures[f], p.Sources[f] = v, from
	}
}

// A Catalog finds the peaks of devices. The zero Catalog has the built-in table.
type Catalog struct {
	own []Device // devices of the user
	set Figures  // figures of the user, for all devices
}

// With returns a catalog in which the user's devices and figures replace what it has. A
// device that is in both keeps the figures that the user does not give.
func (c Catalog) With(devices []Device, set Figures) Catalog {
	return Catalog{own: slices.Concat(devices, c.own), set: set}
}

// Unmatched returns the first names of the user's devices that are none of these GPUs.
func (c Catalog) Unmatched(gpus []string) (names []string) {
	for i := range c.own {
		of := c.own[i : i+1]
		if !slices.ContainsFunc(gpus, func(gpu string) bool {
			name, _ := cleanName(gpu)
			return deviceNamed(of, name) != nil
		}) {
			names = append(names, c.own[i].Names[0])
		}
	}
	return names
}

// Peaks returns the peaks of a GPU: of the table by its name or, if it has none, by its
// size; else estimated from its clock. Figures of the capture and of the user replace them.
func (c Catalog) Peaks(props Properties) Peaks {
	name, mig := cleanName(props.Name)
	var p Peaks
	if d := deviceNamed(builtIn, name); d != nil {
		p = scaled(d, props.SMs, mig, FromTable)
	} else if generic(name) {
		p = bySize(props)
	} else {
		p = estimate(name, props)
	}
	if props.Bandwidth > 0 {
		p.set(HBM, float64(props.Bandwidth)/1e9, cmp.Or(props.Source, FromNsys))
	}
	if props.HalfRate > 0 && !p.Known(BF16) {
		p.set(BF16, float64(props.HalfRate)/1e12, cmp.Or(props.Source, FromTrace))
	}
	if props.Cache > 0 {
		p.Cache = max(p.Cache, float64(props.Cache))
	}
	if d := deviceNamed(c.own, name); d != nil {
		p.replace(scaled(d, props.SMs, mig, FromUser))
	}
	for f, v := range c.set {
		p.set(Figure(f), v, FromUser)
	}
	if c.set.rates() {
		p.MHz = 0 // the clock yields other rates
	}
	return p
}

// replace takes what is known of o.
func (p *Peaks) replace(o Peaks) {
	for f, v := range o.Figures {
		p.set(Figure(f), v, o.Sources[f])
	}
	if p.Device = o.Device; o.MHz > 0 || o.Figures.rates() {
		p.MHz = o.MHz
	}
	if o.Cache > 0 {
		p.Cache = o.Cache
	}
	p.Origin, p.Note = o.Origin, o.Note
}

// cleanName returns a name without what says that the device is virtual or a partition,
// and reports whether it is a partition (MIG).
func cleanName(name string) (clean string, mig bool) {
	clean, _, mig = strings.Cut(strings.Join(strings.Fields(name), " "), " MIG ")
	return strings.TrimSuffix(clean, " VF"), mig
}

// whole is the share of the SMs of a device from which it is no partition: drivers may
// report a few SMs fewer than data sheets count.
const whole = 0.95

// scaled returns the peaks of a GPU that has some of the SMs of a device (0: not known).
// With fewer SMs it is a partition: rates are in proportion, and so is the bandwidth of
// the memory, except that a MIG partition has 1, 2, 4 or 8 slices of 8. Partitions share
// the links, so their bandwidths are not known.
func scaled(d *Device, sms int64, mig bool, from Source) Peaks {
	p := Peaks{Device: d.Names[0], MHz: d.MHz, Cache: d.Cache * (1 << 20), Origin: d.Source, Note: d.Note}
	share := float64(sms) / float64(d.SMs)
	if sms <= 0 || d.SMs <= 0 {
		if mig {
			p.Note = "a partition of unknown size of " + p.Device
			return p
		}
		share = 1
	}
	for f, v := range d.Peak {
		p.set(Figure(f), v, from)
	}
	if share >= whole {
		return p
	}
	p.Note = fmt.Sprintf("%d of the %d SMs or compute units of %s", sms, d.SMs, p.Device)
	slice := share
	if mig {
		slice = memorySlices(share)
	}
	for f := range p.Figures {
		switch f := Figure(f); {
		case f.IsRate():
			p.Figures[f] *= share
		case f == HBM:
			p.set(HBM, p.Figures[HBM]*slice, Estimated)
		default:
			p.Figures[f], p.Sources[f] = 0, ""
		}
	}
	return p
}

// memorySlices returns the share of the memory of a partition with a share of the SMs.
func memorySlices(share float64) float64 {
	for _, eighths := range []float64{1, 2, 4} {
		if share <= eighths/8*1.1 {
			return eighths / 8
		}
	}
	return 1
}

// generic reports whether a name is one that ROCm gives to any GPU.
func generic(name string) bool {
	return name == "" || strings.EqualFold(name, "AMD Radeon Graphics") || strings.EqualFold(name, "AMD Instinct")
}

// bySize returns the peaks of a GPU of AMD by the number of its compute units and the size
// of its memory: those on which all devices of this size agree.
func bySize(props Properties) Peaks {
	var fit []*Device
	for i := range builtIn {
		d := &builtIn[i]
		near := math.Abs(float64(props.Memory)/1e9/d.Memory - 1)
		if d.Memory > 0 && d.SMs == props.SMs && (props.Memory == 0 || near < 0.05) {
			fit = append(fit, d)
		}
	}
	if len(fit) == 0 {
		return Peaks{}
	}
	p := scaled(fit[0], props.SMs, false, FromTable)
	for _, d := range fit[1:] {
		for f, v := range d.Peak {
			if p.Figures[f] != v {
				p.Figures[f], p.Sources[f] = 0, ""
			}
		}
		p.Device += " or " + d.Names[0]
		if p.MHz != d.MHz {
			p.MHz = 0
		}
	}
	p.Note = fmt.Sprintf("the capture has no name of the device; %d compute units and its memory are those of %s", props.SMs, p.Device)
	return p
}

// A generation has what SMs of a compute capability do in one cycle.
type generation struct {
	major, minor int
	fp32, fp16   float64 // FLOPs per SM and cycle, the latter of matrix units with accumulation in fp32
	consumer     float64 // fp16 of GeForce
	types        []Figure
}

// generations are those of NVIDIA whose rates are known.
var generations = []generation{
	{7, 0, 128, 1024, 1024, []Figure{FP16}},
	{7, 5, 128, 1024, 512, []Figure{FP16}},
	{8, 0, 128, 2048, 2048, []Figure{FP16, BF16, TF32}},
	{8, 6, 256, 1024, 512, []Figure{FP16, BF16, TF32}},
	{8, 9, 256, 1024, 512, []Figure{FP16, BF16, TF32, FP8}},
	{9, 0, 256, 4096, 4096, []Figure{FP16, BF16, TF32, FP8}},
	{10, 0, 256, 8192, 8192, []Figure{FP16, BF16, TF32, FP8}},
	{12, 0, 256, 1024, 512, []Figure{FP16, BF16, TF32, FP8}},
}

// Sizes that no GPU has: a capture that states more is wrong.
const (
	maxSMs     = 10_000
	maxClockHz = 10_000_000_000
)

// estimate returns the peaks of a GPU of NVIDIA that is not in the table, by its clock: SMs
// × clock × FLOPs per cycle. They are too high where matrix units run at a lower clock.
func estimate(name string, props Properties) Peaks {
	i := slices.IndexFunc(generations, func(g generation) bool { return g.major == props.Major && g.minor == props.Minor })
	if i < 0 || props.SMs <= 0 || props.SMs > maxSMs || props.ClockHz <= 0 || props.ClockHz > maxClockHz || !isNVIDIA(name) {
		return Peaks{}
	}
	g, tera := generations[i], float64(props.SMs)*float64(props.ClockHz)/1e12
	half := g.fp16
	if strings.Contains(name, "GeForce") || strings.Contains(name, "TITAN") {
		half = g.consumer
	}
	p := Peaks{MHz: float64(props.ClockHz) / 1e6, Origin: "estimated",
		Note: fmt.Sprintf("estimated for compute capability %d.%d: %d SMs × %.0f MHz × FLOPs per cycle", g.major, g.minor, props.SMs, float64(props.ClockHz)/1e6)}
	p.set(FP32, tera*g.fp32, Estimated)
	for _, f := range g.types {
		p.set(f, tera*half*map[Figure]float64{FP16: 1, BF16: 1, TF32: 0.5, FP8: 2}[f], Estimated)
	}
	return p
}

// isNVIDIA reports whether a name is that of a GPU of NVIDIA.
func isNVIDIA(name string) bool {
	for _, brand := range []string{"NVIDIA", "GeForce", "Tesla", "Quadro", "TITAN"} {
		if strings.HasPrefix(name, brand) {
			return true
		}
	}
	return false
}
