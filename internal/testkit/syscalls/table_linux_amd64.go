package syscalls

import "golang.org/x/sys/unix"

// The older calls, which newer architectures don't have.
func init() {
	table[unix.SYS_OPEN] = shape{"create", none, none, 0, 1}
	table[unix.SYS_CREAT] = onName("create", none, 0)
	table[unix.SYS_MKDIR] = onName("mkdir", none, 0)
	table[unix.SYS_RMDIR] = onName("unlink", none, 0)
	table[unix.SYS_UNLINK] = onName("unlink", none, 0)
	table[unix.SYS_RENAME] = onName("rename", none, 1)
	table[unix.SYS_LINK] = onName("link", none, 1)
	table[unix.SYS_SYMLINK] = onName("link", none, 1)
	table[unix.SYS_CHMOD] = onName("chmod", none, 0)
}
