package main

// commands are all that ctl can do, in the order of the help.
var commands = []command{
	{name: "nodes", help: "list the nodes", declare: bare(listNodes)},
	{
		name: "node add", operands: "<node>", help: "record a node, or its new address and token",
		flags: "--addr <host:port>  where it listens\n" +
			"--node-token <t>    its admin token; also FENEC_NODE_TOKEN\n" + attrFlags,
		declare: declareNodeAdd,
	},
	{name: "node set", operands: "<node>", help: "set attributes of a node", flags: attrFlags, declare: declareNodeSet},
	{name: "node remove", operands: "<node>", help: "forget a node that holds no tenant", declare: bare(removeNode)},
	{name: "tenants", help: "list the tenants and where they are", flags: "--bytes  and what their files take up", declare: declareTenants},
	{
		name: "create", operands: "<tenant>", help: "make a tenant",
		flags:   "--node <node>    there, and not where the most room is\n--quota <json>   with limits\n--schema <file>  with the collections of the file: as GET /_schema gives them, or create statements",
		declare: declareCreate,
	},
	{name: "delete", operands: "<tenant>", help: "delete a tenant; its node keeps it in the trash for a while", declare: bare(deleteTenant)},
	{name: "move", operands: "<tenant> <node>", help: "move a tenant, and wait until it is there", declare: bare(moveTenant)},
	{name: "plan", help: "show which moves would even out the nodes", declare: bare(showPlan)},
	{
		name: "rebalance", help: "show the same, or make these moves",
		flags: "--run      make them\n--no-wait  and do not wait for their end", declare: declareRebalance,
	},
	{name: "drain", operands: "<node>", help: "move all tenants off a node and place no more there", flags: "--no-wait  do not wait for the end", declare: declareDrain},
	{name: "drain status", operands: "<node>", help: "tell how far that has come", declare: bare(drainStatus)},
	{name: "undrain", operands: "<node>", help: "let a node have tenants again", declare: bare(undrain)},
	{name: "quota get", operands: "<tenant>", help: "show a tenant's limits", declare: bare(getQuota)},
	{
		name: "quota set", operands: "<tenant> [json]", help: "set a tenant's limits",
		flags: quotaFlags, declare: declareQuotaSet,
	},
	{name: "quota clear", operands: "<tenant>", help: "end a tenant's limits", declare: bare(clearQuota)},
	{name: "usage", operands: "<tenant>", help: "show what a tenant holds, beside its limits", declare: bare(showUsage)},
	{
		name: "status set", operands: "<tenant> <status>", help: "set it active, provisioning or degraded",
		flags: "--why <text>  for whoever looks later", declare: declareStatusSet,
	},
}
