"""Stands between the agents and the controller and writes down every batch that an agent sends, before
the controller gets it: a witness that is none of the product's code. It changes and holds back nothing.

    tap.py LISTEN:PORT CONTROLLER:PORT FILE

In FILE: for each batch 4 bytes of length, big endian, and the Batch. ZMTP 3 without encryption only."""

import asyncio
import os
import socket
import struct
import sys

import batches

GREETING = 64
CHUNK = 1 << 16
MORE, LONG, COMMAND = 1, 2, 4
# What a dead network leaves behind is noticed after this long, as the controller itself would.
SILENCE_MS = 8000


class Frames:
    """Finds the messages in what one side of a connection sends."""

    def __init__(self):
        self._data = bytearray()
        self._greeted = False

    def add(self, data):
        self._data += data
        if not self._greeted:
            if len(self._data) < GREETING:
                return
            del self._data[:GREETING]
            self._greeted = True
        while len(self._data) >= 2:
            flags = self._data[0]
            head = 9 if flags & LONG else 2
            if len(self._data) < head:
                return
            length = struct.unpack_from("!Q", self._data, 1)[0] if flags & LONG else self._data[1]
            if len(self._data) < head + length:
                return
            body = bytes(self._data[head:head + length])
            del self._data[:head + length]
            if not flags & COMMAND:
                yield body


class Tap:
    def __init__(self, controller, descriptor):
        self._controller = controller
        self._descriptor = descriptor

    def _write_down(self, message):
        batch = batches.batch_in(message)
        if batch is not None:
            os.write(self._descriptor, struct.pack("!I", len(batch)) + batch)

    async def _pass_on(self, reader, writer, frames):
        try:
            while data := await reader.read(CHUNK):
                for message in frames.add(data) if frames else ():
                    self._write_down(message)
                writer.write(data)
                await writer.drain()
        except OSError:
            pass
        finally:
            writer.transport.abort()

    async def serve(self, reader, writer):
        self._notice_silence(writer)
        try:
            there, back = await asyncio.open_connection(*self._controller)
        except OSError:
            writer.transport.abort()
            return
        await asyncio.gather(self._pass_on(reader, back, Frames()), self._pass_on(there, writer, None))

    @staticmethod
    def _notice_silence(writer):
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, SILENCE_MS)


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host, int(port)


async def main(listen, controller, path):
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    server = await asyncio.start_server(Tap(endpoint(controller), descriptor).serve, *endpoint(listen))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4]))
