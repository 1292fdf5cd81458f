package experiment

import _ "embed"

//go:embed template.yaml
var template string

// Template is a commented experiment to begin with. It loads as it is.
func Template() string { return template }
