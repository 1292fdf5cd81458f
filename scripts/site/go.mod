// The site of the documentation. It is a module of its own, so that nobody who imports
// Conclave depends on what reads Markdown.
module github.com/conclave-bench/conclave/scripts/site

go 1.26.0

require github.com/yuin/goldmark v1.8.7
