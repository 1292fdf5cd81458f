package zookeeper

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, System{}) }

func TestSystem(t *testing.T) {
	servicetest.Test(t, servicetest.Case{System: System{}, Size: 3, Port: clientPort,
		Options: service.Options{Heartbeat: 500 * time.Millisecond, Session: 2 * time.Second},
		Start:   2 * time.Minute, Failover: time.Minute})
}
