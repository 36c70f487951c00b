# A peer with its own session that uses kazoo. It reads one command per line from stdin and prints one line per command.
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


def execute(command, kind="", path="", argument=""):
    if command == "session":
        return str(client.client_id[0])
    if command == "read":
        return client.get(path)[0].decode()
    if command == "write":
        client.set(path, argument.encode())
        return "written"
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
