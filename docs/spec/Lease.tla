------------------------------- MODULE Lease -------------------------------
\* The lease of a holder: src/session/life/lease.ts. A client that is connected to a follower counts only what proves that
\* the leader keeps its session. P, Q and R have the names of that file.
\*
\* Time is counted in half ticks. The leader pings the follower at least once in each, at any moment of it. Messages
\* between leader and follower take any time, and keep their order. What is left out: another leader (R is a write,
\* because a leader that has lost its majority cannot answer it), and that two clocks advance at different speeds.
EXTENDS Naturals, Sequences

CONSTANTS
  T,         \* the session timeout
  Wait,      \* how long after the answer to P the client sends Q: 2, so that a whole half tick lies between
  End        \* when the model ends

VARIABLES
  now,
  isPinged,  \* TRUE if the leader has pinged in this half tick
  toLeader,  \* messages of the follower, the oldest first
  toFollower,
  isTouched, \* TRUE if the client has sent something since the last report of the follower
  alive,     \* TRUE if the leader keeps the session
  deadline,  \* when the leader may end the session
  pc,        \* what the client waits for
  p,         \* when the client has sent P
  lease      \* when the lease of the client ends

vars == <<now, isPinged, toLeader, toFollower, isTouched, alive, deadline, pc, p, lease>>

\* The client has just connected: the leader itself has answered its handshake.
Init ==
  /\ now = 0 /\ isPinged = FALSE
  /\ toLeader = <<>> /\ toFollower = <<>>
  /\ isTouched = FALSE
  /\ alive = TRUE /\ deadline = T
  /\ pc = "idle" /\ p = 0
  /\ lease = T

Pass ==
  /\ now < End /\ isPinged
  /\ now' = now + 1 /\ isPinged' = FALSE
  /\ UNCHANGED <<toLeader, toFollower, isTouched, alive, deadline, pc, p, lease>>

\* The leader sends a ping. The follower will answer it with a report.
Ping ==
  /\ ~isPinged
  /\ isPinged' = TRUE
  /\ toFollower' = Append(toFollower, "ping")
  /\ UNCHANGED <<now, toLeader, isTouched, alive, deadline, pc, p, lease>>

\* The client sends P. The follower answers it at once, whether the leader reaches it or not.
SendP ==
  /\ pc = "idle" /\ now < lease
  /\ p' = now /\ isTouched' = TRUE
  /\ pc' = "P"
  /\ UNCHANGED <<now, isPinged, toLeader, toFollower, alive, deadline, lease>>

\* The client sends a sync, which the follower passes on.
SendQ ==
  /\ pc = "P" /\ now >= p + Wait
  /\ toLeader' = Append(toLeader, "Q")
  /\ pc' = "Q"
  /\ UNCHANGED <<now, isPinged, toFollower, isTouched, alive, deadline, p, lease>>

\* Q is answered, so the client sends a write.
SendR ==
  /\ pc = "Q answered"
  /\ toLeader' = Append(toLeader, "R")
  /\ pc' = "R"
  /\ UNCHANGED <<now, isPinged, toFollower, isTouched, alive, deadline, p, lease>>

\* The follower takes the next message of the leader.
Follower ==
  /\ toFollower # <<>>
  /\ toFollower' = Tail(toFollower)
  /\ LET message == Head(toFollower) IN
     /\ IF message = "ping"
        THEN /\ toLeader' = Append(toLeader, IF isTouched THEN "report" ELSE "pong")
             /\ isTouched' = FALSE
        ELSE UNCHANGED <<toLeader, isTouched>>
     /\ pc' = IF message = "Q" THEN "Q answered" ELSE IF message = "R" THEN "idle" ELSE pc
     /\ lease' = IF message = "R" /\ p + T > lease THEN p + T ELSE lease
  /\ UNCHANGED <<now, isPinged, alive, deadline, p>>

\* The leader takes the next message of the follower. It keeps no session that has ended, and refuses its writes; that
\* it answers its syncs is more than it does.
Leader ==
  /\ toLeader # <<>>
  /\ toLeader' = Tail(toLeader)
  /\ LET message == Head(toLeader) IN
     /\ deadline' = IF message = "report" /\ alive THEN now + T ELSE deadline
     /\ toFollower' =
          IF message = "Q" \/ (message = "R" /\ alive) THEN Append(toFollower, message) ELSE toFollower
  /\ UNCHANGED <<now, isPinged, isTouched, alive, pc, p, lease>>

Expire ==
  /\ alive /\ now >= deadline
  /\ alive' = FALSE
  /\ UNCHANGED <<now, isPinged, toLeader, toFollower, isTouched, deadline, pc, p, lease>>

Next == Pass \/ Ping \/ SendP \/ SendQ \/ SendR \/ Follower \/ Leader \/ Expire

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
\* While the lease lasts, the leader keeps the session.
LeaseIsKept == now < lease => alive
=============================================================================
