#!/usr/bin/env python3
"""delay_line.py IN OUT DELAY JITTER [--own]: delays Ethernet frames.

What the kernel sends to the TAP device IN comes out of OUT after DELAY and a random part of JITTER microseconds. Both
devices exist in this network namespace. With --own, frames are addressed to OUT itself, so that this namespace's own
stack takes them, and the process ends when it is killed. Otherwise it ends with its standard input."""

import fcntl
import heapq
import os
import random
import select
import socket
import struct
import sys
import time

TUNSETIFF = 0x400454CA
SIOCGIFHWADDR = 0x8927
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME = 2048  # the longest, with room
WAITING = 20_000  # frames; more are dropped, as a switch does


def tap(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


def hardware_address(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, SIOCGIFHWADDR, struct.pack("16s24x", name.encode()))
    return answer[18:24]


def take(source, waiting, delay, jitter):
    """Reads all frames that have come."""
    while True:
        try:
            frame = os.read(source, FRAME)
        except BlockingIOError:
            return
        if len(waiting) < WAITING:
            heapq.heappush(waiting, (time.monotonic() + delay + random.random() * jitter, frame))


def main():
    source, sink = tap(sys.argv[1]), tap(sys.argv[2])
    delay, jitter = (int(each) / 1e6 for each in sys.argv[3:5])
    address = hardware_address(sys.argv[2]) if "--own" in sys.argv else None
    inputs = [source] if address else [source, sys.stdin]
    print("ready", flush=True)
    waiting = []
    while True:
        pause = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        readable, _, _ = select.select(inputs, [], [], pause)
        if sys.stdin in readable:
            return
        take(source, waiting, delay, jitter)
        while waiting and waiting[0][0] <= time.monotonic():
            frame = heapq.heappop(waiting)[1]
            os.write(sink, address + frame[6:] if address else frame)


if __name__ == "__main__":
    main()
