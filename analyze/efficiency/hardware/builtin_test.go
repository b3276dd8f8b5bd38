package hardware

import (
	"bytes"
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test"
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
	test.Generated(t, "builtin.go", b.Bytes(), *update)
	if diff := cmp.Diff(rows, builtIn); diff != "" && !*update {
		t.Errorf("builtin.go is not what devices.yaml says (-yaml +go):\n%s", diff)
	}
}
