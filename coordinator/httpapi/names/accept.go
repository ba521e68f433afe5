package names

import (
	"mime"
	"strconv"
	"strings"
)

// Accepts reports whether headers Accept name a media type, and do not exclude it by a quality of 0.
func Accepts(headers []string, kind string) bool {
	for _, header := range headers {
		for part := range strings.SplitSeq(header, ",") {
			named, more, err := mime.ParseMediaType(part)
			if err != nil || named != kind {
				continue
			}
			quality, err := strconv.ParseFloat(more["q"], 64)
			return err != nil || quality > 0
		}
	}
	return false
}
