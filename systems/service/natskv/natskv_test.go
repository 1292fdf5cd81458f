package natskv

import (
	"testing"
	"time"

	"github.com/conclave-bench/conclave/systems/service"
	"github.com/conclave-bench/conclave/systems/service/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m, System{}) }

func TestSystem(t *testing.T) {
	for name, size := range map[string]int{"R1": 1, "R3": 3} {
		t.Run(name, func(t *testing.T) {
			servicetest.Test(t, servicetest.Case{System: System{}, Size: size, Port: clientPort,
				Options: service.Options{Session: 3 * time.Second}, Start: time.Minute,
				Failover: time.Minute})
		})
	}
}
