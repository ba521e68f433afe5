// Package directory says who can be targeted: participants, what is known of them, and the passports by which they offer
// capabilities. Which of them a step's target means is decided when its attempt starts, by a pure function of the
// directory, the target and the instant.
package directory
