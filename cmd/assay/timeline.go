package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"assay/ingest"
	"assay/ingest/export"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/internal/redact"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// timelineFile is one input of a timeline.
type timelineFile struct {
	partial.Part
	path string // opened a second time to copy the events
	meta trace.Meta
	from summary.Input
	gpus []summary.Device
	when window.Capture

	shift            int64 // ns, added to its times
	offset, residual *int64
	devices          map[int64]int64 // new numbers of its GPUs; nil if they do not change
}

func (f *timelineFile) rank() int { return f.from.Rank }

// base returns the Unix time in ns of the file's time 0, or 0 if the file does not state it.
func (f *timelineFile) base() int64 {
	if f.meta.BaseTime == nil {
		return 0
	}
	return *f.meta.BaseTime
}

// joinedTimeline is the content of one output in Chrome JSON.
type joinedTimeline struct {
	r      *reading
	name   string // of the command, for messages
	files  []*timelineFile
	header export.Header
	hide   *redact.Redactor
	users  bool
}

// timeline converts the inputs to one Chrome trace. It reads every input twice, so standard input
// must be spooled to a file before.
func (conv *conversion) timeline(r *reading, c *command) error {
	j, failed := conv.join(r, c)
	if j == nil {
		return failed
	}
	packed := func(j *joinedTimeline, w io.Writer) error { return outfile.Compressed(conv.output, w, j.encode) }
	if err := r.e.output(conv.output, mask(j).as(packed)); err != nil {
		return errors.Join(failed, fmt.Errorf("cannot write the result: %w", diag.PathOnly(err)))
	}
	return failed
}

// join selects and aligns the inputs of a timeline. It returns nil if there is none, and the errors
// of the inputs that could not be read.
func (conv *conversion) join(r *reading, c *command) (*joinedTimeline, error) {
	files, failed := r.timelineFiles()
	if len(files) == 0 || r.absent() != nil {
		return nil, errors.Join(failed...)
	}
	list := make([]partial.Part, len(files))
	for i, f := range files {
		list[i] = f.Part
	}
	if n := partial.CountRuns(list); n > 1 {
		return nil, errors.Join(append(failed, fmt.Errorf("the inputs belong to %d runs, but a timeline has one; name the files of one run, or state with --group-by which inputs are one", n))...)
	}
	s := partial.Join(list)
	chosen, err := conv.choose(r.e, c, s, files)
	if err != nil {
		return nil, errors.Join(append(failed, err)...)
	}
	j := &joinedTimeline{r: r, name: c.name, files: chosen, hide: redact.New(conv.redact), users: conv.redact}
	j.align(s)
	j.numberGPUs()
	j.head()
	return j, errors.Join(failed...)
}

// timelineFiles measures the inputs. It returns the traces ordered by rank and path, and the errors
// of the other inputs.
func (r *reading) timelineFiles() ([]*timelineFile, []error) {
	files, errs := make([]*timelineFile, len(r.paths)), make([]error, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		if in.Trace == nil {
			errs[i] = fmt.Errorf("%s: the input has no timeline; give a trace in Chrome JSON or an export of Nsight Systems", in.Path)
			return
		}
		f := &timelineFile{path: r.paths[i], meta: in.Trace.Meta, when: partial.CaptureOf(in.Trace, in.Path)}
		if f.Part, errs[i] = r.measured(in); errs[i] != nil {
			return
		}
		f.from, f.gpus = f.Summary.Inputs[0], f.Summary.Devices // copied, because joining changes the summary
		files[i] = f
	})
	failed = append(failed, slices.DeleteFunc(errs, func(err error) bool { return err == nil })...)
	files = slices.DeleteFunc(files, func(f *timelineFile) bool { return f == nil })
	slices.SortStableFunc(files, func(a, b *timelineFile) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.path, b.path))
	})
	return files, failed
}

// align computes the shift of each file. The clock of the first file that has an offset is the
// reference.
func (j *joinedTimeline) align(s *summary.Summary) {
	for _, row := range s.Ranks {
		for _, f := range j.files {
			if s.Inputs[row.Input].Path == f.from.Path && f.offset == nil {
				f.offset, f.residual = row.OffsetNS, row.ResidualNS
			}
		}
	}
	first := j.files[0]
	if i := slices.IndexFunc(j.files, func(f *timelineFile) bool { return f.offset != nil }); i >= 0 {
		first = j.files[i]
	}
	base, stated := outBase(first)
	if stated {
		j.header.BaseTime = &base
	}
	for _, f := range j.files {
		f.shift = f.base() - base
		if f.offset != nil {
			f.shift -= *f.offset - *first.offset
		}
	}
	j.printClocks(first)
}

