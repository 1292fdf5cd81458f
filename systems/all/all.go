// Package all links every library.
package all

import (
	"github.com/conclave-bench/conclave/systems/service/etcd"
	"github.com/conclave-bench/conclave/systems/service/live"
	"github.com/conclave-bench/conclave/systems/service/natskv"
	"github.com/conclave-bench/conclave/systems/service/patroni"
	"github.com/conclave-bench/conclave/systems/service/postgresql"
	"github.com/conclave-bench/conclave/systems/service/redis"
	"github.com/conclave-bench/conclave/systems/service/zookeeper"

	_ "github.com/conclave-bench/conclave/systems/clientgo"
	_ "github.com/conclave-bench/conclave/systems/etcdnode"
	_ "github.com/conclave-bench/conclave/systems/etcdraft"
	_ "github.com/conclave-bench/conclave/systems/hashicorpraft"
	_ "github.com/conclave-bench/conclave/systems/memberlist"
	_ "github.com/conclave-bench/conclave/systems/natsraft"
)

func init() {
	live.Lock(&etcd.System{})
	live.Election(&etcd.System{})
	live.Lock(natskv.System{})
	live.Election(natskv.System{})
	live.Lock(&patroni.System{})
	live.Election(&patroni.System{})
	live.Lock(postgresql.System{})
	live.Lock(&redis.System{})
	live.Lock(&redis.System{Redlock: true})
	live.Lock(zookeeper.System{})
	live.Election(zookeeper.System{})
}
