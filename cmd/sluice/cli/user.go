package cli

import (
	"fmt"
	"os"
	"os/user"

	"github.com/sluiceflow/sluice/client"
)

// Actor returns the actor of a command to a folder or a server: the given one, else the user of this process, or "" for a server. A server
// determines the owner of the token itself; a given actor is the person that the owner represents.
func Actor(given, dir string) string {
	if given != "" || client.IsURL(dir) {
		return given
	}
	return UserName()
}

// UserName returns the name of the user; if the system has none, "uid" and the number of the user.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
