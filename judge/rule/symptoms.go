package rule

// SymptomOf returns what a user sees if a rule has a finding, and the cause that it mostly
// has; both are "" for rules that are no symptom of their own.
func SymptomOf(id string) (symptom, likely string) {
	e := builtIn().rule(id)
	return e.Symptom, e.Likely
}
