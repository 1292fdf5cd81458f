package service

import "context"

// A Life is that of a client: what it waits for ends with it. It begins with NewLife.
type Life struct {
	ctx context.Context
	end context.CancelFunc
}

// NewLife begins a life.
func NewLife() Life {
	ctx, end := context.WithCancel(context.Background())
	return Life{ctx, end}
}

// End ends the life, and all contexts that are bound to it.
func (l Life) End() { l.end() }

// Bind is a context that ends with ctx or with the life. Free is to be called when it is no longer needed.
func (l Life) Bind(ctx context.Context) (bound context.Context, free func()) {
	bound, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return bound, func() {
		stop()
		cancel()
	}
}
