"""Probe packets as docs/probe-packets.md describes them: big endian, 24 bytes of header."""

import struct

HEADER = struct.Struct("!HBBBBHIIQ")
MAGIC = 0x504C
PING, PONG, ACK = 1, 2, 3


def ping(identity=1, nonce=2, length=64, magic=MAGIC, version=1, kind=PING, said_length=None):
    header = HEADER.pack(magic, version, kind, 0, 2, said_length or length, identity, 1, nonce)
    return header + bytes(length - len(header))


def kind_of(packet):
    """PING, PONG, ACK, or None for anything else."""
    if len(packet) < HEADER.size:
        return None
    magic, version, kind = HEADER.unpack_from(packet)[:3]
    return kind if magic == MAGIC and version == 1 else None
