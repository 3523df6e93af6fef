"""RoCEv2 packets of any kind, also such as no device sends: built byte by byte, sent on a raw
socket with any source address, whole or in fragments."""

import socket
import struct
import zlib

PORT = 4791
UD_SEND_ONLY = 0x64
IP = struct.Struct("!BBHHHBBH4s4s")
UDP = struct.Struct("!HHHH")
HEADERS = IP.size + UDP.size
DONT_FRAGMENT = 0x4000
MORE_FRAGMENTS = 0x2000


def ud_send(qpn, q_key, payload, opcode=UD_SEND_ONLY, version=0, pad=None, p_key=0xFFFF, source_qpn=0x77,
            psn=1):
    """From the BTH to the padding; the iCRC is sealed()'s."""
    if pad is None:
        pad = -len(payload) % 4
    bth = struct.pack("!BBHII", opcode, pad << 4 | version, p_key, qpn, psn)
    return bth + struct.pack("!II", q_key, source_qpn) + payload + bytes(-len(payload) % 4)


def datagram(source, destination, udp_payload, identification=0x4321, source_port=0xC123):
    """The IPv4 packet around it, unfragmented; the kernel fills the checksum."""
    ip = IP.pack(0x45, 0, HEADERS + len(udp_payload), identification, DONT_FRAGMENT, 64,
                 socket.IPPROTO_UDP, 0, socket.inet_aton(source), socket.inet_aton(destination))
    return ip + UDP.pack(source_port, PORT, UDP.size + len(udp_payload), 0) + udp_payload


def sealed(source, destination, packet, damage=0, fragmented=False):
    """An IPv4 packet with the right iCRC, or with one that `damage` is exclusive-ored to. Once
    reassembled, a fragmented one has no DF, which the iCRC covers."""
    whole = bytearray(datagram(source, destination, packet + bytes(4)))
    if fragmented:
        struct.pack_into("!H", whole, 6, 0)
    covered = bytearray(whole[:-4])
    for place in (1, 8, 10, 11, 26, 27, HEADERS + 4):  # TOS, TTL, both checksums, BTH's resv8a
        covered[place] = 0xFF
    icrc = zlib.crc32(b"\xff" * 8 + covered) ^ damage
    whole[-4:] = struct.pack("<I", icrc)
    return bytes(whole)


def fragments(whole, size=1400):
    """The same packet in pieces, as a router would have made them. size: a multiple of 8."""
    header, body = whole[:IP.size], whole[IP.size:]
    made = []
    for start in range(0, len(body), size):
        piece = body[start:start + size]
        flags = start // 8 | (MORE_FRAGMENTS if start + size < len(body) else 0)
        head = bytearray(header)
        struct.pack_into("!H", head, 2, IP.size + len(piece))
        struct.pack_into("!H", head, 6, flags)
        made.append(bytes(head) + piece)
    return made


class Sender:
    """Sends whole IPv4 packets from this host's address, whatever source they name."""

    def __init__(self, address):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
        self.socket.bind((address, 0))

    def send(self, *packets):
        for packet in packets:
            self.socket.sendto(packet, (socket.inet_ntoa(packet[16:20]), 0))

    def close(self):
        self.socket.close()
