package syscalls

import "golang.org/x/sys/unix"

// none stands for an argument that a call does not have.
const none = -1

// shape names the arguments of a call that hold its file: an open file, or a path and the folder that it is
// relative to. Flags are those of a call that opens.
type shape struct {
	name                 string
	fd, dir, path, flags int
}

func onFile(name string, fd int) shape        { return shape{name, fd, none, none, none} }
func onName(name string, dir, path int) shape { return shape{name, none, dir, path, none} }

// table lists the calls that change a file or a folder. For a call with two names, the new name counts.
var table = map[int]shape{
	unix.SYS_WRITE:           onFile("write", 0),
	unix.SYS_PWRITE64:        onFile("write", 0),
	unix.SYS_WRITEV:          onFile("writev", 0),
	unix.SYS_COPY_FILE_RANGE: onFile("copy", 2),
	unix.SYS_SENDFILE:        onFile("copy", 0),
	unix.SYS_FSYNC:           onFile("sync", 0),
	unix.SYS_FDATASYNC:       onFile("sync", 0),
	unix.SYS_FTRUNCATE:       onFile("truncate", 0),
	unix.SYS_FALLOCATE:       onFile("truncate", 0),
	unix.SYS_FCHMOD:          onFile("chmod", 0),
	unix.SYS_OPENAT:          {"create", none, 0, 1, 2},
	unix.SYS_MKDIRAT:         onName("mkdir", 0, 1),
	unix.SYS_UNLINKAT:        onName("unlink", 0, 1),
	unix.SYS_RENAMEAT:        onName("rename", 2, 3),
	unix.SYS_RENAMEAT2:       onName("rename", 2, 3),
	unix.SYS_LINKAT:          onName("link", 2, 3),
	unix.SYS_SYMLINKAT:       onName("link", 1, 2),
	unix.SYS_FCHMODAT:        onName("chmod", 0, 1),
	unix.SYS_TRUNCATE:        onName("truncate", none, 0),
}
