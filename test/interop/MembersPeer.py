# A peer with its own session that uses kazoo's Party and ShallowParty. It reads one command per line from stdin and
# prints one line per command.
import logging
import sys

from kazoo.client import KazooClient

logging.basicConfig(level=logging.ERROR)
client = KazooClient(hosts=sys.argv[1], timeout=int(sys.argv[2]) / 1000)
client.start()
parties = {}


def party(kind, path, identifier=None):
    if (kind, path) not in parties:
        make = {"party": client.Party, "shallowParty": client.ShallowParty}[kind]
        parties[kind, path] = make(path, identifier)
    return parties[kind, path]


def execute(command, kind="", path="", argument=""):
    if command == "session":
        return str(client.client_id[0])
    if command == "join":
        party(kind, path, argument).join()
        return "joined"
    if command == "members":
        return ",".join(sorted(party(kind, path)))
    if command == "leave":
        party(kind, path).leave()
        del parties[kind, path]
        return "left"
    raise ValueError(command)


for line in sys.stdin:
    try:
        reply = execute(*line.rstrip("\n").split(" ", 3))
    except Exception as error:
        reply = "!" + repr(error)
    print(reply, flush=True)
client.stop()
client.close()
