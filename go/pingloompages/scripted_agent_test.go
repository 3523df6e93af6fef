package pingloompages

import (
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// message is what the scripted agent received.
type message struct {
	kind uint16
	page uint32
	body []byte
	raw  []byte
}

// scriptedAgent takes every page and metric, unless `script` answers otherwise.
type scriptedAgent struct {
	test     *testing.T
	listener *net.UnixListener
	// script may answer a message itself; it then returns true. It is called under mutex.
	script func(agent *scriptedAgent, socket *net.UnixConn, got message) bool

	mutex    sync.Mutex
	sockets  []*net.UnixConn
	messages []message
	memories map[uint32]*memory // of the last connection, by number
}

func socketOf(test *testing.T) string { return filepath.Join(test.TempDir(), "pages.sock") }

func startAgent(test *testing.T, path string,
	script func(*scriptedAgent, *net.UnixConn, message) bool) *scriptedAgent {
	listener, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: path, Net: "unixpacket"})
	if err != nil {
		test.Fatal(err)
	}
	agent := &scriptedAgent{test: test, listener: listener, script: script}
	test.Cleanup(agent.stop)
	go func() {
		for {
			socket, err := listener.AcceptUnix()
			if err != nil {
				return
			}
			agent.mutex.Lock()
			agent.sockets = append(agent.sockets, socket)
			agent.memories = map[uint32]*memory{}
			agent.mutex.Unlock()
			go agent.serve(socket)
		}
	}()
	return agent
}

func (a *scriptedAgent) stop() {
	a.listener.Close()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	for _, socket := range a.sockets {
		socket.Close()
	}
	a.sockets = nil
}

func (a *scriptedAgent) serve(socket *net.UnixConn) {
	for {
		bytes, rights := make([]byte, headBytes+maxBodyBytes), make([]byte, 64)
		count, rightCount, _, _, err := socket.ReadMsgUnix(bytes, rights)
		if err != nil || count < headBytes {
			return
		}
		got := message{kind: binary.LittleEndian.Uint16(bytes[6:]),
			page: binary.LittleEndian.Uint32(bytes[8:]), body: bytes[headBytes:count], raw: bytes[:count]}
		var passed answer
		passed.descriptor = -1
		passed.takeDescriptors(rights[:rightCount])
		a.mutex.Lock()
		a.messages = append(a.messages, got)
		if a.script == nil || !a.script(a, socket, got) {
			a.serveAsUsual(socket, got, passed.descriptor)
		} else {
			passed.drop()
		}
		a.mutex.Unlock()
	}
}

func (a *scriptedAgent) serveAsUsual(socket *net.UnixConn, got message, passed int) {
	switch got.kind {
	case typeRegister:
		a.answer(socket, typeRegistered, 0, append(number(1000), 16, 0, 0, 0))
	case typePage:
		made, err := makeMemory()
		if err != nil {
			a.test.Error(err)
			return
		}
		a.memories[got.page] = made
		a.answer(socket, typeGranted, got.page, number(7), made.fd)
	case typeAdopt:
		taken, err := mapMemory(passed)
		if err != nil {
			a.test.Error(err)
			return
		}
		a.memories[got.page] = taken
		a.answer(socket, typeGranted, got.page, number(8))
	case typeDefine:
		a.answer(socket, typeDefined, got.page, nil)
	case typeRemove:
		a.answer(socket, typeRemoved, got.page, nil)
	}
}

func number(value uint64) []byte { return binary.LittleEndian.AppendUint64(nil, value) }

func messageOf(kind uint16, page uint32, body []byte) []byte {
	out := binary.LittleEndian.AppendUint32(nil, protocolMagic)
	out = binary.LittleEndian.AppendUint16(out, protocolVersion)
	out = binary.LittleEndian.AppendUint16(out, kind)
	out = binary.LittleEndian.AppendUint32(out, page)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(body)))
	return append(out, body...)
}

func (a *scriptedAgent) answer(socket *net.UnixConn, kind uint16, page uint32, body []byte, passed ...int) {
	a.send(socket, messageOf(kind, page, body), passed...)
}

func (a *scriptedAgent) send(socket *net.UnixConn, bytes []byte, passed ...int) {
	var rights []byte
	if len(passed) > 0 {
		rights = syscall.UnixRights(passed...)
	}
	socket.WriteMsgUnix(bytes, rights, nil) // the other side may be gone
}

func refusal(reason uint16, text string) []byte {
	return appendText(appendUint16(nil, int(reason)), text)
}

// of returns the messages of a kind.
func (a *scriptedAgent) of(kind uint16) []message {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	var found []message
	for _, one := range a.messages {
		if one.kind == kind {
			found = append(found, one)
		}
	}
	return found
}

func (a *scriptedAgent) memory(page uint32) *memory {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.memories[page]
}

func eventually(test *testing.T, what string, condition func() bool) {
	test.Helper()
	for end := time.Now().Add(20 * time.Second); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			test.Fatal("not in time: " + what)
		}
	}
}

func open(test *testing.T, options Options) *Pages {
	test.Helper()
	if options.Application == "" {
		options.Application = "tested"
	}
	pages, err := Open(options)
	if err != nil {
		test.Fatal(err)
	}
	test.Cleanup(pages.Close)
	return pages
}

func settle(test *testing.T, pages *Pages) {
	test.Helper()
	eventually(test, "the agent knows all", func() bool {
		status := pages.Status()
		return status.Connected && status.Pages == status.KnownPages && status.Metrics == status.KnownMetrics
	})
}

// mappings counts the pages that are mapped.
func mappings(test *testing.T) int {
	test.Helper()
	bytes, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		test.Fatal(err)
	}
	return strings.Count(string(bytes), "memfd:pingloom-page")
}

func memfd(test *testing.T, size int64, seals uintptr) int {
	test.Helper()
	name := [...]byte{'x', 0}
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name[0])),
		memfdCloexec|memfdAllowSealing, 0)
	if errno != 0 {
		test.Fatal(errno)
	}
	test.Cleanup(func() { syscall.Close(int(fd)) })
	if err := syscall.Ftruncate(int(fd), size); err != nil {
		test.Fatal(err)
	}
	if _, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, fcntlAddSeals, seals); errno != 0 {
		test.Fatal(errno)
	}
	return int(fd)
}
