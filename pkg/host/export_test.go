package host

// Key is the secret of a process on the machine's own bus, which the tests of thefts
// steal.
func (m *Machine) Key(process int) []byte { return m.identities[process-1].Secret() }
