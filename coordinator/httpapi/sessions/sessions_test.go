package sessions

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAnInvitationBeginsOneSession(t *testing.T) {
	var k Keep[string]
	now := time.Now()
	secret := k.Invite("ann", now)
	_, ok := k.Of(secret, now)
	require.False(t, ok, "an invitation is no session")
	_, ok = k.Accept("made up", now)
	require.False(t, ok)
	who, ok := k.Accept(secret, now)
	require.True(t, ok)
	require.Equal(t, "ann", who)
	_, ok = k.Accept(secret, now)
	require.False(t, ok, "it is used up")
	_, ok = k.Accept(k.Invite("ann", now), now.Add(inviteTime))
	require.False(t, ok, "it has expired")
}

func TestASessionLastsUntilItEnds(t *testing.T) {
	var k Keep[string]
	now := time.Now()
	ann, bob := k.Begin("ann", now), k.Begin("bob", now)
	require.NotEqual(t, ann, bob)
	who, ok := k.Of(ann, now.Add(sessionTime-1))
	require.True(t, ok)
	require.Equal(t, "ann", who)
	_, ok = k.Of(ann, now.Add(sessionTime))
	require.False(t, ok)
	k.End(ann)
	_, ok = k.Of(ann, now)
	require.False(t, ok)
	_, ok = k.Of(bob, now)
	require.True(t, ok)
	_, ok = k.Of("", now)
	require.False(t, ok)
}

func TestSessionsAreBounded(t *testing.T) {
	var k Keep[int]
	now := time.Now()
	first := k.Begin(0, now)
	for i := range sessionsMax {
		k.Begin(i, now)
	}
	require.LessOrEqual(t, len(k.open.of), sessionsMax)
	require.LessOrEqual(t, len(k.open.order), sessionsMax)
	_, ok := k.Of(first, now)
	require.False(t, ok, "the oldest is forgotten")
	k.Begin(1, now.Add(sessionTime))
	require.Len(t, k.open.of, 1, "those that have ended are forgotten")
}
