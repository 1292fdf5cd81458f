// Package config reads configurations: YAML, TOML or JSON, then the environment,
// then assignments from the command line, each layer over those before it.
//
// A Schema declares the keys. A Type says how the values of one Go type are
// read, written and described, and Type.To says where a value goes. Everything
// that is wrong is found at once and said with its place, its key and a remedy.
//
// The package knows no key of its own.
package config

// The bounds of what is read. A file of nested aliases grows when it is
// unfolded: values are counted after that.
const (
	MaxSize   = 1 << 20 // bytes of a file, or of a value of the command line
	MaxKeys   = 1000    // of one block
	maxDepth  = 64
	maxValues = 400_000
)
