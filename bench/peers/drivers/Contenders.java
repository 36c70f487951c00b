// The contenders of Apache Curator, or of WriteLock, the recipe in ZooKeeper's own sources. lines.ts has the commands.
// Argument: curator or zookeeper.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.recipes.lock.LockListener;
import org.apache.zookeeper.recipes.lock.WriteLock;

public class Contenders {
    private static final Map<String, Contender> contenders = new HashMap<>();

    public static void main(String[] args) throws Exception {
        boolean isCurator = args[0].equals("curator");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null;) {
            String[] words = line.split(" ");
            Contender contender = contenders.computeIfAbsent(words[1],
                number -> isCurator ? new OfCurator(number) : new OfZooKeeper(number));
            if (words[0].equals("close")) contender.executor.shutdownNow();
            (words[0].equals("close") ? contender.closer : contender.executor).submit(() -> execute(contender, words));
        }
        System.exit(0);
    }

    private static void execute(Contender contender, String[] words) {
        try {
            switch (words[0]) {
                case "open":
                    contender.open(words[2], Integer.parseInt(words[3]));
                    contender.say("opened");
                    break;
                case "join":
                    contender.say("joining");
                    contender.join(words[2], words[3], Long.parseLong(words[4]));
                    break;
                case "leave":
                    contender.say("leaving");
                    contender.leave();
                    contender.say("left");
                    break;
                default:
                    contender.close();
                    contender.closer.shutdown();
                    contender.say("closed");
            }
        } catch (Throwable error) {
            contender.say("failed", " " + error.toString().replace('\n', ' '));
        }
    }

    /** A session. Its locks belong to one thread, as InterProcessMutex demands. */
    private abstract static class Contender {
        final ExecutorService executor = Executors.newSingleThreadExecutor();
        final ExecutorService closer = Executors.newSingleThreadExecutor();
        private final String number;

        Contender(String number) {
            this.number = number;
        }

        void say(String word) {
            say(word, "");
        }

        void say(String word, String message) {
            String line = word + " " + number + " " + System.nanoTime() + message;
            synchronized (System.out) {
                System.out.println(line);
                System.out.flush();
            }
        }

        abstract void open(String address, int timeout) throws Exception;

        abstract void join(String recipe, String path, long patience) throws Exception;

        abstract void leave() throws Exception;

        abstract void close() throws Exception;
    }

    private interface Release {
        void run() throws Exception;
    }

    private static class OfCurator extends Contender {
        private final Map<String, Object> recipes = new HashMap<>();
        private CuratorFramework client;
        private Release release;

        OfCurator(String number) {
            super(number);
        }

        @Override
        void open(String address, int timeout) throws Exception {
            // By default Curator writes the address of the machine into each node, whose length differs.
            client = CuratorFrameworkFactory.builder().connectString(address).sessionTimeoutMs(timeout)
                .connectionTimeoutMs(15000).retryPolicy(new ExponentialBackoffRetry(50, 10, 1000))
                .defaultData("127.0.0.1".getBytes(StandardCharsets.UTF_8)).build();
            client.start();
            client.blockUntilConnected();
        }

        @Override
        void join(String recipe, String path, long patience) throws Exception {
            release = acquire(recipe, path, patience == 0 ? Long.MAX_VALUE / 1_000_000 : patience);
            say(release == null ? "gaveup" : "held");
        }

        private Release acquire(String recipe, String path, long patience) throws Exception {
            if (recipe.equals("latch")) {
                LeaderLatch latch = new LeaderLatch(client, path);
                latch.start();
                if (latch.await(patience, TimeUnit.MILLISECONDS)) return latch::close;
                latch.close();
                return null;
            }
            if (recipe.equals("semaphore")) {
                InterProcessSemaphoreV2 semaphore = (InterProcessSemaphoreV2) recipes.computeIfAbsent(recipe + path,
                    key -> new InterProcessSemaphoreV2(client, path, 1));
                Lease lease = semaphore.acquire(patience, TimeUnit.MILLISECONDS);
                return lease == null ? null : lease::close;
            }
            InterProcessLock lock = (InterProcessLock) recipes.computeIfAbsent(recipe + path, key -> {
                if (recipe.equals("mutex")) return new InterProcessMutex(client, path);
                InterProcessReadWriteLock pair = new InterProcessReadWriteLock(client, path);
                return recipe.equals("read") ? pair.readLock() : pair.writeLock();
            });
            return lock.acquire(patience, TimeUnit.MILLISECONDS) ? lock::release : null;
        }

        @Override
        void leave() throws Exception {
            release.run();
        }

        @Override
        void close() {
            client.close();
        }
    }

    private static class OfZooKeeper extends Contender {
        private final Map<String, WriteLock> locks = new HashMap<>();
        private ZooKeeper client;
        private WriteLock current;
        private volatile boolean isHeld;

        OfZooKeeper(String number) {
            super(number);
        }

        @Override
        void open(String address, int timeout) throws Exception {
            CountDownLatch connected = new CountDownLatch(1);
            client = new ZooKeeper(address, timeout, event -> {
                if (event.getState() == Watcher.Event.KeeperState.SyncConnected) connected.countDown();
            });
            connected.await();
        }

        @Override
        void join(String recipe, String path, long patience) throws Exception {
            current = locks.computeIfAbsent(path, key -> new WriteLock(client, path, null, new LockListener() {
                @Override
                public void lockAcquired() {
                    isHeld = true;
                    say("held");
                }

                @Override
                public void lockReleased() {
                    isHeld = false;
                }
            }));
            current.lock();
            if (patience == 0) return;
            Thread.sleep(patience);
            if (isHeld) return;
            current.unlock();
            say("gaveup");
        }

        @Override
        void leave() {
            current.unlock();
        }

        @Override
        void close() throws Exception {
            client.close();
        }
    }
}
