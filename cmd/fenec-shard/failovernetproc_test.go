//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inNamespace says that the test is in a network of its own.
const inNamespace = "FENEC_TEST_NETWORK"

// TestFailoverAcrossNetworks has each node in a network of its own, joined by a bridge, and
// pulls its cable: what is lost is the kernel's to send again, connections stay as they are
// until somebody gives up, and nobody is told.
func TestFailoverAcrossNetworks(t *testing.T) {
	if testing.Short() || os.Getenv("FENEC_LONG") == "" {
		t.Skip("it needs FENEC_LONG")
	}
	if os.Getenv(inNamespace) == "" {
		runInNamespace(t)
		return
	}
	unset(t)
	for _, args := range []string{"link set lo up", "link add br0 type bridge", "addr add 10.77.0.254/24 dev br0", "link set br0 up"} {
		require.NoError(t, ip(args))
	}
	c := newProcCluster(t, networked, nil)
	c.create(6)
	l := c.load()
	r := rand.New(rand.NewPCG(seedOfFaults(), 2))
	pulled := fault{"cut off", true, func(c *procCluster, n *procNode) {
		require.NoError(t, ip("link set "+n.name+" down"))
		c.awaitFailover(n)
		require.NoError(t, ip("link set "+n.name+" up"))
	}}
	for round := range 12 {
		c.suffer(l, round, pulled, r)
	}
	l.end()
	l.judge()
}

// runInNamespace runs the test in a process of its own, in a new network, which ends with it.
func runInNamespace(t *testing.T) {
	if out, err := exec.Command("unshare", "-n", "ip", "link", "add", "br0", "type", "bridge").CombinedOutput(); err != nil {
		t.Skipf("networks cannot be made here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", "-n", os.Args[0], "-test.run", "^TestFailoverAcrossNetworks$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	require.NoError(t, err)
}

// ip changes the network.
func ip(args string) error {
	out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", args, err, out)
	}
	return nil
}

// networked has a node start in a network of its own, with one cable to all others and one
// to the test alone.
func networked(c *procCluster, n *procNode) {
	i := len(c.nodes)
	n.listen = "0.0.0.0:8080"
	n.addr = fmt.Sprintf("10.77.0.%d:8080", i)
	n.direct = fmt.Sprintf("10.78.%d.1:8080", i)
	keeper := exec.Command("unshare", "-n", "sleep", "3600")
	require.NoError(c.t, keeper.Start())
	c.t.Cleanup(func() { _ = keeper.Process.Kill(); _ = keeper.Wait() })
	network := fmt.Sprint(keeper.Process.Pid)
	c.eventually(func() bool { return ownNetwork(network) }, "a network of its own")
	for _, args := range []string{
		fmt.Sprintf("link add %s type veth peer name eth0 netns %s", n.name, network),
		fmt.Sprintf("link add %s-test type veth peer name eth1 netns %s", n.name, network),
		fmt.Sprintf("link set %s master br0", n.name),
		fmt.Sprintf("link set %s up", n.name),
		fmt.Sprintf("addr add 10.78.%d.254/24 dev %s-test", i, n.name),
		fmt.Sprintf("link set %s-test up", n.name),
	} {
		require.NoError(c.t, ip(args))
	}
	n.before = []string{"nsenter", "-t", network, "-n"}
	for _, args := range []string{
		"link set lo up",
		fmt.Sprintf("addr add 10.77.0.%d/24 dev eth0", i), "link set eth0 up",
		fmt.Sprintf("addr add 10.78.%d.1/24 dev eth1", i), "link set eth1 up",
	} {
		out, err := exec.Command(n.before[0], append(n.before[1:], append([]string{"ip"}, strings.Fields(args)...)...)...).CombinedOutput()
		require.NoError(c.t, err, "%s: %s", args, out)
	}
}

// ownNetwork reports whether a process has left the test's network.
func ownNetwork(pid string) bool {
	its, err := os.Readlink("/proc/" + pid + "/ns/net")
	ours, err2 := os.Readlink("/proc/self/ns/net")
	return err == nil && err2 == nil && its != ours
}
