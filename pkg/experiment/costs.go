package experiment

import (
	"time"

	"github.com/conclave-bench/conclave/pkg/config"
	"github.com/conclave-bench/conclave/pkg/harness"
	"github.com/conclave-bench/conclave/pkg/link"
)

// costsType is what handling takes; nil: nothing.
func (f *folder) costsType() config.Type[*harness.Costs] {
	const like = "{processors: 2, wake: 40us, receive: 5us, send: 5us}"
	block := config.Block[harness.Costs]{Like: like, Fields: costFields, Valid: (*harness.Costs).Check}.Type()
	block = block.Based("file", f.read)
	block.Schema = func() config.Object {
		path := config.Field{Name: "file", Of: config.SomeText("the path of a file").Into(nil)}
		return config.BlockSchema(append(costFields(new(harness.Costs)), path))
	}
	block.Name = "{" + config.Names(costFields(new(harness.Costs))) + "}, or {file} with them"
	return config.Optional(block).Or("none", nil, func(c *harness.Costs) bool { return c == nil })
}

func costFields(c *harness.Costs) []config.Field {
	span := func(d *time.Duration) config.Slot { return config.Duration(0, longest).To(d) }
	lasts := func(l *link.Latency) config.Slot { return lastingType().To(l) }
	return []config.Field{
		{Name: "processors", Of: config.Whole[int](0, maxID).To(&c.Processors)},
		{Name: "wake", Of: lasts(&c.Wake)},
		{Name: "receive", Of: span(&c.Receive)},
		{Name: "send", Of: span(&c.Send)},
		{Name: "per_kb", Of: span(&c.Byte)},
		{Name: "timer", Of: span(&c.Timer)},
		{Name: "handling", Of: span(&c.Handling)},
		{Name: "relay", Of: span(&c.Relay)},
		{Name: "rest", Of: span(&c.Rest)},
		{Name: "transit", Of: span(&c.Transit)},
		{Name: "save", Of: lasts(&c.Save)},
	}
}

// CostsFile is c as a file that costs can name.
func CostsFile(comment string, c *harness.Costs) []byte {
	block := config.Block[harness.Costs]{Fields: costFields}.Type()
	return config.Encode(comment, config.Tall(block.Write(*c)))
}
