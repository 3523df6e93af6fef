package pingloompages

const sysMemfdCreate = 319 // Go 1.19's syscall has no name for it
