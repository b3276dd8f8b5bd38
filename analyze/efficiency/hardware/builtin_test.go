package hardware

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write builtin.go anew, from devices.yaml")

var figureConstants = [numFigures]string{"NoFigure", "FP64", "FP32", "TF32", "FP16", "BF16", "FP8", "FP4", "INT8", "HBM", "Link", "PCIe", "C2C"}

// TestBuiltInDevices: the table that users read equals the one in use.
func TestBuiltInDevices(t *testing.T) {
	rows, err := ParseDevices(devicesYAML, "d.yaml")
	if err != nil {
		t.Fatal("devices.yaml:" + err.Error())
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from devices.yaml by go test ./analyze/efficiency/hardware -update. DO NOT EDIT.\n\npackage hardware\n\n")
	b.WriteString("// builtIn are the rows of devices.yaml. Nothing may change them.\nvar builtIn = []Device{\n")
	for _, d := range rows {
		fmt.Fprintf(&b, "{Names: %#v, SMs: %d, MHz: %v, Memory: %v, Cache: %v, Source: %q, Note: %q, Peak: Figures{", d.Names, d.SMs, d.MHz, d.Memory, d.Cache, d.Source, d.Note)
		for f, v := range d.Peak {
			if v > 0 {
				fmt.Fprintf(&b, "%s: %v,", figureConstants[f], v)
			}
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	want, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	const file = "builtin.go"
	if *update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(rows, builtIn); diff != "" {
		t.Errorf("%s is not what devices.yaml says, which go test ./analyze/efficiency/hardware -update mends (-yaml +go):\n%s", file, diff)
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not as go test ./analyze/efficiency/hardware -update writes it (%v)", file, err)
	}
}
