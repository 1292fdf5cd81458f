package trace

// A MessageCount is the messages of one kind in a trial, and the bytes of those sent.
type MessageCount struct {
	Name                         string
	Sent, Delivered, Lost, Bytes int64
}
