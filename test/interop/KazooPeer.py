# One contender of kazoo, with a session of its own: does what it is told, one line for another.
import logging
import sys

from kazoo.client import KazooClient

logging.basicConfig(level=logging.ERROR)
client = KazooClient(hosts=sys.argv[1], timeout=6.0)
client.start()
locks = {}


def lock(kind, path):
    if (kind, path) not in locks:
        make = {"lock": client.Lock, "read": client.ReadLock, "write": client.WriteLock}[kind]
        locks[kind, path] = make(path, "kazoo")
    return locks[kind, path]


def answer(what, kind="", path="", more=""):
    if what == "session":
        return str(client.client_id[0])
    if what == "read":
        return client.get(path)[0].decode()
    if what == "write":
        client.set(path, more.encode())
        return "written"
    if what == "acquire":
        # The node's own name kazoo keeps to itself.
        got = lock(kind, path)
        if not got.acquire(blocking=more == ""):
            return "taken"
        return path + "/" + got.node
    if what == "release":
        lock(kind, path).release()
        return "released"
    if what == "contenders":
        return " ".join(lock(kind, path).contenders())
    raise ValueError(what)


for line in sys.stdin:
    try:
        said = answer(*line.rstrip("\n").split(" ", 3))
    except Exception as error:
        said = "!" + repr(error)
    print(said, flush=True)
client.stop()
client.close()
