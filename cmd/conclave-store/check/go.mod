// The tests of conclave-store: the real DuckDB and the real SQLite read what it wrote. They are a
// module of their own, so that the program does not depend on DuckDB, which wants a C compiler.
module github.com/conclave-bench/conclave/cmd/conclave-store/check

go 1.26.0

require github.com/duckdb/duckdb-go/v2 v2.20000.0
