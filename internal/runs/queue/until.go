package queue

import "time"

// Until says when a worker ends by itself. Its zero value is never.
type Until struct {
	Idle time.Duration // after so long without work; 0: never for that reason
	Done bool          // when there were runs, and all of them are over
}
