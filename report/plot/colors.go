package plot

// A Color is a colour as 0xRRGGBB.
type Color uint32

// The colours of the classes, the same in all pictures. They can be distinguished by readers who are
// red-green colour blind, and in grey prints.
const (
	ColorCompute Color = 0x0072b2
	ColorComm    Color = 0xd55e00
	ColorCopy    Color = 0xe69f00
	ColorMemset  Color = 0xcc79a7
	ColorIdle    Color = 0xd9d9d9
	ColorHost    Color = 0x009e73
	ColorCount   Color = 0x8c8c8c // of distributions, next to ColorTime
	ColorTime    Color = 0x009e73
)

// Other colours: GPU work of all classes, causes of idle time, and memory. Idle time that
// a program cannot reduce is grey.
const (
	ColorWork       Color = 0x56b4e9
	ColorDependency Color = 0x7b5ea7
	ColorLaunch     Color = 0xf0e442
	ColorBetween    Color = 0xc9b458
	ColorNothing    Color = 0xc4c4c4
	ColorOpaque     Color = 0x8c8c8c
	ColorUnknown    Color = 0x555555
)

// The colours of waiting in collectives: of a rank for others (a light tone of communication), and
// of others for the rank.
const (
	ColorWait   Color = 0xf6c6a0
	ColorCaused Color = 0x555555
)

// The colours of everything that is not data.
const (
	ColorInk   Color = 0x222222
	colorGrey  Color = 0x5a5a5a
	colorGrid  Color = 0xe3e3e3
	ColorPlane Color = 0xf6f6f6
	ColorWhite Color = 0xffffff
)

// The colours of a comparison: more time than before, and less. They differ in lightness too.
const (
	ColorMore Color = 0xc0392b
	ColorLess Color = 0x2e8b57
	ColorSide Color = 0x8c8c8c // totals before and now

	ColorByCount    = ColorDependency
	ColorByDuration = ColorWork
)

// inkOn returns white or black, whichever has more contrast to the colour.
func inkOn(c Color) Color {
	r, g, b := float64(c>>16&255), float64(c>>8&255), float64(c&255)
	if float64(0.299*r)+float64(0.587*g)+float64(0.114*b) > 140 {
		return ColorInk
	}
	return ColorWhite
}
