"""The hosts of the tests of metric pages: agents on soft devices of one subnet, each with an address for its pages."""

import pathlib

from processes import binary

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pages_address(subnet, number):
    return f"{subnet}.{100 + number}"


def pages_socket(directory, number):
    return directory / f"pages-{number}.sock"


def python_pages(socket):
    """The environment of an application in Python whose pages are those of the agent at this socket."""
    return {"PINGLOOM_PAGES_SOCKET": str(socket), "PYTHONPATH": str(ROOT / "python"),
            "PINGLOOM_PAGES_LIBRARY": str(pathlib.Path(binary("pingloom")).parents[1] / "lib/libpingloom-pages.so")}


def write_agent_config(directory, subnet, number, system=False):
    """Its path. There is no controller. `system`: whether it shows the host's own metrics."""
    path = directory / f"agent-{number}.yaml"
    path.write_text(f"""controller: {subnet}.254:9
host: host-{number}
addresses: [{subnet}.{number}]
state_dir: {directory}/agent-{number}
http: none
rdma: {{ device: soft }}
pages: {{ address: {pages_address(subnet, number)}, device: soft, socket: {pages_socket(directory, number)},
          system: {str(system).lower()} }}
""")
    return path
