package pingloompages

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"unsafe"
)

const (
	pageBytes   = 4096
	headerBytes = 64
	pageSlots   = (pageBytes - headerBytes) / 8

	memfdCloexec      = 1
	memfdAllowSealing = 2
	fcntlAddSeals     = 1033
	fcntlGetSeals     = 1034
	pageSeals         = 1 | 2 | 4 // F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW
)

// The header's fields, as offsets in bytes (docs/page-format.md, "Page").
const (
	atMagic      = 0 // magic, version and flags are one word
	atGeneration = 8
	atOwner      = 16
	atHeartbeat  = 24
	atSequence   = 32
	atSlots      = 40
	atSchema     = 44
	atKeepOneIn  = 48 // the agent writes it

	pageMagic   = 0x47504c50 // the bytes PLPG
	pageVersion = 1
)

// memory is the memory of one page: a sealed memfd and its shared mapping. A finalizer unmaps it,
// so whoever holds an address of it holds the memory, too. The lock of Pages guards fd.
type memory struct {
	fd    int // -1 once it is closed
	bytes []byte
}

// makeMemory makes zeroed memory.
func makeMemory() (*memory, error) {
	name := [...]byte{'p', 'i', 'n', 'g', 'l', 'o', 'o', 'm', '-', 'p', 'a', 'g', 'e', 0}
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name[0])),
		memfdCloexec|memfdAllowSealing, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("memfd_create", errno)
	}
	if err := syscall.Ftruncate(int(fd), pageBytes); err != nil {
		syscall.Close(int(fd))
		return nil, os.NewSyscallError("ftruncate", err)
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, fcntlAddSeals, pageSeals); errno != 0 {
		syscall.Close(int(fd))
		return nil, os.NewSyscallError("fcntl", errno)
	}
	return mapMemory(int(fd))
}

// takeMemory takes a descriptor from an agent and clears the memory. Without the seals the agent
// could shrink the memory, and the next update would kill this process.
func takeMemory(fd int) (*memory, error) {
	seals, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), fcntlGetSeals, 0)
	var about syscall.Stat_t
	if errno != 0 || seals&pageSeals != pageSeals || syscall.Fstat(fd, &about) != nil ||
		about.Size != pageBytes {
		syscall.Close(fd)
		return nil, errors.New("the agent's memory is no sealed memfd of a page")
	}
	made, err := mapMemory(fd)
	if err != nil {
		return nil, err
	}
	for offset := 0; offset < pageBytes; offset += 8 {
		atomic.StoreUint64(made.word(offset), 0)
	}
	return made, nil
}

func mapMemory(fd int) (*memory, error) {
	bytes, err := syscall.Mmap(fd, 0, pageBytes, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		syscall.Close(fd)
		return nil, fmt.Errorf("mmap: %w", err)
	}
	made := &memory{fd: fd, bytes: bytes}
	runtime.SetFinalizer(made, func(m *memory) {
		m.closeDescriptor()
		syscall.Munmap(m.bytes)
	})
	return made, nil
}

func (m *memory) closeDescriptor() {
	if m.fd >= 0 {
		syscall.Close(m.fd)
		m.fd = -1
	}
}

func (m *memory) word(offset int) *uint64 {
	return (*uint64)(unsafe.Pointer(&m.bytes[offset]))
}

func (m *memory) half(offset int) *uint32 {
	return (*uint32)(unsafe.Pointer(&m.bytes[offset]))
}

func (m *memory) slot(index int) *uint64 { return m.word(headerBytes + 8*index) }
