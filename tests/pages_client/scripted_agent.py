"""An agent for one test: takes every page and metric, and remembers the memory (docs/page-format.md)."""

import array
import mmap
import os
import select
import socket
import struct
import threading

HEAD = struct.Struct("<IHHII")
MAGIC = 0x47524C50
REGISTER, PAGE, ADOPT, DEFINE, REMOVE = 1, 2, 3, 4, 6
REGISTERED, GRANTED, DEFINED, REMOVED = 101, 102, 103, 105


class Owner:
    def __init__(self, number, registration):
        self.number = number
        self.registration = registration  # the body of the message
        self.pages = {}  # by number: the mapped memory
        self.metrics = {}  # by name: (page, first slot, slots, kind)
        self.definitions = {}  # by name: the body of the message
        self.living = {}  # by page and body of the message: the name of a metric that was not removed

    def slot(self, name, offset=0, kind="Q"):
        page, first, _, _ = self.metrics[name]
        return struct.unpack_from("<" + kind, self.pages[page], 64 + 8 * (first + offset))[0]

    def header(self, name):
        return struct.unpack_from("<IHHQQQQII", self.pages[self.metrics[name][0]], 0)


class Agent:
    def __init__(self, path):
        self.owners = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(path)
        self.listener.listen(16)
        self.stopped = threading.Event()
        self.sockets = {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.stopped.is_set():
            readable, _, _ = select.select([self.listener, *self.sockets], [], [], 0.02)
            for ready in readable:
                if ready is self.listener:
                    connection, _ = ready.accept()
                    self.sockets[connection] = None
                elif not self.goes_on(ready):
                    del self.sockets[ready]
                    ready.close()
        for connection in (self.listener, *self.sockets):
            connection.close()

    def stop(self):
        self.stopped.set()
        self.thread.join()

    def goes_on(self, connection):
        try:
            return self.serve(connection)
        except (BrokenPipeError, ConnectionResetError):
            return False  # the application has closed its pages before it read the answers

    def serve(self, connection):
        data, fds, _, _ = socket.recv_fds(connection, 16384, 4)
        if len(data) < HEAD.size:
            return False
        _, _, kind, page, _ = HEAD.unpack_from(data)
        body = data[HEAD.size:]
        owner = self.sockets[connection]
        if kind == REGISTER:
            owner = self.sockets[connection] = Owner(len(self.owners) + 1, body)
            self.answer(connection, REGISTERED, 0, struct.pack("<QI", owner.number, 16))
            self.owners.append(owner)
        elif kind in (PAGE, ADOPT):
            fd = fds[0] if kind == ADOPT else self.new_page()
            owner.pages[page] = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
            self.answer(connection, GRANTED, page, struct.pack("<Q", 77), [fd] if kind == PAGE else [])
            os.close(fd)
        elif kind == DEFINE:
            metric, _, first, slots, _, _, _, _, _, length = struct.unpack_from("<BBHHBBBBdB", body)
            name = body[19:19 + length].decode()
            owner.definitions[name] = body
            owner.metrics[name] = (page, first, slots, metric)
            owner.living[page, body] = name
            self.answer(connection, DEFINED, page, b"")
        elif kind == REMOVE:
            del owner.living[page, body]  # which ends this agent if there is none
            self.answer(connection, REMOVED, page, b"")
        return True

    def new_page(self):
        import fcntl
        fd = os.memfd_create("page", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, 4096)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        return fd

    def answer(self, connection, kind, page, body, fds=()):
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        connection.sendmsg([HEAD.pack(MAGIC, 1, kind, page, len(body)) + body], rights)
