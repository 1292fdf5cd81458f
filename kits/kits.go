// Package kits holds the kits for algorithms in other languages, so that "bench new" can write them.
package kits

import "embed"

// Files are the modules that a program copies, in a folder for each language.
//
//go:embed python/conclave*.py javascript/conclave*.mjs
var Files embed.FS
