# A peer with its own session that uses kazoo. It reads one command per line from stdin and prints one line per command.
import datetime
import logging
import sys
import threading

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock, ReadLock, WriteLock

logging.basicConfig(level=logging.ERROR)
client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]) / 1000)
client.start()
locks = {}
queues = {}
double_barriers = {}
elections = {}
parties = {}


class SharedLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def lock(kind, path):
    if (kind, path) not in locks:
        make = {"lock": Lock, "shared": SharedLock, "read": ReadLock, "write": WriteLock}[kind]
        locks[kind, path] = make(client, path, "kazoo")
    return locks[kind, path]


def counter(kind, path):
    return client.Counter(path, support_curator=kind == "curator")


def lease(kind, path, argument):
    seconds, holder = argument.split(" ", 1)
    duration = datetime.timedelta(seconds=float(seconds))
    if kind == "single":
        return client.NonBlockingLease(path, duration, identifier=holder)
    return client.MultiNonBlockingLease(int(kind), path, duration, identifier=holder)


def queue(path):
    if path not in queues:
        queues[path] = client.LockingQueue(path)
    return queues[path]


def double_barrier(path, count):
    if path not in double_barriers:
        double_barriers[path] = client.DoubleBarrier(path, int(count))
    return double_barriers[path]


def party(kind, path, identifier=None):
    if (kind, path) not in parties:
        make = {"party": client.Party, "shallowParty": client.ShallowParty}[kind]
        parties[kind, path] = make(path, identifier)
    return parties[kind, path]


class Leading:
    """Runs an election, and leads until it is told to end."""

    def __init__(self, path):
        self.leads, self.stop = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=client.Election(path, "kazoo").run, args=(self.lead,))
        self.thread.start()
        self.leads.wait()

    def lead(self):
        self.leads.set()
        self.stop.wait()

    def end(self):
        self.stop.set()
        self.thread.join()


def execute(command, kind="", path="", argument=""):
    if command == "add":
        changed = counter(kind, path)
        changed += int(argument)
        return str(changed.post_value)
    if command == "get":
        return str(counter(kind, path).value)
    if command == "lease":
        return "obtained" if lease(kind, path, argument) else "refused"
    if command == "put":
        queue(path).put(argument.encode(), priority=int(kind))
        return "put"
    if command == "take":
        value = queue(path).get(timeout=float(argument))
        return "nothing" if value is None else value.decode()
    if command == "consume":
        return str(queue(path).consume())
    if command == "giveBack":
        return str(queue(path).release())
    if command == "session":
        return str(client.client_id[0])
    if command == "read":
        return client.get(path)[0].decode()
    if command == "write":
        client.set(path, argument.encode())
        return "written"
    if command == "raise":
        client.Barrier(path).create()
        return "raised"
    if command == "lower":
        return "lowered" if client.Barrier(path).remove() else "was down"
    if command == "wait":
        return "down" if client.Barrier(path).wait(float(argument) / 1000) else "up"
    if command == "enter":
        double_barrier(path, argument).enter()
        return str(double_barrier(path, argument).participating).lower()
    if command == "leave" and kind == "":
        double_barrier(path, argument).leave()
        return "true"
    if command == "join":
        party(kind, path, argument).join()
        return "joined"
    if command == "members":
        return ",".join(sorted(party(kind, path)))
    if command == "leave":
        parties.pop((kind, path)).leave()
        return "left"
    if command == "acquire" and kind == "election":
        elections[path] = Leading(path)
        return "leading"
    if command == "release" and kind == "election":
        elections.pop(path).end()
        return "released"
    if command == "acquire":
        # `node` is not part of kazoo's documented API.
        acquired = lock(kind, path)
        if not acquired.acquire(blocking=argument == ""):
            return "taken"
        return path + "/" + acquired.node
    if command == "release":
        lock(kind, path).release()
        return "released"
    if command == "contenders":
        return " ".join(lock(kind, path).contenders())
    raise ValueError(command)


for line in sys.stdin:
    try:
        reply = execute(*line.rstrip("\n").split(" ", 3))
    except Exception as error:
        reply = "!" + repr(error)
    print(reply, flush=True)
client.stop()
client.close()
