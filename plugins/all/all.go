// Package all links every algorithm of Conclave into a binary.
package all

import (
	_ "github.com/conclave-bench/conclave/plugins/election/bully"
	_ "github.com/conclave-bench/conclave/plugins/election/bullymodified"
	_ "github.com/conclave-bench/conclave/plugins/election/bullynextinline"
	_ "github.com/conclave-bench/conclave/plugins/election/bullyok"
	_ "github.com/conclave-bench/conclave/plugins/election/bullyquorum"
	_ "github.com/conclave-bench/conclave/plugins/election/invitation"
	_ "github.com/conclave-bench/conclave/plugins/election/multipaxos"
	_ "github.com/conclave-bench/conclave/plugins/election/raft"
	_ "github.com/conclave-bench/conclave/plugins/election/ringlist"
	_ "github.com/conclave-bench/conclave/plugins/election/ringmax"
	_ "github.com/conclave-bench/conclave/plugins/election/stableleader"
	_ "github.com/conclave-bench/conclave/plugins/election/tree"
	_ "github.com/conclave-bench/conclave/plugins/election/zabfle"
	_ "github.com/conclave-bench/conclave/plugins/mutex/central"
	_ "github.com/conclave-bench/conclave/plugins/mutex/lamport"
	_ "github.com/conclave-bench/conclave/plugins/mutex/maekawa"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehel"
	_ "github.com/conclave-bench/conclave/plugins/mutex/naimitrehelft"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raymond"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raynalmodified"
	_ "github.com/conclave-bench/conclave/plugins/mutex/raynaloriginal"
	_ "github.com/conclave-bench/conclave/plugins/mutex/ricartagrawala"
	_ "github.com/conclave-bench/conclave/plugins/mutex/suzukikasami"
	_ "github.com/conclave-bench/conclave/plugins/mutex/tokenring"
)
