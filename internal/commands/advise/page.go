package advise

func (f *Finding) page() ([]byte, error) { return nil, nil }
