package partial

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/ingest"
	"assay/summary"
)

// A Record is the saved form of a part: the contents of two files.
type Record struct {
	Name        string // name of both files, without their extensions
	JSON        []byte // content of NAME.json.gz: the compressed summary
	Collectives []byte // content of NAME.collectives; nil if there are none
}

// JSONName and CollectivesName return the names of the files.
func (r Record) JSONName() string        { return r.Name + ".json.gz" }
func (r Record) CollectivesName() string { return r.Name + ingest.CollectivesSuffix }

// Encode returns the record of a part, and stores its name in the part. A part that was read
// from a file keeps the text of its file, which another version of assay may have written.
// madeBy is the version of assay, for parts that it measured.
func (p *Part) Encode(madeBy string) (Record, error) {
	if p.path != "" {
		return p.reencode()
	}
	var r Record
	s := *p.Summary
	s.Partial = &summary.Partial{}
	if len(p.Members) > 0 {
		var list []collective.OfGPU
		for _, m := range p.Members {
			list = append(list, collective.OfGPU{Device: m.Device, Columns: m.Columns})
			s.Partial.Collectives += int64(len(m.Columns.Runs))
		}
		var text bytes.Buffer
		if err := collective.Encode(&text, list); err != nil {
			return Record{}, err
		}
		r.Collectives = text.Bytes()
		s.Partial.SHA256 = digest(r.Collectives)
	}
	var text bytes.Buffer
	if err := summary.Write(&text, &s, madeBy); err != nil {
		return Record{}, err
	}
	return p.record(text.Bytes(), r.Collectives)
}

// record packs the texts of a part.
func (p *Part) record(text, collectives []byte) (Record, error) {
	p.name = nameOf(digest(text))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write(text); err != nil {
		return Record{}, err
	}
	if err := z.Close(); err != nil {
		return Record{}, err
	}
	return Record{p.name, packed.Bytes(), collectives}, nil
}

// reencode returns the record of a part that was read from a file.
func (p *Part) reencode() (Record, error) {
	f, err := ingest.OpenWithoutDigest(p.path, nil)
	if err != nil {
		return Record{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", p.path, err)
	}
	var collectives []byte
	if at := p.Summary.Partial; at != nil && at.SHA256 != "" {
		if collectives, err = os.ReadFile(collectivesPath(p.path)); err != nil {
			return Record{}, missing(p.path, err)
		}
		if digest(collectives) != at.SHA256 {
			return Record{}, changed(p.path)
		}
	}
	if nameOf(digest(text)) != p.name {
		return Record{}, changed(p.path)
	}
	return p.record(text, collectives)
}

func changed(path string) error {
	return fmt.Errorf("%s: the file has changed since it was read; run the command again", path)
}

// digest returns the SHA-256 of a text in hex.
func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// nameOf returns the name of a part, given the digest of its summary.
func nameOf(digest string) string { return digest[:16] }

// Saved reports whether the part can be saved. The summary of a run, which "assay report"
// writes, cannot: it has no collectives, and its issues are added up.
func (p *Part) Saved() error {
	if p.isMeasured() {
		return nil
	}
	return fmt.Errorf("%s: this is a summary of a run, without the collectives of its ranks, and cannot be a partial; name the traces, or what \"assay summary --save\" wrote of them", p.path)
}

// Changes must be called before the texts of a part are changed, because the part then differs from the
// file that it was read from and must be encoded again.
func (p *Part) Changes() {
	if p.isMeasured() {
		p.path, p.name = "", ""
	}
}

// SavedBytes returns the bytes of memory of the collectives of a part that was read from a
// file.
func (p *Part) SavedBytes() (n int64) {
	for _, m := range p.Members {
		if p.saved {
			n += int64(len(m.Columns.Runs)) * 32
		}
	}
	return n
}

// read returns the part of a summary that assay wrote, with its collectives.
func read(in *ingest.Input, opt Options) (Part, error) {
	p := Part{Summary: in.Summary, path: in.Path}
	of := in.Summary.Partial
	if of == nil {
		return p, nil
	}
	if len(in.Summary.Inputs) != 1 || len(in.Summary.Ranks)+len(in.Summary.Collectives) > 0 {
		return p, fmt.Errorf("%s: partial: the summary has %d inputs and %d rows that compare ranks, want one input and none; save the trace again", in.Path, len(in.Summary.Inputs), len(in.Summary.Ranks)+len(in.Summary.Collectives))
	}
	p.name, p.saved = nameOf(in.Content), true
	if of.SHA256 != "" {
		if err := p.readCollectives(of, opt.Memory); err != nil {
			return p, err
		}
	}
	if opt.RunFrom != "" {
		p.Summary.Inputs[0].Run, p.Summary.Inputs[0].RunFrom = opt.Run, opt.RunFrom
		p.path = "" // if it is saved again, its text differs
	}
	return p, nil
}

// readCollectives reads the collectives of a saved part.
func (p *Part) readCollectives(of *summary.Partial, limit int64) error {
	path := collectivesPath(p.path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		return fmt.Errorf("%s: this is not a file, and %s needs its collectives; copy both files of the partial", path, p.path)
	}
	f, err := os.Open(path)
	if err != nil {
		return missing(p.path, err)
	}
	defer f.Close()
	sum := sha256.New()
	list, err := collective.Decode(io.TeeReader(f, sum), path, limit)
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != of.SHA256 {
		return fmt.Errorf("%s: these collectives belong to another summary than %s: their SHA-256 is %.16s..., want %.16s...; copy both files of the partial", path, p.path, got, of.SHA256)
	}
	rankOf, runs := map[int64]int{}, int64(0)
	for _, d := range p.Summary.Devices {
		rankOf[d.Device] = d.Rank
	}
	for _, g := range list {
		rank, ok := rankOf[g.Device]
		if !ok {
			rank = p.Summary.Inputs[0].Rank
		}
		p.Members = append(p.Members, ranks.Member{Rank: rank, Device: g.Device, Columns: g.Columns, Cut: !p.Summary.Inputs[0].Complete})
		runs += int64(len(g.Columns.Runs))
	}
	if runs != of.Collectives {
		return fmt.Errorf("%s: partial.collectives: got %d, want %d, the number in %s; save the trace again", p.path, of.Collectives, runs, path)
	}
	return nil
}

// collectivesPath returns the path of the collectives of a summary.
func collectivesPath(path string) string {
	for _, end := range []string{".gz", ".zst", ".json"} {
		path = strings.TrimSuffix(path, end)
	}
	return path + ingest.CollectivesSuffix
}

// missing explains why the collectives of a partial cannot be read.
func missing(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s: the collectives of this partial cannot be read (%s: %w); copy both files of the partial", path, collectivesPath(path), err)
}
