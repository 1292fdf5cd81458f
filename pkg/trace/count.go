package trace

// A MessageCount is the messages of one kind in a trial, and the bytes of those sent.
type MessageCount struct {
	Name      string `json:"kind"`
	Sent      int64  `json:"sent"`
	Delivered int64  `json:"delivered"`
	Lost      int64  `json:"lost"`
	Bytes     int64  `json:"bytes"`
}
