// Drives ZooKeeper's own client. Reads one step per line from stdin. capture-golden.ts records the frames.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.AddWatchMode;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.Event.EventType;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.admin.ZooKeeperAdmin;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Id;
import org.apache.zookeeper.data.Stat;

public final class GoldenClient {
    private static final int LONG = 40_000;
    private static final int PATIENCE = 20;

    private static final class Client implements AutoCloseable {
        final BlockingQueue<WatchedEvent> events = new LinkedBlockingQueue<>();
        final Watcher watcher = events::add;
        ZooKeeper keeper;

        ZooKeeper get() {
            return keeper;
        }

        void await(EventType type, KeeperState state) throws Exception {
            while (true) {
                WatchedEvent event = events.poll(PATIENCE, TimeUnit.SECONDS);
                if (event == null) {
                    throw new TimeoutException("no " + type + " " + state);
                }
                if (event.getType() == type && event.getState() == state) {
                    return;
                }
            }
        }

        void await(EventType type) throws Exception {
            await(type, KeeperState.SyncConnected);
        }

        @Override
        public void close() throws InterruptedException {
            keeper.close();
        }
    }

    /** The address of the recording proxy. */
    private static String recorded;

    /** The address of the server itself. */
    private static String direct;

    private static Client client;
    private static Client other;

