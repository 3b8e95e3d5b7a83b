package main

// commands are all that ctl can do, in the order of the help.
var commands = []command{
	{name: "status", help: "show the nodes, their leases and standbys, and what lacks a copy", declare: bare(showStatus)},
	{name: "nodes", help: "list the nodes", declare: bare(listNodes)},
	{
		name: "node add", operands: "<node>", help: "record a node, or its new address and token",
		flags: "--addr <host:port>  where it listens\n" +
			"--node-token <t>    its admin token; also FENEC_NODE_TOKEN\n" +
			"--standby <node>    that has a copy of each tenant there, and takes over in a failover\n" + attrFlags,
		declare: declareNodeAdd,
	},
	{
		name: "node set", operands: "<node>", help: "set attributes of a node, or its standby",
		flags: attrFlags + "\n" + standbyFlags, declare: declareNodeSet,
	},
	{name: "node remove", operands: "<node>", help: "forget a node that holds no tenant", declare: bare(removeNode)},
	{name: "tenants", help: "list the tenants and where they are", flags: "--bytes  and what their files take up", declare: declareTenants},
	{
		name: "create", operands: "<tenant>", help: "make a tenant",
		flags:   "--node <node>    there, and not where the most room is\n--quota <json>   with limits\n--schema <file>  with the collections of the file: as GET /_schema gives them, or create statements",
		declare: declareCreate,
	},
	{name: "delete", operands: "<tenant>", help: "delete a tenant; its node keeps it in the trash for a while", declare: bare(deleteTenant)},
	{
		name: "undelete", operands: "<tenant> [node]", help: "bring a deleted tenant back out of the trash of its node, or of that one",
		declare: bare(undeleteTenant),
	},
	{name: "move", operands: "<tenant> <node>", help: "move a tenant, and wait until it is there", declare: bare(moveTenant)},
	{name: "plan", help: "show which moves would even out the nodes", declare: bare(showPlan)},
	{
		name: "rebalance", help: "show the same, or make these moves",
		flags: "--run      make them\n--no-wait  and do not wait for their end", declare: declareRebalance,
	},
	{name: "drain", operands: "<node>", help: "move all tenants off a node and place no more there", flags: "--no-wait  do not wait for the end", declare: declareDrain},
	{name: "drain status", operands: "<node>", help: "tell how far that has come", declare: bare(drainStatus)},
	{name: "undrain", operands: "<node>", help: "let a node have tenants again", declare: bare(undrain)},
	{name: "replicas", help: "list where the tenants' replicas are", declare: bare(listReplicas)},
	{name: "replicas repair", help: "give a replica to each tenant that has none, and no standby", declare: bare(repairReplicas)},
	{
		name: "failover", operands: "<node>", help: "have the copies of a lost node's tenants take over",
		flags: "--force  though it may still write under its lease: you know that it does not", declare: declareFailover,
	},
	{
		name: "replication", help: "show how the router's directory follows another one's, and who follows it",
		flags: replicationFlag, declare: withReplicationKey(showReplication),
	},
	{
		name: "promote", help: "have a router that follows take changes; the one that it followed must have stopped",
		flags: replicationFlag + "\n--force                  though it has never had the whole directory", declare: declarePromote,
	},
	{name: "quota get", operands: "<tenant>", help: "show a tenant's limits", declare: bare(getQuota)},
	{
		name: "quota set", operands: "<tenant> [json]", help: "set a tenant's limits",
		flags: quotaFlags, declare: declareQuotaSet,
	},
	{name: "quota unsent", help: "list the limits that nodes may not have yet", declare: bare(listUnsent)},
	{name: "quota clear", operands: "<tenant>", help: "end a tenant's limits", declare: bare(clearQuota)},
	{name: "usage", operands: "<tenant>", help: "show what a tenant holds, beside its limits", declare: bare(showUsage)},
	{
		name: "status set", operands: "<tenant> <status>", help: "set it active, provisioning or degraded",
		flags: "--why <text>  for whoever looks later", declare: declareStatusSet,
	},
	{name: "thaw", operands: "<tenant>", help: "let a tenant that was left frozen take writes again", declare: bare(thawTenant)},
	{name: "strays", help: "list the copies that are to be cleared away", declare: bare(listStrays)},
	{name: "unplaced", help: "list the tenants' files that the router knows nothing of", declare: bare(listUnplaced)},
	{
		name: "adopt", operands: "<tenant> [node]", help: "have a tenant be where its file is: on the only node that has one, or on that one",
		flags:   "--force  though the router has it on another node, which is gone for good: what only that had is lost",
		declare: declareAdopt,
	},
}
