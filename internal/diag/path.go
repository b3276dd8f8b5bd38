package diag

import (
	"errors"
	"fmt"
	"io/fs"
)

// PathOnly drops the name of the system call from an error of the os package.
func PathOnly(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}
