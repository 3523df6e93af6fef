"""Batches of results (src/wire/control.proto) as agents send them and keep them in their spool, read
without any of the product's code."""

import collections
import ipaddress
import pathlib
import struct

COUNTS = ("sent", "received", "lost", "refused", "unreachable")
SPOOL_HEADER = struct.Struct("<IIQQ")  # length, checksum, incarnation, sequence

# A window of one probe at one source, named without the batch it comes with.
Key = collections.namedtuple("Key", "probe source path incarnation index")
Batch = collections.namedtuple("Batch", "incarnation sequence windows")  # windows: {Key: {destination: counts}}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def fields(data):
    """(number, value) of a protobuf message; messages and strings as bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a field ends behind its message")
        else:
            raise ValueError(f"a field of wire type {kind}")
        yield tag >> 3, value


def parse_report(data, incarnation):
    head = {4: 0, 9: 0}
    rows = {}
    for number, value in fields(data):
        if number != 8:
            head[number] = value
            continue
        row = dict(fields(value))
        destination = str(ipaddress.ip_address(row[1]))
        rows[destination] = tuple(row.get(field, 0) for field in range(2, 7))
    return Key(head[1].decode(), str(ipaddress.ip_address(head[2])), head[9], incarnation, head[4]), rows


def parse_batch(data):
    incarnation = sequence = 0
    windows = {}
    for number, value in fields(data):
        if number == 1:
            incarnation = value
        elif number == 2:
            sequence = value
        elif number == 3:  # its identity comes first
            key, rows = parse_report(value, incarnation)
            windows.setdefault(key, {}).update(rows)
    return Batch(incarnation, sequence, windows)


def batch_in(message):
    """The Batch of an AgentMessage; None where it is another message."""
    for number, value in fields(message):
        return value if number == 3 else None
    return None


def spooled(directory):
    """The batches in an agent's spool, as it lies on disk; a record that is cut short ends its file.
    Only of an agent that does not run."""
    for path in sorted(pathlib.Path(directory).glob("*.spool")):
        data = path.read_bytes()
        at = 0
        while at + SPOOL_HEADER.size <= len(data):
            length, _, _, _ = SPOOL_HEADER.unpack_from(data, at)
            at += SPOOL_HEADER.size
            if at + length > len(data):
                break
            yield parse_batch(data[at:at + length])
            at += length
