package tenant_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMain makes sure that no test leaves a goroutine or an open file behind.
func TestMain(m *testing.M) {
	goroutines, files := runtime.NumGoroutine(), descriptors()
	code := m.Run()
	for began := time.Now(); runtime.NumGoroutine() > goroutines || descriptors() > files; runtime.Gosched() {
		if time.Since(began) > 5*time.Second {
			stacks := make([]byte, 1<<16)
			fmt.Printf("%d files open, %d before; goroutines: %s\n", descriptors(), files, stacks[:runtime.Stack(stacks, true)])
			code = max(code, 1)
			break
		}
	}
	os.Exit(code)
}

// descriptors returns how many files of the file system the process has open, where the
// system tells.
func descriptors() (n int) {
	list, _ := os.ReadDir("/proc/self/fd")
	for _, entry := range list {
		to, _ := os.Readlink("/proc/self/fd/" + entry.Name())
		if strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/dev/") && !strings.HasPrefix(to, "/proc/") {
			n++
		}
	}
	return n
}
