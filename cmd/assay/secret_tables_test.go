package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test/nsysgen"
)

// TestDoctorSearchesTables: doctor finds a secret in any text of an export, in pairs of
// columns and in arguments that are rows of their own.
func TestDoctorSearchesTables(t *testing.T) {
	const v = "aB3dE6gH9jK2mN5pQ8sT1vW4"
	for name, change := range map[string][]string{
		"none": nil,
		"argument": {"CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT, value TEXT)",
			"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_9', '--api-key=" + v + "')"},
		"arguments": {"CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT, value TEXT)",
			"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ARGUMENT_1', '--api-key'), ('PROCESS_0:ARGUMENT_2', '" + v + "')"},
		"environment": {"CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT)",
			"INSERT INTO TARGET_INFO_SYSTEM_ENV (name, value) VALUES ('HF_TOKEN', '" + v + "')"},
		"diagnostic":    {"CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, text TEXT)", "INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 'run with API_KEY=" + v + "')"},
		"unused string": {"INSERT INTO StringIds (id, value) VALUES (900001, 'password=" + v + "')"},
		"process":       {"CREATE TABLE IF NOT EXISTS PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT)", "INSERT INTO PROCESSES (globalPid, name) VALUES (7, 'x --token=" + v + "')"},
	} {
		path := filepath.Join(t.TempDir(), "run.sqlite")
		if err := nsysgen.Write(path, nsysgen.Plan{Kernels: 100, Calls: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := nsysgen.Change(path, change...); err != nil {
			t.Fatal(err)
		}
		s := newSearch(t, []planted{{name, v}})
		status, out := s.run("doctor", path)
		if status != exitOK || strings.Contains(strings.Join(strings.Fields(out), " "), "Nothing in it looks like a secret") != (name == "none") {
			t.Errorf("%s: exit status %d\n%s", name, status, out)
		}
	}
}

// TestDoctorSearchesLines: in an export in JSON, too, doctor finds a secret whose option
// or name is on another line or in another column.
func TestDoctorSearchesLines(t *testing.T) {
	const v = "aB3dE6gH9jK2mN5pQ8sT1vW4"
	capture := func(name, value string) string {
		return `{"table":"META_DATA_CAPTURE","name":"` + name + `","value":"` + value + `"}` + "\n"
	}
	for name, lines := range map[string]string{
		"none":          capture("PROCESS_0:ARGUMENT_1", "--epochs") + capture("PROCESS_0:ARGUMENT_2", "12345678"),
		"argument":      capture("PROCESS_0:ARGUMENT_1", "--api-key="+v),
		"arguments":     capture("PROCESS_0:ARGUMENT_1", "--api-key") + capture("PROCESS_0:ARGUMENT_2", v),
		"far arguments": capture("PROCESS_0:ARGUMENT_1", "--password") + `{"table":"TARGET_INFO_GPU","id":0,"name":"GPU"}` + "\n" + capture("PROCESS_0:ARGUMENT_2", "hunter2hunter2"),
		"environment":   `{"table":"TARGET_INFO_SYSTEM_ENV","value":"` + v + `","name":"HF_TOKEN"}` + "\n",
	} {
		path := write(t, filepath.Join(t.TempDir(), "run.jsonl"), `{"table":"StringIds","id":1,"value":"k"}`+"\n"+lines+
			`{"table":"CUPTI_ACTIVITY_KIND_KERNEL","start":10,"end":20,"deviceId":0,"streamId":7,"correlationId":1,"globalPid":1,"demangledName":1,"shortName":1}`+"\n", 0o666)
		s := newSearch(t, []planted{{name, v}, {name, "hunter2hunter2"}})
		status, out := s.run("doctor", path)
		if status != exitOK || strings.Contains(strings.Join(strings.Fields(out), " "), "Nothing in it looks like a secret") != (name == "none") {
			t.Errorf("%s: exit status %d\n%s", name, status, out)
		}
	}
}

// TestSecretsNotSearched: if a table of texts is damaged, doctor does not say that the
// export has no secret, and names the table.
func TestSecretsNotSearched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: 100, Calls: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := nsysgen.Change(path, "CREATE TABLE NOTES (text TEXT)", "INSERT INTO NOTES VALUES ('nothing secret')"); err != nil {
		t.Fatal(err)
	}
	s := newSearch(t, []planted{{"none", "aB3dE6gH9jK2mN5pQ8sT1vW4"}})
	if status, out := s.run("doctor", path, "--format", "json"); status != exitOK || strings.Contains(out, "secrets-not-searched") {
		t.Fatalf("exit status %d, %s", status, out)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.LastIndex(file, []byte("nothing secret"))
	page := int(binary.BigEndian.Uint16(file[16:]))
	clear(file[at/page*page : at/page*page+page])
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"text", "json"} {
		status, out := s.run("doctor", path, "--format", format)
		said := strings.Join(strings.Fields(out), " ")
		if status != exitOK || !strings.Contains(said, "secrets-not-searched") || !strings.Contains(said, "NOTES (damaged)") || strings.Contains(said, "Nothing in it looks like a secret") {
			t.Errorf("%s: exit status %d, %s", format, status, out)
		}
	}
}
