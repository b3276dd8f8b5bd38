package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"assay/analyze/classify"
	"assay/analyze/clocks"
	"assay/analyze/efficiency/hardware"
	"assay/analyze/phase"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/outfile"
	"assay/internal/redact"
	"assay/logs/forms"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// Inputs are read in parallel as long as their uncompressed size is estimated to be under
// this many bytes. A trace takes about a seventh of its JSON in memory, so this is about
// 600 MB.
const unpackedBudget = 4 << 30

// A reading reads many inputs.
type reading struct {
	e      env
	rules  *classify.Rules
	phases *phase.Rules
	forms  *forms.Set // nil for the built-in ones
	jobs   int        // inputs at a time; 0 means as many as there are cores
	paths  []string
	failed []error             // arguments that are not inputs
	peaks  hardware.Catalog    // with those of the user
	model  hardware.ModelFLOPs // of the user, or zero
	asked  *peakFlags          // that peaks and model are of
	need   need
	needs  func() trace.Select // what is read of traces: need.reads unless the command asks otherwise

	temp       outfile.Registry // of all inputs
	exportTime time.Duration    // of one report by nsys or ncu

	limits limits
	turn   sync.Mutex // held by the one input that may grow when memory is scarce

	places partial.PathRules
	window *window.Request // what is measured of each capture; nil for all
	choice choice          // of ranks and work
	ranks  map[int]bool    // that inputs have, if some are chosen
	clocks clocks.Settings
	left   []summary.LeftOutFile // files of directories that are not read

	save  bool            // parts are saved, so collectives are looked at
	sums  bool            // summaries that are rolled up will do
	alike map[string]bool // paths of files that may be copies: see sameSize

	mu    sync.Mutex
	files map[*ingest.File]bool // open
	done  int64                 // stored bytes of those that are closed
	used  int64                 // bytes of memory that the traces take
	kept  int64                 // bytes of memory that the results of inputs take, estimated
	held  int64                 // bytes of memory that the collectives of partials take

	secrets []summary.Issue // of inputs that hold some
	saved   []string        // paths of summaries with rooflines
}

// all reads the inputs, several at a time, and calls use for each. It returns the errors
// of inputs that could not be read, in their order.
func (r *reading) all(use func(i int, in *ingest.Input)) []error {
	stop := showProgress(r.e.stderr, r.paths, r.stored)
	defer stop()
	defer r.temp.Close()
	jobs := r.jobs
	if jobs == 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	slots := semaphore.NewWeighted(int64(jobs))
	budget := semaphore.NewWeighted(unpackedBudget)
	errs := make([]error, len(r.paths))
	said := newTalk(func(line string) { r.e.say("assay: %s", line) })
	var wg sync.WaitGroup
	for i, path := range r.paths {
		// Acquiring here, in order, prevents starvation of large inputs. Without a
		// deadline it cannot fail.
		weight := min(unpackedBudget, unpacked(path))
		slots.Acquire(context.Background(), 1)
		budget.Acquire(context.Background(), weight)
		wg.Go(func() {
			defer slots.Release(1)
			defer budget.Release(weight)
			defer said.end(i)
			errs[i] = r.one(path, func(line string) { said.line(i, line) }, func(in *ingest.Input) { use(i, in) })
		})
	}
	wg.Wait()
	failed := slices.Clone(r.failed)
	for _, err := range append(errs, r.absent()) {
		if err != nil {
			failed = append(failed, err)
		}
	}
	return failed
}

// one reads one input and calls use. It calls say with messages on long operations.
func (r *reading) one(path string, say func(string), use func(*ingest.Input)) error {
	if err := checkDevice(path); err != nil {
		return err
	}
	// Open returns when the first bytes are there, which may be never.
	late := time.AfterFunc(waitTime, func() { say("waiting for data from " + path) })
	open := ingest.OpenWithoutDigest
	if r.need.digest || r.alike[path] {
		open = ingest.Open
	}
	f, err := open(path, r.e.stdin)
	late.Stop()
	if err != nil {
		return err
	}
	defer f.Close()
	f.Temp, f.ExportTime, f.Forms = &r.temp, r.exportTime, r.forms
	f.Say = say
	r.opened(f)
	defer r.closed(f)
	need := r.needs()
	share := share{r: r}
	defer share.release()
	share.queue()
	need.Limits = r.limits.trace()
	need.Limits.Grown = share.grown
	if r.need.secrets {
		found := redact.NewScanner()
		f.Tap = found
		defer func() { r.noteSecrets(path, found.Count()) }()
	}
	in, err := ingest.Load(f, need)
	if err != nil {
		return err
	}
	if err := r.places.Apply(in); err != nil {
		return err
	}
	if _, _, err := r.places.Run(in); err != nil {
		return err
	}
	if !r.wants(in) {
		return nil
	}
	if in.Summary != nil && !r.sums && in.Summary.RolledUpInputs() > 0 {
		return fmt.Errorf("%s: the summary is rolled up: it has all rows of %d of its %d inputs, and sums of the others; give the traces, or a summary saved with --full", path, len(in.Summary.Inputs)-in.Summary.RolledUpInputs(), len(in.Summary.Inputs))
	}
	r.collectMore(in, &share)
	use(in)
	return nil
}

