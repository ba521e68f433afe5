package audit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Means is the consequence of damage.
const Means = "the audit of that time is incomplete"

// Check looks for damage in the audit of a folder of a journal, and returns a line for each unreadable entry, except one that a
// process is still writing.
func Check(dir string) (damage []string, err error) {
	dir = filepath.Join(dir, Dir)
	days, err := Days(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, day := range days {
		if err == nil {
			damage, err = check(filepath.Join(dir, day+".jsonl"), damage)
		}
	}
	return damage, err
}

func check(path string, damage []string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return damage, err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return damage, nil
		}
		if err != nil {
			return damage, err
		}
		if decoded(line).Kind == Damaged {
			damage = append(damage, fmt.Sprintf("line %d of %s/%s cannot be read", n, Dir, filepath.Base(path)))
		}
	}
}

// Copy copies the audit of a folder of a journal to another one, as it is now.
func Copy(from, to string) error {
	days, err := Days(filepath.Join(from, Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(to, Dir), 0o700)
	}
	for _, day := range days {
		name := filepath.Join(Dir, day+".jsonl")
		if err == nil {
			err = copyFile(filepath.Join(from, name), filepath.Join(to, name))
		}
	}
	return err
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) { // it has become too old meanwhile
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, truncatePartial(target), target.Sync(), target.Close())
}
