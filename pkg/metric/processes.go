package metric

var processes family

// What a trial costs single processes.
var (
	Saves = processes.declare(Metric{
		Name: "saves", Unit: Times, Kind: Count, Traffic: true,
		Doc: "writes to stable storage, of all processes",
	})
	BusiestShare = processes.declare(Metric{
		Name: "busiest_share", Unit: Fraction, Kind: Share, Traffic: true,
		Doc: "share of all messages sent or handled that the busiest process sent or handled",
	})
)
