------------------------------- MODULE Mutex -------------------------------
\* The recipe Mutex of zkwire, with look-ahead: src/recipes/queue/look-ahead.ts.
\*
\* Each contender creates a node with the next sequence number, and lists the queue once. It then watches its own node,
\* the node before it (its predecessor), and the node before that. If the list showed only the predecessor, the deletion
\* of that node gives the lock without another list. Otherwise any event makes the contender list again.
\*
\* What is left out: that a request or its reply is lost with its connection. The order of what one connection carries
\* is kept: a client has read all events that came before the reply to its request.
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Clients,
  Last      \* the last sequence number, which bounds the model

VARIABLES
  nodes,    \* the sequence numbers of the nodes in the queue
  next,     \* the sequence number of the next node
  alive,    \* the clients whose sessions the servers keep
  own,      \* of each client: the sequence number of its node; 0 if it has none
  pc,       \* of each client: what it does
  ahead,    \* of each client: the nodes before its own, as it has listed them last
  watches,  \* of each client: the nodes that it watches, as the server has them
  inbox     \* of each client: the deletions that the server has reported, and that the client has not read yet

vars == <<nodes, next, alive, own, pc, ahead, watches, inbox>>

Max(S) == CHOOSE n \in S : \A m \in S : m <= n

Init ==
  /\ nodes = {}
  /\ next = 1
  /\ alive = Clients
  /\ own = [c \in Clients |-> 0]
  /\ pc = [c \in Clients |-> "idle"]
  /\ ahead = [c \in Clients |-> {}]
  /\ watches = [c \in Clients |-> {}]
  /\ inbox = [c \in Clients |-> <<>>]

\* The server deletes a node, and notifies the clients that watch it.
Deleted(n) ==
  /\ nodes' = nodes \ {n}
  /\ watches' = [c \in Clients |-> watches[c] \ {n}]
  /\ inbox' = [c \in Clients |-> IF n \in watches[c] THEN Append(inbox[c], n) ELSE inbox[c]]

\* A client holds the lock only if its session is confirmed: see Lease.tla.
Turn(c) == IF c \in alive THEN "holding" ELSE "over"

\* The client queues. It ignores what it watched for an earlier node.
Create(c) ==
  /\ pc[c] = "idle" /\ c \in alive /\ next <= Last
  /\ nodes' = nodes \cup {next}
  /\ next' = next + 1
  /\ own' = [own EXCEPT ![c] = next]
  /\ pc' = [pc EXCEPT ![c] = "listing"]
  /\ watches' = [watches EXCEPT ![c] = {}]
  /\ inbox' = [inbox EXCEPT ![c] = <<>>]
  /\ UNCHANGED <<alive, ahead>>

\* The client lists the queue. If its own node is gone, it queues again.
List(c) ==
  LET before == {n \in nodes : n < own[c]} IN
  /\ pc[c] = "listing" /\ c \in alive /\ inbox[c] = <<>>
  /\ ahead' = [ahead EXCEPT ![c] = before]
  /\ pc' = [pc EXCEPT ![c] = IF own[c] \notin nodes THEN "idle" ELSE IF before = {} THEN Turn(c) ELSE "watching"]
  /\ UNCHANGED <<nodes, next, alive, own, watches, inbox>>

\* The nodes that a client watches: its own, its predecessor and the one before that.
Watched(c) ==
  LET predecessor == Max(ahead[c])
      second == ahead[c] \ {predecessor}
  IN {own[c], predecessor} \cup (IF second = {} THEN {} ELSE {Max(second)})

\* The server sets the watches, and says which of the nodes are gone already.
Watch(c) ==
  /\ pc[c] = "watching" /\ c \in alive /\ inbox[c] = <<>>
  /\ watches' = [watches EXCEPT ![c] = @ \cup (Watched(c) \cap nodes)]
  /\ pc' = [pc EXCEPT ![c] =
       IF own[c] \notin nodes THEN "idle"
       ELSE IF Watched(c) \subseteq nodes THEN "waiting"
       ELSE IF ahead[c] \cap nodes = {} /\ Cardinality(ahead[c]) = 1 THEN Turn(c)
       ELSE "listing"]
  /\ UNCHANGED <<nodes, next, alive, own, ahead, inbox>>

\* The client reads the next event. If only its predecessor was ahead, the lock is its own now.
Notified(c) ==
  /\ inbox[c] # <<>>
  /\ inbox' = [inbox EXCEPT ![c] = Tail(inbox[c])]
  /\ pc' = [pc EXCEPT ![c] =
       IF @ \in {"idle", "over"} THEN @
       ELSE IF Head(inbox[c]) = own[c] THEN "idle"
       ELSE IF @ # "waiting" THEN @
       ELSE IF ahead[c] = {Head(inbox[c])} THEN Turn(c)
       ELSE "listing"]
  /\ UNCHANGED <<nodes, next, alive, own, ahead, watches>>

Release(c) ==
  /\ pc[c] = "holding" /\ own[c] \in nodes
  /\ Deleted(own[c])
  /\ pc' = [pc EXCEPT ![c] = "idle"]
  /\ UNCHANGED <<next, alive, own, ahead>>

\* The servers end a session, and delete its node. The lease of a holder has ended before: see Lease.tla.
Expire(c) ==
  /\ c \in alive /\ pc[c] # "holding"
  /\ alive' = alive \ {c}
  /\ IF own[c] \in nodes THEN Deleted(own[c]) ELSE UNCHANGED <<nodes, watches, inbox>>
  /\ UNCHANGED <<next, own, pc, ahead>>

\* An operator deletes the node of a contender that does not hold the lock.
Meddle(n) ==
  /\ n \in nodes
  /\ \A c \in Clients : own[c] = n => pc[c] # "holding"
  /\ Deleted(n)
  /\ UNCHANGED <<next, alive, own, pc, ahead>>

Next ==
  \/ \E c \in Clients :
       \/ Create(c)
       \/ List(c)
       \/ Watch(c)
       \/ Notified(c)
       \/ Release(c)
       \/ Expire(c)
  \/ \E n \in nodes : Meddle(n)

Spec == Init /\ [][Next]_vars

----------------------------------------------------------------------------
Holders == {c \in Clients : pc[c] = "holding"}

\* A holder is the first of the queue, and so the only holder whose node exists.
MutualExclusion ==
  /\ \A c, d \in Holders : own[c] \in nodes /\ own[d] \in nodes => c = d
  /\ \A c \in Holders : own[c] \in nodes => \A n \in nodes : own[c] <= n

\* A holder whose node is gone has an event that says so.
Told == \A c \in Holders : own[c] \in nodes \/ \E i \in 1..Len(inbox[c]) : inbox[c][i] = own[c]

\* A contender that waits is notified of what it waits for, or has an event to read.
NoLostWakeUp ==
  \A c \in alive : pc[c] = "waiting" => inbox[c] # <<>> \/ Watched(c) \subseteq watches[c] \cap nodes

\* A release wakes at most two other contenders.
NoHerd == \A n \in nodes : Cardinality({c \in alive : n \in watches[c] /\ own[c] # n}) <= 2
=============================================================================
