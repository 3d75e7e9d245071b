"""What a process that runs a student's code may do: Linux's own means, without privileges.

Landlock leaves it Python and the course's package to read, and one folder to write in. A filter of system calls (seccomp) leaves it no
network, no other program, no signal to another process and no change of rights. Limits bound its memory and the size of its files.
"""

import ctypes
import os
import platform
import resource
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

# Numbers of system calls on x86-64, where the filter is known to work.
NETWORK = {"socket": 41, "connect": 42, "bind": 49, "io_uring_setup": 425}
PROCESSES = {"fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311}
SIGNALS = {"kill": 62, "tkill": 200, "tgkill": 234, "rt_sigqueueinfo": 129, "rt_tgsigqueueinfo": 297, "pidfd_open": 434, "pidfd_getfd": 438}
RIGHTS = {
    "truncate": 76,
    "chmod": 90,
    "fchmod": 91,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "fchownat": 260,
    "fchmodat": 268,
    "fchmodat2": 452,
}
LABELS = {"setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199}
TIMES = {"utime": 132, "utimes": 235, "futimesat": 261, "utimensat": 280, "setpriority": 141, "sched_setscheduler": 144}
SYSTEM = {"mount": 165, "umount2": 166, "chroot": 161, "unshare": 272, "setns": 308, "bpf": 321, "perf_event_open": 298, "keyctl": 250}
SHARED = {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "userfaultfd": 323, "add_key": 248, "request_key": 249}
REFUSED = NETWORK | PROCESSES | SIGNALS | RIGHTS | LABELS | TIMES | SYSTEM | SHARED
CLONE, CLONE3, PRLIMIT = 56, 435, 302
CLONE_THREAD, X86_64 = 0x10000, 0xC000003E
EPERM, ENOSYS = 1, 38

READ = 0b1100  # Landlock: read a file or a folder
ALL = (1 << 13) - 1
_libc = ctypes.CDLL(None, use_errno=True)


def _landlock_version() -> int:
    return int(_libc.syscall(444, None, ctypes.c_size_t(0), ctypes.c_uint(1))) if sys.platform == "linux" else 0


def versions() -> dict[str, bool]:
    """Which fences this machine can put up."""
    linux = sys.platform == "linux"
    return {
        "files (Landlock)": _landlock_version() >= 1,
        "network, programs, signals (seccomp)": linux and platform.machine() == "x86_64" and Path("/proc/self/status").exists(),
    }


def limit(memory: int, files: int) -> None:
    """Bound the memory that is added from now on, and the size of a file, both in bytes."""
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize() if sys.platform == "linux" else 0
    for kind, most in [(resource.RLIMIT_AS, now + memory), (resource.RLIMIT_FSIZE, files), (resource.RLIMIT_CORE, 0)]:
        resource.setrlimit(kind, (most, most))


def shut(work: Path, readable: Iterable[Path]) -> None:
    """Put up what fences there are around this process and its threads, for good: it may read ``readable``, and write in ``work``.

    Raises:
        OSError: if the system refuses a fence that it has.
    """
    there = list(versions().values())
    if sys.platform == "linux":
        _checked(_libc.prctl(38, 1, 0, 0, 0))  # no new privileges
        _checked(_libc.syscall(126, struct.pack("II", 0x20080522, 0), bytes(24)))  # no capabilities, should this be root
    if there[0]:
        _landlock(work, readable)
    if there[1]:
        _seccomp()


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _landlock(work: Path, readable: Iterable[Path]) -> None:
    newer = _landlock_version()  # 2 knows of moves between folders, and 3 of files that are shortened
    every = ALL | (newer >= 2) << 13 | (newer >= 3) << 14
    rules = _checked(_libc.syscall(444, struct.pack("Q", every), ctypes.c_size_t(8), ctypes.c_uint(0)))
    shorten = (newer >= 3) << 14  # also what is opened anew
    allowed = [(work, READ | 1 << 1 | 1 << 5 | 1 << 8 | shorten), (Path("/dev/null"), 1 << 1 | 1 << 2 | shorten)]
    for path, rights in [*((path, READ) for path in readable if path.exists()), *allowed]:
        place = os.open(path, os.O_PATH)
        may = rights if path.is_dir() else rights & (1 << 1 | 1 << 2 | shorten)
        _checked(_libc.syscall(445, rules, 1, struct.pack("=Qi", may, place), ctypes.c_uint(0)))
        os.close(place)
    _checked(_libc.syscall(446, rules, ctypes.c_uint(0)))
    os.close(rules)


def _seccomp() -> None:
    load, equal, any_set, answer = 0x20, 0x15, 0x45, 0x06
    refuse, unknown, allow, kill = 0x50000 | EPERM, 0x50000 | ENOSYS, 0x7FFF0000, 0x80000000
    lines = [(load, 0, 0, 4), (equal, 1, 0, X86_64), (answer, 0, 0, kill), (load, 0, 0, 0)]
    lines += [(0x35, 0, 1, 0x40000000), (answer, 0, 0, kill)]  # numbers of the x32 interface
    for number in REFUSED.values():
        lines += [(equal, 0, 1, number), (answer, 0, 0, refuse)]
    lines += [(equal, 0, 1, CLONE3), (answer, 0, 0, unknown)]  # the C library then takes `clone`, whose flags can be seen
    lines += [(equal, 0, 4, CLONE), (load, 0, 0, 16), (any_set, 1, 0, CLONE_THREAD), (answer, 0, 0, refuse), (answer, 0, 0, allow)]
    lines += [(equal, 0, 3, PRLIMIT), (load, 0, 0, 16), (equal, 1, 0, 0), (answer, 0, 0, refuse), (answer, 0, 0, allow)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
    _checked(_libc.prctl(22, 2, struct.pack("HxxxxxxQ", len(lines), ctypes.addressof(program)), 0, 0))
