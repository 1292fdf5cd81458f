// Libraries of others that Conclave runs as they are. They are a module of their own, so that whoever
// uses Conclave depends on none of them.
module github.com/conclave-bench/conclave/systems

go 1.26.0

require (
	github.com/hashicorp/go-hclog v1.6.3
	github.com/hashicorp/go-msgpack/v2 v2.1.5
	github.com/hashicorp/memberlist v0.7.0
	github.com/hashicorp/raft v1.8.0
	go.etcd.io/raft/v3 v3.7.0
	google.golang.org/protobuf v1.36.11
	k8s.io/apimachinery v0.34.2
	k8s.io/client-go v0.34.2
	k8s.io/klog/v2 v2.130.1
)

require github.com/go-logr/logr v1.4.2 // indirect
