// The services of services.ts with Curator: LeaderLatch, InterProcessMutex and CuratorCache. A holder of the mutex does
// not rely on it while the connection is suspended, as Curator's documentation demands.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorServices {
    private static final int INSTANCES = 2;
    private static final CountDownLatch release = new CountDownLatch(1);
    private static final List<LeaderLatch> latches = new ArrayList<>();
    private static List<String> events = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[2]);
        for (int service = 0; service < count; service++)
            for (int instance = 0; instance < INSTANCES; instance++)
                start(args[0], args[1] + "/" + service, Integer.parseInt(args[3]), service, instance);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null;) {
            if (line.equals("release")) giveUp();
            System.out.println(line.equals("events") ? takeEvents() : "done");
            System.out.flush();
        }
        System.exit(0);
    }

    private static synchronized void record(int service, int instance, String kind, String value) {
        events.add(String.format("[%d,%d,%d,\"%s\",\"%s\"]", System.currentTimeMillis(), service, instance, kind, value));
    }

    private static synchronized String takeEvents() {
        List<String> taken = events;
        events = new ArrayList<>();
        return taken.toString();
    }

    private static void giveUp() throws Exception {
        release.countDown();
        for (LeaderLatch latch : latches) if (latch.hasLeadership()) latch.close(LeaderLatch.CloseMode.NOTIFY_LEADER);
    }

    private static void start(String servers, String path, int timeout, int service, int instance) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder().connectString(servers).sessionTimeoutMs(timeout)
            .connectionTimeoutMs(timeout).retryPolicy(new ExponentialBackoffRetry(50, 10, 1000)).build();
        AtomicBoolean holds = new AtomicBoolean();
        client.getConnectionStateListenable().addListener((same, state) -> {
            if (state.isConnected()) {
                try {
                    long id = client.getZookeeperClient().getZooKeeper().getSessionId();
                    record(service, instance, "session", Long.toString(id));
                } catch (Exception error) {
                    throw new IllegalStateException(error);
                }
            }
            if (holds.get()) record(service, instance, state.isConnected() ? "locks" : "unlocks", "");
            if (state == ConnectionState.LOST) holds.set(false);
        });
        client.start();
        LeaderLatch latch = new LeaderLatch(client, path + "/leader");
        latches.add(latch);
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {
                record(service, instance, "leads", "");
            }

            @Override
            public void notLeader() {
                record(service, instance, "stops", "");
            }
        });
        latch.start();
        CuratorCache cache = CuratorCache.build(client, path + "/configuration", CuratorCache.Options.SINGLE_NODE_CACHE);
        cache.listenable().addListener((type, before, after) -> {
            if (after != null) record(service, instance, "reads", new String(after.getData(), StandardCharsets.UTF_8));
        });
        cache.start();
        Thread thread = new Thread(() -> hold(client, path + "/lock", holds, service, instance));
        thread.setDaemon(true);
        thread.start();
    }

    private static void hold(CuratorFramework client, String path, AtomicBoolean holds, int service, int instance) {
        while (release.getCount() > 0) {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            try {
                mutex.acquire();
                holds.set(true);
                record(service, instance, "locks", "");
                while (holds.get() && !release.await(20, TimeUnit.MILLISECONDS));
                if (holds.getAndSet(false)) record(service, instance, "unlocks", "");
                mutex.release();
            } catch (Exception error) {
                try {
                    Thread.sleep(100);
                } catch (InterruptedException end) {
                    return;
                }
            }
        }
    }
}
