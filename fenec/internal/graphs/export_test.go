package graphs

// TakeTurns takes all turns of linkers in the background, until they are given back.
func TakeTurns() (giveBack func()) {
	for range cap(background) {
		background <- struct{}{}
	}
	return func() {
		for range cap(background) {
			background.done()
		}
	}
}
