"""A Redis client just large enough for the tests: commands out, replies in, over a unix socket or TCP."""

import socket


class RespError(Exception):
    pass


class Resp:
    def __init__(self, place, timeout=5.0):
        """`place`: the socket's path, or (host, port)."""
        tcp = isinstance(place, tuple)
        self._socket = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(place if tcp else str(place))
        except OSError:
            self._socket.close()
            raise
        self._stream = self._socket.makefile("rb")

    def close(self):
        self._stream.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __call__(self, *words):
        parts = [str(word).encode() for word in words]
        message = b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts)
        self._socket.sendall(message)
        return self._reply()

    def _reply(self):
        line = self._stream.readline()
        if not line.endswith(b"\r\n"):
            raise RespError("connection closed by Redis")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise RespError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            length = int(rest)
            if length < 0:
                return None
            return self._stream.read(length + 2)[:-2].decode()
        if kind == b"*":
            return [self._reply() for _ in range(max(int(rest), 0))]
        raise RespError(f"unknown reply {line!r}")

    def hash(self, key):
        flat = self("HGETALL", key)
        return dict(zip(flat[0::2], flat[1::2]))
