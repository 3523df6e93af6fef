"""A ZeroMQ DEALER just large enough to say wrong things to the control port (ZMTP 3.0, NULL)."""

import socket
import struct


class Dealer:
    def __init__(self, address, port, timeout=5.0):
        self.socket = socket.create_connection((address, port), timeout)
        greeting = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + b"\0" + bytes(31)
        self.socket.sendall(greeting)
        self._take(64)
        properties = self._property(b"Socket-Type", b"DEALER") + self._property(b"Identity", b"")
        ready = b"\x05READY" + properties
        self.socket.sendall(b"\x04" + bytes([len(ready)]) + ready)
        self.receive()  # its READY

    @staticmethod
    def _property(name, value):
        return bytes([len(name)]) + name + struct.pack("!I", len(value)) + value

    def _take(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise EOFError("the control port closed the connection")
            data += more
        return data

    def send(self, *frames):
        for i, frame in enumerate(frames):
            more = 1 if i + 1 < len(frames) else 0
            if len(frame) < 256:
                self.socket.sendall(bytes([more, len(frame)]) + frame)
            else:
                self.socket.sendall(bytes([more | 2]) + struct.pack("!Q", len(frame)) + frame)

    def send_command(self, name, body=b""):
        command = bytes([len(name)]) + name + body
        self.socket.sendall(b"\x04" + bytes([len(command)]) + command)

    def receive(self):
        """One frame's body."""
        flags = self._take(1)[0]
        length = struct.unpack("!Q", self._take(8))[0] if flags & 2 else self._take(1)[0]
        return self._take(length)

    def close(self):
        self.socket.close()

    def reset(self):
        """Ends the connection at once, as a process that dies does when it has not read everything."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()
