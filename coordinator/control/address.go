package control

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/api"
)

const (
	socketName = "control.sock"
	nestName   = ".control-" // folders in which sockets are made

	// reachMax bounds, in bytes, the path of a directory whose sockets can have addresses: systems allow 104 or 108 bytes.
	reachMax = 76
)

// inReach calls use with a path of dir that is short enough for the address of a socket in it: a path through a descriptor
// where the system has such paths, so that nothing needs removal when the process ends; else a symbolic link in a temporary
// folder.
func inReach(dir string, use func(dir string) error) error {
	if len(dir) <= reachMax {
		return use(dir)
	}
	if open, err := os.Open(dir); err == nil {
		defer open.Close()
		if short := descriptorPath(open); short != "" {
			return use(short)
		}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "sluice-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) // the link, not its target
	link := filepath.Join(folder, "d")
	if err := os.Symlink(dir, link); err != nil {
		return err
	}
	return use(link)
}

// listen makes the socket of a directory. The caller holds the directory, so an existing socket belongs to a dead process. The
// new one replaces it atomically, once it has its mode: no other user can connect in between.
func listen(dir string) (l *net.UnixListener, err error) {
	old, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, nest := range old { // left by a process that died while making its socket
		if !strings.HasPrefix(nest.Name(), nestName) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, nest.Name())); err != nil {
			return nil, err
		}
	}
	err = inReach(dir, func(dir string) error {
		nest, err := os.MkdirTemp(dir, nestName)
		if err != nil {
			return err
		}
		defer os.RemoveAll(nest)
		made := filepath.Join(nest, "s")
		if l, err = net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"}); err != nil {
			return err
		}
		l.SetUnlinkOnClose(false) // it will have another name
		if err = os.Chmod(made, 0o600); err == nil {
			err = os.Rename(made, filepath.Join(dir, socketName))
		}
		if err != nil {
			return errors.Join(err, l.Close())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("make the control socket of %s: %w", dir, err)
	}
	return l, nil
}

// dial connects to the socket of a directory. It returns ErrNotHeld if no process listens.
func dial(dir string) (conn *net.UnixConn, err error) {
	err = inReach(dir, func(dir string) error {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
		return err
	})
	if err != nil {
		return nil, dialError(dir, err)
	}
	return conn, nil
}

// dialError returns the reason that the socket of a directory cannot be reached.
func dialError(dir string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) || refused(err):
		return fmt.Errorf("%w: %s", api.ErrNotHeld, dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("this user may not use the folder %s; the one to whom it belongs may: %w", dir, err)
	}
	return fmt.Errorf("connect to the process that holds %s: %w", dir, err)
}