    public static void main(String[] args) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String answer = "done";
            try {
                step(line.split(" "));
            } catch (KeeperException e) {
                answer = e.code().name();
            } catch (Exception e) {
                answer = "! " + e;
            }
            System.out.println(answer);
        }
        // The threads of clients that were not closed would keep the process alive.
        System.exit(0);
    }

    private static Client open(String address, int timeout) throws Exception {
        Client opened = new Client();
        opened.keeper = new ZooKeeper(address, timeout, opened.watcher);
        opened.await(EventType.None);
        return opened;
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void step(String[] words) throws Exception {
        ZooKeeper zk = client == null ? null : client.get();
        ZooKeeper past = other == null ? null : other.get();
        switch (words[0]) {
            case "through":
                recorded = words[1];
                direct = words[2];
                other = open(direct, LONG);
                break;
            case "connect":
                client = open(recorded, LONG);
                break;
            case "connect-readOnly":
                try (ZooKeeper willing = new ZooKeeper(recorded, LONG, event -> { }, true)) {
                    willing.exists("/", false);
                }
                break;
            case "closeSession":
                client.close();
                break;

            case "create":
                zk.create("/golden", bytes("hello"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                break;
            case "create-exists":
                zk.create("/golden", bytes("hello"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                break;
            case "create-sequential":
                zk.create("/golden/s-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_SEQUENTIAL);
                break;
            case "create-null":
                zk.create("/golden/null", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                break;
            case "create-empty":
                zk.create("/golden/empty", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                break;
            case "create2":
                zk.create("/golden/e-", bytes("\u017c\u00f3\u0142w"), Ids.OPEN_ACL_UNSAFE,
                        CreateMode.EPHEMERAL_SEQUENTIAL, new Stat());
                break;
            case "createContainer":
                zk.create("/golden/container", null, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER, new Stat());
                break;
            case "createTTL":
                zk.create("/ttl", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT_WITH_TTL, new Stat(), 86_400_000);
                break;

            case "exists":
                zk.exists("/golden", false);
                break;
            case "exists-absent":
                zk.exists("/golden/absent", client.watcher);
                break;
            case "getData":
                zk.getData("/golden", false, new Stat());
                break;
            case "getData-null":
                zk.getData("/golden/null", false, new Stat());
                break;
            case "getData-empty":
                zk.getData("/golden/empty", false, new Stat());
                break;
            case "getData-absent":
                zk.getData("/golden/absent", false, new Stat());
                break;
            case "setData":
                zk.setData("/golden", bytes("hello again"), 0);
                break;
            case "setData-badVersion":
                zk.setData("/golden", null, 7);
                break;
            case "getChildren":
                zk.getChildren("/golden", false);
                break;
            case "getChildren-none":
                zk.getChildren("/golden/null", false);
                break;
            case "getChildren2":
                zk.getChildren("/golden", false, new Stat());
                break;
            case "getAllChildrenNumber":
                zk.getAllChildrenNumber("/golden");
                break;
            case "getEphemerals":
                zk.getEphemerals("/golden");
                break;
            case "getEphemerals-none":
                zk.getEphemerals("/elsewhere");
                break;
            case "delete":
                zk.delete("/golden/empty", -1);
                break;
            case "delete-notEmpty":
                zk.delete("/golden", -1);
                break;
            case "sync":
                CountDownLatch synced = new CountDownLatch(1);
                zk.sync("/golden", (rc, path, context) -> synced.countDown(), null);
                if (!synced.await(PATIENCE, TimeUnit.SECONDS)) {
                    throw new TimeoutException("no sync");
                }
                break;

            case "addAuth":
                zk.addAuthInfo("digest", bytes("golden:frame"));
                // The reply to credentials has no callback. The reply to a later request arrives after it.
                zk.exists("/", false);
                break;
            case "addAuth-unknown":
                try (Client unlucky = open(recorded, LONG)) {
                    unlucky.get().addAuthInfo("no-such-scheme", bytes("golden:frame"));
                    unlucky.await(EventType.None, KeeperState.AuthFailed);
                }
                break;
            case "whoAmI":
                zk.whoAmI();
                break;
            case "getACL":
                zk.getACL("/golden", new Stat());
                break;
            case "setACL":
                zk.setACL("/golden/null", Arrays.asList(
                        new ACL(Perms.READ, Ids.ANYONE_ID_UNSAFE),
                        new ACL(Perms.ALL, new Id("ip", "127.0.0.1")),
                        new ACL(Perms.ALL, Ids.AUTH_IDS)), 0);
                break;
            case "getACL-again":
                zk.getACL("/golden/null", new Stat());
                break;
            case "reconfig-disabled":
                try (ZooKeeperAdmin admin = new ZooKeeperAdmin(recorded, LONG, event -> { })) {
                    admin.reconfigure("server.2=localhost:2888:3888", null, null, -1, new Stat());
                }
                break;
            case "getConfig":
                zk.getConfig(false, new Stat());
                break;

            case "multi":
                zk.multi(List.of(
                        Op.create("/golden/m", bytes("m"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                        Op.setData("/golden/m", bytes("mm"), 0),
                        Op.check("/golden/m", 1),
                        Op.delete("/golden/m", 1),
                        Op.create("/golden/mc", null, Ids.OPEN_ACL_UNSAFE, CreateMode.CONTAINER)));
                break;
            case "multi-failed":
                zk.multi(List.of(
                        Op.create("/golden/m", bytes("m"), Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT),
                        Op.check("/golden", 77),
                        Op.delete("/golden/null", -1)));
                break;
            case "multiRead":
                zk.multi(List.of(Op.getData("/golden"), Op.getChildren("/golden"), Op.getData("/golden/absent")));
                break;

            case "watch-data":
                zk.getData("/golden", client.watcher, new Stat());
                break;
            case "watch-children":
                zk.getChildren("/golden/null", client.watcher);
                break;
            case "event-NodeDataChanged":
                past.setData("/golden", bytes("changed"), -1);
                client.await(EventType.NodeDataChanged);
                break;
            case "event-NodeChildrenChanged":
                past.create("/golden/container/x", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                client.await(EventType.NodeChildrenChanged);
                break;
            case "watch-container":
                zk.getChildren("/golden/container", client.watcher);
                break;
            case "event-NodeCreated":
                past.create("/golden/absent", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                client.await(EventType.NodeCreated);
                break;
            case "watch-created":
                zk.exists("/golden/absent", client.watcher);
                break;
            case "event-NodeDeleted":
                past.delete("/golden/absent", -1);
                client.await(EventType.NodeDeleted);
                break;
            case "checkWatches":
                zk.removeWatches("/golden/null", client.watcher, WatcherType.Children, false);
                break;
            case "removeWatches":
                zk.removeAllWatches("/golden", WatcherType.Any, false);
                break;
            case "removeWatches-noWatcher":
                zk.removeAllWatches("/golden", WatcherType.Data, false);
                break;
            case "addWatch-persistent":
                zk.addWatch("/golden/container", client.watcher, AddWatchMode.PERSISTENT);
                break;
            case "addWatch-recursive":
                zk.addWatch("/golden", client.watcher, AddWatchMode.PERSISTENT_RECURSIVE);
                break;
            case "event-recursive":
                past.setData("/golden/container/x", bytes("x"), -1);
                client.await(EventType.NodeDataChanged);
                break;

            // The recorder holds back all frames between these two steps, then closes the connection.
            case "change-unseen":
                past.setData("/golden", bytes("unseen"), -1);
                past.create("/golden/absent", null, Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
                break;
            case "reconnect":
                client.await(EventType.NodeDataChanged);
                client.await(EventType.NodeCreated);
                break;
            case "reconnect-persistent":
                client.await(EventType.None);
                // The server sends the missed events before its reply to this.
                zk.exists("/", false);
                break;

            case "ping":
                try (Client patient = open(recorded, 3000)) {
                    Thread.sleep(1500);
                }
                break;
            case "session-gone":
                Client late = new Client();
                late.keeper = new ZooKeeper(recorded, LONG, late.watcher, 0x1234567890abcdefL, new byte[16]);
                late.await(EventType.None, KeeperState.Expired);
                break;
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }
}
