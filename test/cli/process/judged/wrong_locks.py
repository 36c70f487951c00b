# Wrong locks on kazoo's calls. The first argument is the mistake.
import logging
import os
import sys
import threading
import uuid

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import ConnectionLoss, NodeExistsError, NoNodeError, SessionExpiredError
from kazoo.protocol.states import EventType

logging.basicConfig(level=logging.CRITICAL)
MISTAKE = sys.argv[1]
HOSTS, LOCK, COPY = (os.environ[name] for name in ("ZK_HOSTS", "ZK_LOCK", "ZK_COPY"))

zk = KazooClient(hosts=HOSTS, timeout=10)
if MISTAKE != "kept":
    zk.add_listener(lambda state: print("lost") if state == KazooState.LOST else None)
zk.start()
zk.ensure_path(LOCK)


def retried(call, *args, **options):
    """Sends a request again until it has a reply, and never asks what became of the one before."""
    while True:
        try:
            return call(*args, **options)
        except (ConnectionLoss, SessionExpiredError):
            if zk.state == KazooState.LOST:
                raise
            zk.handler.sleep_func(0.05)


def created():
    """Creates a node whose name only this request knows, and looks for it after a lost reply."""
    prefix = uuid.uuid4().hex + "-n-"
    while True:
        try:
            return zk.create(LOCK + "/" + prefix, ephemeral=True, sequence=True)
        except ConnectionLoss:
            for name in zk.retry(zk.get_children, LOCK):
                if name.startswith(prefix):
                    return LOCK + "/" + name


def wait(own):
    while True:
        names = sorted(zk.retry(zk.get_children, LOCK), key=lambda name: name[-10:])
        at = names.index(own)
        if at == 0:
            return
        changed, events = threading.Event(), []
        if MISTAKE == "herd":
            if own != min(zk.retry(zk.get_children, LOCK, lambda event: changed.set()), key=lambda name: name[-10:]):
                changed.wait()
        else:
            try:
                # exists() would leave a watch on a node that is gone already.
                zk.retry(zk.get, LOCK + "/" + names[at - 1], lambda event: (events.append(event.type), changed.set()))
            except NoNodeError:
                continue
            changed.wait()
            if MISTAKE == "no-recheck" and events == [EventType.DELETED]:
                return


def acquire():
    if MISTAKE == "reused-name":
        # The node of a copy has its name, so it is found again after a lost reply. Whose session does it belong to?
        try:
            path = zk.create(LOCK + "/lock", COPY.encode(), ephemeral=True)
        except NodeExistsError:
            while True:
                gone = threading.Event()
                try:
                    if zk.get(LOCK + "/lock", lambda event: gone.set())[0] == COPY.encode():
                        return LOCK + "/lock"
                except NoNodeError:
                    return acquire()
                gone.wait()
        return path
    if MISTAKE == "lost-reply":
        path = retried(zk.create, LOCK + "/n-", ephemeral=True, sequence=True)
    else:
        path = created()
    wait(path.rsplit("/", 1)[1])
    return path


def release(path):
    try:
        zk.retry(zk.delete, path)
    except NoNodeError:
        pass


print("ready")
path = None
for line in sys.stdin:
    try:
        if line == "lock\n":
            path = acquire()
            print("in")
        else:
            release(path)
            print("out")
    except Exception as error:
        print("failed", repr(error))
zk.stop()