// outBase returns the base time of the timeline in Unix ns and whether the output states one.
// JavaScript and Perfetto read times as floating-point numbers, which keep nanoseconds only below
// about 10^13 µs. Unix times are larger, so they get a base, as newer versions of PyTorch write it:
// a multiple of a quarter of a year.
func outBase(first *timelineFile) (base int64, stated bool) {
	const quarter, large = 7_889_238_000_000_000, 1 << 53 // ns
	if first.meta.BaseTime != nil {
		return first.base(), true
	}
	for _, d := range first.gpus {
		if d.StartNS > large {
			return d.StartNS / quarter * quarter, true
		}
	}
	return 0, false
}

// printClocks reports how the clocks were aligned.
func (j *joinedTimeline) printClocks(first *timelineFile) {
	if len(j.files) < 2 {
		return
	}
	aligned, worst := 0, int64(0)
	var kept []int
	for _, f := range j.files {
		if f.offset == nil {
			kept = append(kept, f.rank())
			continue
		}
		aligned++
		worst = max(worst, *f.residual)
	}
	if aligned > 1 {
		j.r.e.say("assay %s: the clocks of %d ranks are aligned to rank %d by the ends of matched collectives; residual at most %s", j.name, aligned, first.rank(), unit.Duration(worst))
	} else {
		kept = nil
		j.r.e.say("assay %s: the ranks share no matched collective, so their clocks are not aligned", j.name)
	}
	if len(kept) > 0 {
		j.r.e.say("assay %s: the clocks of these ranks are not aligned, because they share no matched collective with rank %d: %s", j.name, first.rank(), window.ListNumbers(kept))
	}
}

// numberGPUs renumbers the GPUs of all ranks if two ranks have a GPU with the same number.
func (j *joinedTimeline) numberGPUs() {
	seen, again := map[int64]bool{}, false
	for _, f := range j.files {
		for _, d := range f.gpus {
			again = again || seen[d.Device]
			seen[d.Device] = true
		}
	}
	if !again {
		return
	}
	next := int64(0)
	for _, f := range j.files {
		f.devices = map[int64]int64{}
		for _, d := range f.gpus {
			f.devices[d.Device] = next
			next++
		}
	}
	j.header.FreeGPU = next
}

// head fills in the header, except for the base time.
func (j *joinedTimeline) head() {
	h := &j.header
	for _, f := range j.files {
		h.Kineto = h.Kineto || f.meta.Kineto || f.from.Format == "kineto"
		m := export.Member{Rank: f.rank(), Input: f.from.Path}
		if len(j.files) > 1 {
			m.Offset, m.Residual = f.offset, f.residual
		}
		for _, d := range f.gpus {
			to, ok := f.devices[d.Device]
			if !ok {
				to = d.Device
			}
			m.Devices = append(m.Devices, to)
			if d.Name == "" {
				continue
			}
			h.GPUs = append(h.GPUs, export.GPU{ID: to, Name: d.Name, Capacity: f.meta.Capacity[d.Device], Hardware: f.meta.Hardware[d.Device]})
		}
		h.Members = append(h.Members, m)
	}
	if len(j.files) > 1 {
		return
	}
	one := j.files[0]
	if one.meta.Rank != nil {
		h.Rank, h.WorldSize = one.meta.Rank, one.meta.WorldSize
	}
	if w := one.from.Window; w != nil {
		x := trace.Excerpt{Asked: w.Asked, Complete: one.from.Complete,
			Window:  trace.Window{Start: w.StartNS + one.shift, End: w.EndNS + one.shift},
			Capture: trace.Extent{Start: one.when.Start + one.shift, End: one.when.End + one.shift}}
		h.Excerpt = x.Member(j.hide.Text)
	}
}

