package metric

// A ServiceColumn is a column of a design that only runs with a system that people run have. It is empty for
// algorithms. Without one of them a reader could not tell what was measured, so a system must have them all.
type ServiceColumn struct{ Name, Doc string }

// The columns of systems.
var (
	ServiceName    = ServiceColumn{"service", "the system whose servers ran; empty: an algorithm"}
	ServiceVersion = ServiceColumn{"service_version", "the version of its servers, as they report it"}
	ServiceServers = ServiceColumn{"service_servers", "how many servers it had"}
	ServiceCopies  = ServiceColumn{"service_replicas", "on how many of them a lock was kept"}
	ServiceFsync   = ServiceColumn{"service_fsync", "`yes`: an answer meant that the write was on the disk"}
	ServiceSession = ServiceColumn{"service_session_ms",
		"after which time without a sign of life a client's lock was free; 0: at the end of its connection"}
	ServicePoll = ServiceColumn{"service_poll_ms",
		"how often a waiting client asked again; 0: the system notified it"}
	ServiceClient  = ServiceColumn{"service_client", "the library of the clients, with its version"}
	ServiceNetwork = ServiceColumn{"service_network", "`wire`: the network of `network.wire`"}
)

// ServiceColumns are all of them, in the order of the tables.
var ServiceColumns = []ServiceColumn{ServiceName, ServiceVersion, ServiceServers, ServiceCopies, ServiceFsync,
	ServiceSession, ServicePoll, ServiceClient, ServiceNetwork}
