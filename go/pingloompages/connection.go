package pingloompages

import (
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"syscall"
)

const (
	headBytes       = 16
	maxBodyBytes    = 16384
	maxShown        = 200 // bytes of an agent's text that are kept
	protocolMagic   = 0x47524c50
	protocolVersion = 1

	typeRegister   = 1
	typePage       = 2
	typeAdopt      = 3
	typeDefine     = 4
	typeRelease    = 5
	typeRemove     = 6
	typeRegistered = 101
	typeGranted    = 102
	typeDefined    = 103
	typeRefused    = 104
	typeRemoved    = 105

	refusalQuota       = 4
	refusalUnavailable = 8
)

var errMalformed = errors.New("what the agent sent is no answer")

// answer is one message of the agent. Its descriptor belongs to whoever has the answer.
type answer struct {
	kind       uint16
	page       uint32
	owner      uint64 // typeRegistered
	generation uint64 // typeGranted
	refusal    uint16 // typeRefused
	why        string // typeRefused: printable, at most maxShown bytes
	descriptor int    // or -1
}

// drop closes the descriptor.
func (a *answer) drop() {
	if a.descriptor >= 0 {
		syscall.Close(a.descriptor)
		a.descriptor = -1
	}
}

// connection is a connection to the agent. One goroutine may receive while others send and close.
type connection struct {
	socket *net.UnixConn
	raw    syscall.RawConn
	bytes  [headBytes + maxBodyBytes]byte // what was received last
	rights [64]byte                       // descriptors of it; one is expected
}

// dial never waits: a unix socket connects at once or not at all.
func dial(path string) (*connection, error) {
	if path == "" || len(path) > 107 {
		return nil, errors.New("a socket's path has 1 to 107 bytes")
	}
	if path[0] == '@' { // it is a file and not in the abstract namespace
		path = "./" + path
	}
	socket, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		return nil, err
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		socket.Close()
		return nil, err
	}
	return &connection{socket: socket, raw: raw}, nil
}

func (c *connection) close() { c.socket.Close() }

type sent int

const (
	sentYes sent = iota
	sentLater
	sentNo
)

// send never waits. `passed` is a descriptor that goes along, or -1.
func (c *connection) send(kind uint16, page uint32, body []byte, passed int) sent {
	message := make([]byte, headBytes, headBytes+len(body))
	binary.LittleEndian.PutUint32(message, protocolMagic)
	binary.LittleEndian.PutUint16(message[4:], protocolVersion)
	binary.LittleEndian.PutUint16(message[6:], kind)
	binary.LittleEndian.PutUint32(message[8:], page)
	binary.LittleEndian.PutUint32(message[12:], uint32(len(body)))
	message = append(message, body...)
	var rights []byte
	if passed >= 0 {
		rights = syscall.UnixRights(passed)
	}
	var failure error
	err := c.raw.Write(func(socket uintptr) bool {
		_, failure = syscall.SendmsgN(int(socket), message, rights, nil,
			syscall.MSG_NOSIGNAL|syscall.MSG_DONTWAIT)
		return true
	})
	if err != nil {
		return sentNo
	}
	switch failure {
	case nil:
		return sentYes
	case syscall.EAGAIN, syscall.EINTR, syscall.ENOBUFS, syscall.ENOMEM, syscall.ETOOMANYREFS:
		// ETOOMANYREFS means that the agent has not yet received the descriptors in flight.
		return sentLater
	}
	return sentNo
}

// receive waits for the next answer. After an error the connection is of no use; the error is
// errMalformed if the agent is to blame.
func (c *connection) receive() (*answer, error) {
	got, gotRights, flags, _, err := c.socket.ReadMsgUnix(c.bytes[:], c.rights[:])
	made := &answer{descriptor: -1}
	one := made.takeDescriptors(c.rights[:gotRights])
	if err != nil {
		made.drop()
		return nil, err
	}
	if !one || flags&(syscall.MSG_TRUNC|syscall.MSG_CTRUNC) != 0 || !made.parse(c.bytes[:got]) {
		made.drop()
		return nil, errMalformed
	}
	return made, nil
}

// takeDescriptors returns false if there is more than one.
func (a *answer) takeDescriptors(rights []byte) bool {
	one := true
	parts, err := syscall.ParseSocketControlMessage(rights)
	if err != nil {
		return false
	}
	for i := range parts {
		descriptors, err := syscall.ParseUnixRights(&parts[i])
		if err != nil { // it is no SCM_RIGHTS
			continue
		}
		for _, descriptor := range descriptors {
			one = one && a.descriptor < 0
			a.drop()
			a.descriptor = descriptor
		}
	}
	return one
}

func (a *answer) parse(message []byte) bool {
	if len(message) < headBytes || binary.LittleEndian.Uint32(message) != protocolMagic ||
		binary.LittleEndian.Uint16(message[4:]) != protocolVersion ||
		uint64(binary.LittleEndian.Uint32(message[12:])) != uint64(len(message)-headBytes) {
		return false
	}
	a.kind = binary.LittleEndian.Uint16(message[6:])
	a.page = binary.LittleEndian.Uint32(message[8:])
	body := message[headBytes:]
	switch a.kind {
	case typeRegistered:
		if len(body) != 12 {
			return false
		}
		a.owner = binary.LittleEndian.Uint64(body)
		return true
	case typeGranted:
		if len(body) != 8 {
			return false
		}
		a.generation = binary.LittleEndian.Uint64(body)
		return true
	case typeDefined, typeRemoved:
		return len(body) == 0
	case typeRefused:
		return a.parseRefusal(body)
	}
	return false
}

func (a *answer) parseRefusal(body []byte) bool {
	if len(body) < 4 || int(binary.LittleEndian.Uint16(body[2:])) != len(body)-4 {
		return false
	}
	a.refusal = binary.LittleEndian.Uint16(body)
	text := body[4:]
	if len(text) > maxShown {
		text = text[:maxShown]
	}
	a.why = strings.Map(func(r rune) rune {
		if isControl(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
	return true
}
