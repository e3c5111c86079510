package vec

// The kernels and the plain loops behind them, for tests and benchmarks.
var (
	ScanF32  = scanF32
	ScanI8   = scanI8
	DotExact = dotExact
	Slack    = slack
)

// Fast reports whether the kernels are in use.
func Fast() bool { return accelerated() }

// EncodeBlock returns the bytes of a block.
func EncodeBlock(b *Batch) []byte { return b.encode() }
