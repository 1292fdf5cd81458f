package check

// Broken is the first promise that the records so far have broken, in words; empty
// if they have broken none. What is missing at the end only Finish can tell.
func (j *Judge) Broken() string {
	if len(j.violations) == 0 {
		return ""
	}
	return j.violations[0]
}
