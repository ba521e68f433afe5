package names

import "strings"

// Match reports whether the headers If-Match of a request let it through to a state: there is none, or one lists the ETag of the state or *.
func Match(headers []string, etag string) bool {
	none := true
	for _, header := range headers {
		for one := range strings.SplitSeq(header, ",") {
			switch one = strings.TrimSpace(one); one {
			case "":
			case "*", etag:
				return true
			default:
				none = false
			}
		}
	}
	return none
}
