"""The command scripts/fabric.sh."""
import argparse
import os
import sys

import faults
import network
from layout import FabricError, Layout

DESCRIPTION = """Builds a leaf-spine fabric of network namespaces on this machine, to try pingloom on.

Nodes are leaf0, leaf1, ..., spine0, ..., host0, ...; a link of node A to node B is A's interface B.
Every leaf has a link to every spine, leaves spread flows over them by addresses and ports, and each
host has one link to its leaf. A management network beside the fabric connects all hosts with
10.99.0.1 in the namespace `management`, where a controller can run."""

FAULTS = """faults:
  link=spine1-leaf0,10%       packets from spine1 to leaf0 are lost; 100% is a dead link
  link=spine1-leaf0,300us     UDP packets from spine1 to leaf0 are delayed; the same for the following
  cable=leaf0-spine1,10%      both directions
  switch=spine1,5%            everything that passes spine1
  host=host3,5%               host3's link, both directions
  blackhole=leaf1-spine3,14%  every packet of 14 % of the flows from leaf1 to spine3"""


def parse_options():
    parser = argparse.ArgumentParser(prog="scripts/fabric.sh", description=DESCRIPTION, epilog=FAULTS,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    up = actions.add_parser("up", help="build it: up LEAVESxSPINESxHOSTS, hosts in all")
    up.add_argument("layout")
    up.add_argument("--ipv6", action="store_true", help="addresses of the fabric are IPv6")
    up.add_argument("--icmp-limits", action="store_true",
                    help="keep Linux' limits of ICMP messages (one a second for each prober)")
    up.add_argument("--outbound", action="store_true",
                    help="routers answer from the address of their route to the prober, as Linux does"
                         " by default")
    up.add_argument("--fault", action="append", default=[])
    actions.add_parser("down", help="remove it")
    run = actions.add_parser("exec", help="run a command in a node: exec NODE COMMAND...")
    run.add_argument("node")
    run.add_argument("command", nargs=argparse.REMAINDER)
    fault = actions.add_parser("fault", help="fault add FAULT, or fault clear")
    fault.add_argument("what", choices=["add", "clear"])
    fault.add_argument("fault", nargs="?")
    actions.add_parser("status", help="nodes, and faults with the packets that they dropped")
    actions.add_parser("topology", help="print the topology file for a pinglist")
    actions.add_parser("hosts", help="print the section `hosts` of a pinglist")
    return parser.parse_args()


def run_inside(node, command):
    if node not in network.names():
        raise FabricError(f"there is no node '{node}'; scripts/fabric.sh status lists them")
    if not command:
        raise FabricError("exec needs a command: scripts/fabric.sh exec host0 ping 10.1.1.1")
    os.execvp("ip", network.inside(node, command))


def status(layout):
    print(f"{layout.leaves} leaves, {layout.spines} spines, {layout.hosts} hosts")
    for host, address in layout.host_addresses().items():
        print(f"  {host} {address}")
    lines = faults.describe(layout)
    print("faults:" if lines else "no faults")
    for line in lines:
        print(f"  {line}")


def main():
    options = parse_options()
    if options.action == "up":
        layout = Layout.parse(options.layout, options.ipv6)
        wanted = [faults.Fault.parse(text, layout) for text in options.fault]
        network.up(layout, options.icmp_limits, not options.outbound)
        for fault in wanted:
            faults.add(fault, layout)
        return
    if options.action == "down":
        network.check_permission()
        faults.stop_delays()
        network.down()
        return
    layout = network.load()
    if options.action == "exec":
        run_inside(options.node, options.command)
    elif options.action == "fault" and options.what == "clear":
        faults.clear(layout)
    elif options.action == "fault":
        faults.add(faults.Fault.parse(options.fault or "", layout), layout)
    elif options.action == "status":
        status(layout)
    else:
        print(layout.topology() if options.action == "topology" else layout.pinglist_hosts(), end="")


if __name__ == "__main__":
    try:
        main()
    except FabricError as error:
        sys.exit(f"fabric.sh: {error}")
