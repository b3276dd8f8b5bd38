package plot

// Lanes show when each class of work ran on some devices, one panel each.
type Lanes struct {
	Panels []LanePanel
}

// A LanePanel is the window of one device.
type LanePanel struct {
	Title    string
	WindowNS int64
	BinNS    int64
	Lanes    []Lane
	Marks    []Mark
}

// A Lane says how long a class ran in each bin.
type Lane struct {
	Name  string
	Color Color
	NS    []int64
}

// A Mark is a moment with a name.
type Mark struct {
	NS    int64 // from the start of the window
	Label string
}

const (
	lanePitch  = 52.0
	laneHeight = 46.0
	laneX      = Margin + 78.0
	laneLength = Width - Margin - 24 - laneX
)

func (p LanePanel) height() float64 {
	h := 30 + lanePitch*float64(len(p.Lanes)) + 34
	if len(p.Marks) > 0 {
		h += 18
	}
	return h
}

func (l Lanes) height(*pen) (h float64) {
	for _, p := range l.Panels {
		h += p.height()
	}
	return h
}

func (l Lanes) draw(c *Canvas, top float64) {
	for _, p := range l.Panels {
		p.draw(c, top)
		top += p.height()
	}
}

// x returns where a moment of the window is.
func (p LanePanel) x(ns int64) float64 {
	return laneX + laneLength*float64(ns)/float64(max(1, p.WindowNS))
}

func (p LanePanel) draw(c *Canvas, top float64) {
	c.text(Margin, top+18, c.fit(p.Title, sizeText, Width-2*Margin), textStyle{bold: true})
	y := top + 30
	if len(p.Marks) > 0 {
		y += 18
	}
	bottom := y + lanePitch*float64(len(p.Lanes)) - (lanePitch - laneHeight)
	for i, lane := range p.Lanes {
		at := y + lanePitch*float64(i)
		c.text(laneX-10, at+laneHeight-4, lane.Name, textStyle{align: right})
		c.rect(laneX, at, laneLength, laneHeight, ColorPlane)
		p.drawLane(c, lane, at+laneHeight)
		c.line(laneX, at+laneHeight, laneX+laneLength, at+laneHeight, 1, ColorIdle)
	}
	p.drawMarks(c, y, bottom)
	for _, tick := range ticksBetween(0, p.WindowNS, 10) {
		at := p.x(tick)
		c.line(at, bottom, at, bottom+5, 1, colorGrey)
		c.text(at, bottom+19, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
}

// drawLane fills the steps of a lane as one shape: bins drawn one by one would
// show seams between them.
func (p LanePanel) drawLane(c *Canvas, lane Lane, base float64) {
	corners := [][2]float64{{laneX, base}}
	for i, ns := range lane.NS {
		from := int64(i) * p.BinNS
		length := min(p.BinNS, p.WindowNS-from)
		if length <= 0 {
			break
		}
		up := base - laneHeight*min(1, float64(ns)/float64(length))
		corners = append(corners, [2]float64{p.x(from), up}, [2]float64{p.x(from + length), up})
	}
	last := corners[len(corners)-1][0]
	c.area(lane.Color, append(corners, [2]float64{last, base})...)
}

// drawMarks draws the marks within the window, and the labels that have room.
func (p LanePanel) drawMarks(c *Canvas, top, bottom float64) {
	free := laneX - 1.0
	for _, m := range p.Marks {
		if m.NS < 0 || m.NS > p.WindowNS {
			continue
		}
		x := p.x(m.NS)
		c.line(x, top-4, x, bottom, 1, colorGrey)
		st := textStyle{size: sizeSmall, color: colorGrey}
		if w := c.width(m.Label, st); x >= free && x+3+w <= Width-Margin {
			c.text(x+3, top-6, m.Label, st)
			free = x + 3 + w + 8
		}
	}
}
