package cli

import (
	"fmt"
	"os"
	"os/user"

	"github.com/sluiceflow/sluice/client"
)

// Actor returns the actor of a command to a folder or a server: the one that is given, else the user. A server knows the owner of the
// token, and a given actor is the person for whom the owner acts.
func Actor(given, dir string) string {
	if given != "" || client.IsURL(dir) {
		return given
	}
	return UserName()
}

// UserName returns the name of the user; "" if the system has none.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
