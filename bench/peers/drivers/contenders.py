# The contenders of kazoo. lines.ts has the commands.
import logging
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.exceptions import LockTimeout

logging.basicConfig(level=logging.CRITICAL)
output = threading.Lock()


class Contender(threading.Thread):
    """A session, and the thread that waits for its locks."""

    def __init__(self, number):
        super().__init__(daemon=True)
        self.number = number
        self.commands = queue.Queue()
        self.locks = {}
        self.client = None
        self.lock = None

    def say(self, word, message=""):
        with output:
            print(("%s %s %d %s" % (word, self.number, time.monotonic_ns(), message)).rstrip(), flush=True)

    def run(self):
        while True:
            self.execute(self.commands.get())

    def execute(self, words):
        try:
            if words[0] == "open":
                self.client = KazooClient(hosts=words[2], timeout=int(words[3]) / 1000)
                self.client.start(timeout=60)
                self.say("opened")
            elif words[0] == "join":
                self.say("joining")
                self.join_queue(words[2], words[3], int(words[4]))
            elif words[0] == "leave":
                self.say("leaving")
                self.lock.release()
                self.say("left")
            else:
                self.client.stop()
                self.client.close()
                self.say("closed")
        except Exception as error:
            self.say("failed", repr(error).replace("\n", " "))

    def join_queue(self, recipe, path, patience):
        key = recipe + path
        if key not in self.locks:
            make = {
                "lock": self.client.Lock,
                "write": self.client.WriteLock,
                "read": self.client.ReadLock,
                "semaphore": self.client.Semaphore,
            }[recipe]
            self.locks[key] = make(path)
        self.lock = self.locks[key]
        try:
            held = self.lock.acquire(timeout=patience / 1000 if patience else None)
        except LockTimeout:
            held = False
        self.say("held" if held else "gaveup")


contenders = {}
for line in sys.stdin:
    words = line.split()
    if words[1] not in contenders:
        contenders[words[1]] = Contender(words[1])
        contenders[words[1]].start()
    if words[0] == "close":
        # Its own thread may wait for a lock.
        threading.Thread(target=contenders[words[1]].execute, args=(words,), daemon=True).start()
    else:
        contenders[words[1]].commands.put(words)
