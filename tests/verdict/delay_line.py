#!/usr/bin/env python3
"""Delays Ethernet frames: what the kernel sends to the TAP device IN leaves through OUT after DELAY and a random part of JITTER
microseconds. Both devices exist in this network namespace. Ends with its standard input."""

import fcntl
import heapq
import os
import random
import select
import struct
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
FRAME = 2048  # the longest, with room
WAITING = 20_000  # frames; more are dropped, as a switch does


def tap(name):
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.ioctl(descriptor, TUNSETIFF, struct.pack("16sH", name.encode(), IFF_TAP | IFF_NO_PI))
    return descriptor


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
    print("ready", flush=True)
    waiting = []
    while True:
        pause = max(waiting[0][0] - time.monotonic(), 0) if waiting else None
        readable, _, _ = select.select([source, sys.stdin], [], [], pause)
        if sys.stdin in readable:
            return
        take(source, waiting, delay, jitter)
        while waiting and waiting[0][0] <= time.monotonic():
            os.write(sink, heapq.heappop(waiting)[1])


if __name__ == "__main__":
    main()
