package etcd

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, &System{}) }

func TestSystem(t *testing.T) {
	servicetest.Test(t, servicetest.Case{System: &System{}, Size: 3, Port: ClientPort,
		Options: service.Options{Session: 2 * time.Second}, Start: time.Minute, Failover: 30 * time.Second})
}
