package base_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fenec-go/fenecdb/fenec/internal/base"
)

// What a test asks of another process, by environment variable.
const (
	childTask = "FENEC_BASE_CHILD" // the name of the task
	childPath = "FENEC_BASE_PATH"  // the file it is about
)

// tasks are what the test binary does instead of testing when it runs as a
// child. What they return is the exit code.
var tasks = map[string]func(path string) int{
	"open":   openAsChild,
	"damage": damageAsChild,
	"stall":  stallAsChild,
}

func TestMain(m *testing.M) {
	if task := tasks[os.Getenv(childTask)]; task != nil {
		os.Exit(task(os.Getenv(childPath)))
	}
	os.Exit(m.Run())
}

// child returns the command that runs a task in another process.
func child(t *testing.T, task, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(exe, "-test.run=^$")
	cmd.Env = append(os.Environ(), childTask+"="+task, childPath+"="+path)
	return cmd
}

// openAsChild tells whether the file can be opened.
func openAsChild(path string) int {
	f, err := base.Open(path)
	switch {
	case err == nil:
		fmt.Print("opened")
		_ = f.Close()
	case errors.Is(err, base.ErrInUse):
		fmt.Print("in use")
	default:
		fmt.Print(err)
	}
	return 0
}
