package fault

// Words are the values of a key of events, each declared once, in the order of the
// documentation.
type Words[T interface{ word() string }] []T

// Named is the one of that name; nil if there is none.
func (w Words[T]) Named(name string) *T {
	if name == "" {
		return nil
	}
	for i := range w {
		if w[i].word() == name {
			return &w[i]
		}
	}
	return nil
}

// Names are those of all.
func (w Words[T]) Names() (names []string) {
	for _, one := range w {
		names = append(names, one.word())
	}
	return names
}
