# Uses kazoo's features on the server given as the argument, and prints one line per outcome. Values that differ between
# runs are left out.
import logging
import sys
import threading

from kazoo.client import KazooClient
from kazoo.exceptions import KazooException
from kazoo.security import CREATOR_ALL_ACL, make_acl, make_digest_acl

logging.basicConfig(level=logging.ERROR)
PATIENCE = 10


def client(**more):
    made = KazooClient(hosts=sys.argv[1], timeout=6.0, **more)
    made.start(PATIENCE)
    return made


def say(*words):
    print(*words, flush=True)


def stat(of):
    return "version %d.%d.%d, %d bytes, %d children, %s" % (
        of.version,
        of.cversion,
        of.aversion,
        of.dataLength,
        of.numChildren,
        "ephemeral" if of.ephemeralOwner else "persistent",
    )


def outcome(what, *args, **more):
    try:
        return what(*args, **more)
    except KazooException as error:
        return type(error).__name__


class Events:
    """A watch callback that queues its events."""

    def __init__(self):
        self.events = []
        self.arrived = threading.Condition()

    def __call__(self, *event):
        with self.arrived:
            self.events.append(event)
            self.arrived.notify()

    def next(self):
        with self.arrived:
            if not self.arrived.wait_for(lambda: self.events, PATIENCE):
                raise TimeoutError("the watch was not notified")
            return self.events.pop(0)


zk = client()
other = client()
say("version", zk.server_version()[:2], "ruok", zk.command(b"ruok"))

# Nodes.
zk.ensure_path("/k/a/b")
say(zk.create("/k/e", b"x", ephemeral=True), zk.create("/k/s-", sequence=True), zk.create("/k/s-", sequence=True, ephemeral=True))
say(zk.create("/k/deep/er", b"y", makepath=True, include_data=True)[0])
data, found = zk.get("/k/e")
say(data, stat(found), found.ephemeralOwner == zk.client_id[0], stat(zk.exists("/k")))
say(stat(zk.set("/k/a", b"longer")), outcome(zk.set, "/k/a", b"", version=7), outcome(zk.create, "/k/a"))
say(sorted(zk.get_children("/k")), stat(zk.get_children("/k", include_data=True)[1]))
say(outcome(zk.delete, "/k/a"), outcome(zk.delete, "/k/nothing"), outcome(zk.create, "/k/e/child"), zk.exists("/k/nothing"))
say(zk.sync("/k"), outcome(zk.get, "/k/nothing"))

# Transactions.
transaction = zk.transaction()
transaction.create("/k/t", b"t")
transaction.set_data("/k/t", b"tt", version=0)
transaction.check("/k/t", 1)
transaction.delete("/k/deep/er")
created, changed, checked, deleted = transaction.commit()
say(created, stat(changed), checked, deleted)
transaction = zk.transaction()
transaction.create("/k/u")
transaction.delete("/k/nothing")
transaction.create("/k/v")
say([type(each).__name__ for each in transaction.commit()], zk.exists("/k/u"))

# Permissions.
zk.add_auth("digest", "ann:secret")
zk.create("/k/mine", b"", acl=[make_digest_acl("ann", "secret", all=True)])
say(outcome(other.get, "/k/mine"), zk.get("/k/mine")[0], zk.get_acls("/k/mine")[0][0].id.id.split(":")[0])
zk.create("/k/creator", b"", acl=CREATOR_ALL_ACL)
say(zk.get_acls("/k/creator")[0], outcome(other.get, "/k/creator"))
say(stat(zk.set_acls("/k/mine", [make_acl("world", "anyone", read=True), make_digest_acl("ann", "secret", all=True)])))
say(other.get("/k/mine")[0], other.get_acls("/k/mine")[0][1].id.id, outcome(other.set, "/k/mine", b""))

# Watches.
events = Events()
zk.get("/k/t", watch=events)
zk.get_children("/k/t", watch=events)
zk.exists("/k/w", watch=events)
other.set("/k/t", b"")
say(events.next()[0])
other.create("/k/t/child")
say(events.next()[0])
other.create("/k/w")
say(events.next()[0])

data_events, child_events = Events(), Events()
zk.DataWatch("/k/d")(lambda data, stat, event: data_events(data, event and event.type))
zk.ChildrenWatch("/k/t")(lambda children: child_events(sorted(children)))
say(data_events.next(), child_events.next())
for act in (lambda: other.create("/k/d", b"1"), lambda: other.set("/k/d", b"2"), lambda: other.delete("/k/d")):
    act()
    say(data_events.next())
other.create("/k/t/another")
say(child_events.next())

# Recipes.
with zk.Lock("/k/lock", "one"):
    waiting = other.Lock("/k/lock", "two")
    say("lock", outcome(waiting.acquire, blocking=False), zk.Lock("/k/lock").contenders())
say("lock", waiting.acquire(timeout=PATIENCE), waiting.release())
with zk.Semaphore("/k/semaphore", max_leases=2), other.Semaphore("/k/semaphore", max_leases=2):
    say("semaphore", zk.Semaphore("/k/semaphore", max_leases=2).acquire(blocking=False))
counter = zk.Counter("/k/counter")
counter += 2
say("counter", counter.value)
queue = zk.Queue("/k/queue")
for each in (b"1", b"2"):
    queue.put(each)
say("queue", queue.get(), len(queue), queue.get(), queue.get())
locking = zk.LockingQueue("/k/locking")
locking.put(b"z")
say("locking queue", locking.get(PATIENCE), locking.consume())
party = zk.Party("/k/party", "ann")
party.join()
say("party", list(other.Party("/k/party")), party.leave(), list(other.Party("/k/party")))
barrier = zk.Barrier("/k/barrier")
barrier.create()
say("barrier", other.Barrier("/k/barrier").wait(0.01), barrier.remove(), other.Barrier("/k/barrier").wait(PATIENCE))
zk.Election("/k/election", "ann").run(lambda: say("election", other.Election("/k/election").contenders()))

# The end of a session, and a new one.
deleted = Events()
other.exists("/k/e", watch=deleted)
zk.stop()
say(deleted.next()[0], other.exists("/k/e"))
zk.start(PATIENCE)
zk.delete("/k", recursive=True)
say(other.exists("/k"))
for each in (zk, other):
    each.stop()
    each.close()
