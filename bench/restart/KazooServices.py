# The services of services.ts with kazoo. By kazoo's documentation, the holder of a lock must not rely on it while the
# connection is suspended. So a leader stops then, and leads again when it is connected with the same session.
import json
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState

servers, root, count, timeout = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
INSTANCES = 2
events = []
guard = threading.Lock()
release = threading.Event()


def run(service, instance):
    path = "%s/%d" % (root, service)
    client = KazooClient(hosts=servers, timeout=timeout / 1000)
    holding = set()

    def record(kind, value=""):
        with guard:
            events.append([int(time.time() * 1000), service, instance, kind, value])

    names = {"leader": ("leads", "stops"), "lock": ("locks", "unlocks")}

    def on_state(state):
        connected = state == KazooState.CONNECTED
        if connected:
            record("session", str(client.client_id[0]))
        for name in list(holding):
            record(names[name][0 if connected else 1])
        if state == KazooState.LOST:
            holding.clear()

    client.add_listener(on_state)
    client.start(timeout=60)

    def hold(name):
        while not release.is_set():
            lock = client.Lock(path + "/" + name)
            try:
                lock.acquire()
            except Exception:
                time.sleep(0.1)
                continue
            holding.add(name)
            record(names[name][0])
            while name in holding and not release.is_set():
                time.sleep(0.02)
            if name in holding:
                holding.discard(name)
                record(names[name][1])
            try:
                lock.release()
            except Exception:
                pass
            if release.is_set():
                return

    for name in names:
        threading.Thread(target=hold, args=(name,), daemon=True).start()

    @client.DataWatch(path + "/configuration")
    def on_data(data, stat):
        if data is not None:
            record("reads", data.decode())


threads = [threading.Thread(target=run, args=(s, i), daemon=True) for s in range(count) for i in range(INSTANCES)]
for thread in threads:
    thread.start()
for line in sys.stdin:
    command = line.strip()
    if command == "release":
        release.set()
    if command == "events":
        with guard:
            reply, events[:] = json.dumps(events), []
    else:
        reply = "done"
    print(reply, flush=True)
