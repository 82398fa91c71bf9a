package sandbox

import (
	"fmt"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// Versions of Landlock that brought what is used here.
const (
	withRefer = 2  // moving files between folders
	withTCP   = 4  // connecting and binding
	withIoctl = 5  // controlling devices
	withUDP   = 10 // datagrams
)

// Available says what the kernel can do.
func Available() Support {
	abi := version()
	return Support{Files: abi >= 1, TCP: abi >= withTCP, UDP: abi >= withUDP}
}

// version is that of Landlock, 0 without it.
func version() int {
	abi, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return abi
}

func become(r Rules, path string, args, env []string) error {
	if version() < 1 {
		return ErrNone
	}
	if err := restrict(r); err != nil {
		return err
	}
	if err := syscall.Exec(path, args, env); err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}

// restrict confines this process, and what it starts, for good. It is one set of
// rules: a second one that says nothing of files would deny moving and linking them
// from folder to folder.
func restrict(r Rules) error {
	config := landlock.V11
	if r.Network {
		config.HandledAccessNet = 0
	}
	all := landlock.RODirs("/").WithResolveUnix()
	if !r.Network {
		all = landlock.RODirs("/")
	}
	write, devices := landlock.RWDirs(r.Write...).IgnoreIfMissing(), landlock.RWFiles(sinks()...).IgnoreIfMissing()
	shared := landlock.RWDirs("/dev/shm", "/dev/pts").IgnoreIfMissing()
	if version() >= withRefer {
		write = write.WithRefer()
	}
	if version() >= withIoctl {
		devices, shared = devices.WithIoctlDev(), shared.WithIoctlDev()
	}
	return config.BestEffort().Restrict(all, write, devices, shared)
}

// sinks are the devices that every program may write to.
func sinks() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx"}
}
