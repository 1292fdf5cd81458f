// The program that writes the tables of a run as Parquet and as a database of SQLite. It is a
// module of its own, so that whoever uses Conclave as a library does not depend on them.
module github.com/conclave-bench/conclave/cmd/conclave-store

go 1.26.0

require (
	github.com/parquet-go/parquet-go v0.32.0
	modernc.org/sqlite v1.62.0
)
