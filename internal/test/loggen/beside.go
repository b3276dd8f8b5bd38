package loggen

import (
	"fmt"
	"strings"
	"time"
)

// begun is when runs beside monitors begin: between two samples of a monitor that samples
// each second.
var begun = origin.Add(250 * time.Millisecond)

// A Use is the state of all GPUs during a phase.
type Use struct{ Util, Watts, MiB int }

// A Monitored is a run of SkyRL beside which nvidia-smi samples the GPUs. Phases follow each
// other without gaps. During a phase every sample has the use of that phase, so the mean of
// any samples within it is that use.
type Monitored struct {
	Steps  []Step // with phases of whole seconds
	Uses   map[string]Use
	GPUs   int
	Zone   time.Duration // of the monitor's clock, which it does not write
	Ahead  time.Duration // by which the monitor's clock is wrong besides
	Every  time.Duration // between samples; one second if 0
	Undone bool          // the log has no lines at the ends of phases
}

// Log returns the console of SkyRL in UTC.
func (m Monitored) Log() string {
	var b strings.Builder
	now := begun
	say := func(text string) {
		fmt.Fprintf(&b, "(skyrl_entrypoint pid=5568) %s | INFO     | skyrl_train.trainer:train:250 - %s\n", now.Format("2006-01-02 15:04:05.000"), text)
	}
	for _, s := range m.Steps {
		for _, p := range s.Phases {
			now = now.Add(time.Duration(nanoseconds(p.Seconds)))
			if !m.Undone {
				say(fmt.Sprintf("Finished: '%s', time cost: %.2fs", p.Name, p.Seconds))
			}
		}
		fmt.Fprintf(&b, "(skyrl_entrypoint pid=5568) %s | INFO     | skyrl_train.utils.tracking:log:108 - Step %d:\n", now.Format("2006-01-02 15:04:05.000"), s.Number)
		fmt.Fprintf(&b, "(skyrl_entrypoint pid=5568) {'timing/step': '%.4f',\n", s.Time())
		for _, p := range s.Phases {
			fmt.Fprintf(&b, "(skyrl_entrypoint pid=5568)  'timing/%s': '%.4f',\n", p.Name, p.Seconds)
		}
		fmt.Fprintf(&b, "(skyrl_entrypoint pid=5568)  'trainer/global_step': %d}\n", s.Number)
	}
	return b.String()
}

// useAt returns the use at a time: that of the phase that runs, and none outside.
func (m Monitored) useAt(at time.Time) Use {
	now := begun
	for _, s := range m.Steps {
		for _, p := range s.Phases {
			end := now.Add(time.Duration(nanoseconds(p.Seconds)))
			if at.After(now) && !at.After(end) { // a sample covers the time before it
				return m.Uses[p.Name]
			}
			now = end
		}
	}
	return Use{}
}

// Dmon returns the rows of nvidia-smi dmon -o DT: whole seconds, in the local time of the
// machine, from ten seconds before the run to ten after it.
func (m Monitored) Dmon() string {
	var b strings.Builder
	b.WriteString("#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec   mclk   pclk     fb\n#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %    MHz    MHz     MB\n")
	m.each(func(at time.Time, use Use, gpu int) {
		fmt.Fprintf(&b, " %s   %s   %4d   %4d     50      -    %3d      5      0      0   2619   1980  %6d\n", at.Format("20060102"), at.Format("15:04:05"), gpu, use.Watts, use.Util, use.MiB)
	})
	return b.String()
}

// Query returns the rows of nvidia-smi --query-gpu=timestamp,index,utilization.gpu,
// memory.used,power.draw --format=csv.
func (m Monitored) Query() string {
	var b strings.Builder
	b.WriteString("timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]\n")
	m.each(func(at time.Time, use Use, gpu int) {
		fmt.Fprintf(&b, "%s, %d, %d %%, %d MiB, %d.00 W\n", at.Format("2006/01/02 15:04:05.000"), gpu, use.Util, use.MiB, use.Watts)
	})
	return b.String()
}

func (m Monitored) each(row func(at time.Time, use Use, gpu int)) {
	every := m.Every
	if every == 0 {
		every = time.Second
	}
	total := 0.0
	for _, s := range m.Steps {
		total += s.Time()
	}
	for at := origin.Add(-10 * time.Second); !at.After(begun.Add(time.Duration(nanoseconds(total)) + 10*time.Second)); at = at.Add(every) {
		for gpu := range max(1, m.GPUs) {
			row(at.Add(m.Zone+m.Ahead), m.useAt(at), gpu)
		}
	}
}
