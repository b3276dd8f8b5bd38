package rule

// SymptomOf returns what a user sees if a rule has a finding, and its most frequent cause. Both are
// "" for rules that have no symptom of their own.
func SymptomOf(id string) (symptom, likely string) {
	e := builtIn().rule(id)
	return e.Symptom, e.Likely
}
