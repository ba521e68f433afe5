package cli

import (
	"fmt"
	"os"
	"os/user"
)

// UserName returns the name of the user, as far as the system knows it.
func UserName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	if name := os.Getenv("USER"); name != "" {
		return name
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