func (j *joinedTimeline) encode(w io.Writer) error {
	sel := trace.SelectAll()
	sel.Limits = j.r.limits.trace()
	if j.users {
		if err := j.each(sel, j.learn); err != nil {
			return err
		}
	}
	out := export.NewWriter(w, j.header, len(j.files), int64(j.r.limits.memory)/8, j.hide.Text)
	err := j.each(sel, func(f *timelineFile, rd *trace.Reader) error {
		sum, err := out.Add(export.Rank{Label: j.label(f), Shift: f.shift, Devices: f.devices}, rd)
		if sum.Dropped > 0 {
			j.r.e.say("assay %s: %s: %s cannot be shown and %s left out", j.name, f.from.Path, plural(int(sum.Dropped), "event", "events"), wasWere(sum.Dropped))
		}
		for _, line := range diag.Warnings(f.from.Path, rd.Issues()) {
			j.r.e.say("assay %s: %s", j.name, line)
		}
		return err
	})
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	if n := j.hide.Secrets(); n > 0 {
		j.r.e.say("assay %s: %s masked in the timeline; the inputs still have them", j.name, plural(n, "possible secret is", "possible secrets are"))
	}
	return nil
}

func wasWere(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// label returns the prefix of the names of a file's processes.
func (j *joinedTimeline) label(f *timelineFile) string {
	same := 0
	for _, o := range j.files {
		if o.rank() == f.rank() {
			same++
		}
	}
	switch {
	case same > 1:
		return fmt.Sprintf("rank %d, %s", f.rank(), filepath.Base(f.from.Path))
	case len(j.files) == 1 && f.from.RankFrom == "assumed":
		return ""
	}
	return fmt.Sprintf("rank %d", f.rank())
}

// learn collects the names of users in the texts of a file, so that they can be hidden in all
// files.
func (j *joinedTimeline) learn(_ *timelineFile, rd *trace.Reader) error {
	for rd.Scan() {
		if e, ok := rd.Record().(*trace.Event); ok {
			j.hide.Learn(strings.ReplaceAll(string(e.Raw()), `\\`, `\`))
		}
	}
	return rd.Err()
}

// each calls use with a reader of the events of each file. Formats other than Chrome JSON are
// converted while they are read.
func (j *joinedTimeline) each(sel trace.Select, use func(*timelineFile, *trace.Reader) error) error {
	for _, f := range j.files {
		if err := j.open(f, sel, func(rd *trace.Reader) error { return use(f, rd) }); err != nil {
			return err
		}
	}
	return nil
}

func (j *joinedTimeline) open(tf *timelineFile, sel trace.Select, use func(*trace.Reader) error) error {
	if j.r.window != nil || !j.r.choice.work.All() {
		return j.openPart(tf, sel, use)
	}
	return j.r.again(tf.path, func(f *ingest.File) error {
		rd, err := ingest.Events(f, sel)
		if err != nil {
			return err
		}
		if rd != nil {
			return use(rd)
		}
		in, err := ingest.Load(f, sel)
		if err != nil {
			return err
		}
		return export.Piped(func(w io.Writer) error { return export.WriteModel(w, in.Trace) }, tf.from.Path, sel, use)
	})
}

// openPart calls use with a reader of the events of the part that the flags select.
func (j *joinedTimeline) openPart(tf *timelineFile, sel trace.Select, use func(*trace.Reader) error) error {
	var p *export.Choice
	err := j.r.again(tf.path, func(f *ingest.File) error {
		need := sel
		need.Index = true
		in, err := ingest.Load(f, need)
		if err != nil {
			return err
		}
		job := &trimJob{trimming: new(trimming), r: j.r}
		p, err = job.part(in, export.Source{Path: tf.path})
		return err
	})
	if err != nil {
		return err
	}
	return export.Piped(p.WriteEvents, tf.from.Path, sel, use)
}

// again reopens an input that was read before and calls use with it.
func (r *reading) again(path string, use func(*ingest.File) error) error {
	if path == ingest.Stdin {
		if err := r.e.rewind(); err != nil {
			return err
		}
	}
	f, err := ingest.OpenWithoutDigest(path, r.e.stdin)
	if err != nil {
		return err
	}
	defer f.Close()
	f.ExportTime = r.exportTime
	return use(f)
}

// spool copies standard input to a temporary file if it is one of the inputs, because a timeline
// reads its inputs twice. The returned environment reads the copy.
func (e env) spool(args []string, temp *outfile.Registry) (env, error) {
	if !slices.Contains(args, ingest.Stdin) {
		return e, nil
	}
	f, err := temp.CreateTemp("assay-*")
	if err != nil {
		return e, err
	}
	if _, err := io.Copy(f, e.stdin); err != nil {
		return e, err
	}
	_, err = f.Seek(0, io.SeekStart)
	e.stdin = f
	return e, err
}
