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

	// reachMax is how long the path of a directory may be, in bytes, for the sockets in it to have addresses: systems give
	// them 104 or 108 bytes.
	reachMax = 76
)

// inReach calls use with a path of dir that is short enough for the address of a socket in it: by way of a descriptor where
// the system has such paths, so that nothing is left behind whenever the process ends; else by a link in a folder of our own.
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
	defer os.RemoveAll(folder) // the link, not what it leads to
	link := filepath.Join(folder, "d")
	if err := os.Symlink(dir, link); err != nil {
		return err
	}
	return use(link)
}

// listen makes the socket of a directory. The caller holds the directory, so whatever socket is there belongs to a dead
// process. The new one takes its place in one step, when it has its mode: nobody else can connect in between.
func listen(dir string) (l *net.UnixListener, err error) {
	old, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, nest := range old { // of a process that died while it made its socket
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
		l.SetUnlinkOnClose(false) // it is to be another name by then
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

// dial connects to the socket of a directory. Where nobody listens it returns ErrNotHeld.
func dial(dir string) (conn *net.UnixConn, err error) {
	err = inReach(dir, func(dir string) error {
		conn, err = net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(dir, socketName), Net: "unix"})
		return err
	})
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, fs.ErrNotExist) || refused(err):
		return nil, fmt.Errorf("%w: %s", api.ErrNotHeld, dir)
	}
	return nil, fmt.Errorf("connect to the process that holds %s: %w", dir, err)
}
