package router

import "sync"

// inParallel calls do for each item, for n of them at once, and returns when all are done.
func inParallel[T any](n int, list []T, do func(T)) {
	next := make(chan T)
	var running sync.WaitGroup
	for range min(n, len(list)) {
		running.Go(func() {
			for item := range next {
				do(item)
			}
		})
	}
	for _, item := range list {
		next <- item
	}
	close(next)
	running.Wait()
}
