package patroni

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &System{}) }

func TestSystem(t *testing.T) {
	servicetest.Test(t, servicetest.Case{System: &System{}, Size: 3, Port: webPort,
		Options: service.Options{Heartbeat: time.Second, ElectionTimeout: 6 * time.Second,
			Session: 3 * time.Second},
		Start: 3 * time.Minute, Failover: 2 * time.Minute})
}
