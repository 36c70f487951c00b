# A lock of kazoo, as `zkwire judge` runs it. With the argument `reads`, it reads its node before it releases the lock.
import logging
import os
import sys

from kazoo.client import KazooClient, KazooState

logging.basicConfig(level=logging.CRITICAL)
zk = KazooClient(hosts=os.environ["ZK_HOSTS"], timeout=10)
zk.add_listener(lambda state: print("lost") if state == KazooState.LOST else None)
zk.start()
lock = zk.Lock(os.environ["ZK_LOCK"], os.environ["ZK_COPY"])
print("ready")
for line in sys.stdin:
    try:
        if line == "lock\n":
            lock.acquire()
            print("in")
        else:
            if sys.argv[1:] == ["reads"]:
                zk.get(lock.path + "/" + lock.node)
            lock.release()
            print("out")
    except Exception as error:
        print("failed", repr(error))
        lock = zk.Lock(os.environ["ZK_LOCK"], os.environ["ZK_COPY"])
zk.stop()