// manyInputs is the number of inputs from which on the summaries take more memory than
// the inputs that are being read.
const manyInputs = 128

// muchMemory is the limit of memory in bytes from which on the heap may grow by more between
// collections.
const muchMemory = 1 << 30

// waitTime is after how long a message tells that an input has brought no data.
const waitTime = 2 * time.Second

// checkDevice refuses a character device, which may have no data or no end. The null
// device and standard input are no reason to wait.
func checkDevice(path string) error {
	info, err := os.Stat(path)
	if path == ingest.Stdin || err != nil || info.Mode()&os.ModeCharDevice == 0 || path == os.DevNull {
		return nil
	}
	if in, err := os.Stdin.Stat(); err == nil && os.SameFile(in, info) {
		return nil
	}
	return fmt.Errorf("%s: this is a character device, not a capture; give a file or a pipe", path)
}

// noteSecrets records the number of secrets in an input.
func (r *reading) noteSecrets(path string, n int64) {
	if n == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, secretsInCapture(path, n))
}

// A share is the memory of one input.
type share struct {
	r     *reading
	bytes int64
	turn  bool // it is this input's
}

// grown records the memory of the input's trace. If all inputs together take more than
// the budget of several, only one input continues at a time and the others wait.
func (s *share) grown(bytes int64) {
	s.r.mu.Lock()
	s.r.used += bytes - s.bytes
	s.bytes = bytes
	scarce := s.r.used > s.r.limits.memory.Together()
	s.r.mu.Unlock()
	if scarce && !s.turn {
		s.r.turn.Lock()
		s.turn = true
	}
}

// queue waits until no other input is read if the results of earlier inputs take much of
// the memory.
func (s *share) queue() {
	if s.r.keep(0) > s.r.limits.memory.Together() {
		s.r.turn.Lock()
		s.turn = true
	}
}

// keep records the memory of a result that stays until all inputs are read, and returns
// that of all of them.
func (r *reading) keep(bytes int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.kept += bytes
	return r.kept
}

func (s *share) release() {
	s.r.mu.Lock()
	s.r.used -= s.bytes
	s.r.mu.Unlock()
	if s.turn {
		s.r.turn.Unlock()
	}
}

func (r *reading) opened(f *ingest.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil {
		r.files = make(map[*ingest.File]bool)
	}
	r.files[f] = true
}

// closed removes a file from the open files, so that its large buffers can be freed.
func (r *reading) closed(f *ingest.File) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.files, f)
	r.done += f.Stored()
}

// stored returns how many stored bytes of all inputs were read so far.
func (r *reading) stored() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = r.done
	for f := range r.files {
		n += f.Stored()
	}
	return n
}

// unpacked estimates the uncompressed size of an input in bytes. Compression makes traces
// about 16 times smaller. An input without a size, for example a pipe, counts as half of
// the budget.
func unpacked(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return unpackedBudget / 2
	}
	if strings.HasSuffix(path, ".gz") || strings.HasSuffix(path, ".zst") {
		return 16 * info.Size()
	}
	return info.Size()
}

// collectMore makes the heap grow by no more than a few tens of megabytes, or a
// fifth, between collections. While a trace is read there is hardly any garbage;
// to measure it makes some, and with much to keep the usual share of it is much.
// A profile is bounded by a quarter of the memory, and is mostly names, which take
// long to look through: there the usual share of Go is right. Among many inputs each is small, and
// the summaries of all are looked through each time, so with many inputs and enough memory
// collections are half as many.
func (r *reading) collectMore(in *ingest.Input, s *share) {
	if os.Getenv("GOGC") != "" {
		return
	}
	if in.Profile != nil || in.Tables != nil {
		debug.SetGCPercent(100)
		return
	}
	slack := int64(16 << 20)
	if len(r.paths) >= manyInputs && int64(r.limits.memory) >= muchMemory {
		slack *= 2
	}
	debug.SetGCPercent(int(min(usualGC, max(8, slack*100/max(1, r.heap(in, s))))))
}

// heap returns how many bytes the heap has after an input was read. For a single trace it
// is an estimate: runtime.ReadMemStats empties the caches of the allocator, which costs a
// hundredth of the time of a trace of 20 MB. The tables of package runtime/metrics, which
// knows it too, would take longer to set up than the start of a small program.
func (r *reading) heap(in *ingest.Input, s *share) int64 {
	const buffers = 8 << 20 // of the reader
	if bytes := s.size(); len(r.paths) == 1 && in.Trace != nil && bytes > 0 {
		if bytes < buffers/32 {
			return 1 // the buffers of a small trace are smaller, too
		}
		return bytes + buffers
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// size returns the memory of the input's trace in bytes, as far as it is known.
func (s *share) size() int64 {
	s.r.mu.Lock()
	defer s.r.mu.Unlock()
	return s.bytes
}
