"""Makes a TCP port outside of a network namespace lead into it.

forward.py listen ADDR:PORT COMMAND...   opens the port, then runs COMMAND, which inherits its socket
                                         as the descriptor FORWARD_FD, and its address as FORWARD_URL
forward.py serve ADDR:PORT               passes each connection of FORWARD_FD on to ADDR:PORT, from
                                         the namespace that it runs in
"""
import asyncio
import os
import socket
import sys


def split(text):
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port)


def listen(where, command):
    address, port = split(where)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
    except OSError as error:
        sys.exit(f"cannot listen on {where}: {error.strerror}")
    listener.listen(64)
    os.set_inheritable(listener.fileno(), True)
    shown = f"[{address}]" if ":" in address else address
    os.environ["FORWARD_FD"] = str(listener.fileno())
    os.environ["FORWARD_URL"] = f"http://{shown}:{listener.getsockname()[1]}"
    os.execvp(command[0], command)


async def copy(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def serve(where):
    address, port = split(where)

    async def connected(reader, writer):
        try:
            to_reader, to_writer = await asyncio.open_connection(address, port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(copy(reader, to_writer), copy(to_reader, writer))

    listener = socket.socket(fileno=int(os.environ["FORWARD_FD"]))
    listener.setblocking(False)
    server = await asyncio.start_server(connected, sock=listener)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "listen":
        listen(sys.argv[2], sys.argv[3:])
    asyncio.run(serve(sys.argv[2]))
