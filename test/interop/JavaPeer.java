// A peer with its own session that uses Apache Curator, or WriteLock, ZooKeeper's own recipe. It reads one command per
// line from stdin and prints one line per command.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.AtomicValue;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicInteger;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.recipes.nodes.GroupMember;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.curator.x.discovery.ServiceDiscovery;
import org.apache.curator.x.discovery.ServiceDiscoveryBuilder;
import org.apache.curator.x.discovery.ServiceInstance;
import org.apache.curator.x.discovery.ServiceProvider;
import org.apache.curator.x.discovery.UriSpec;
import org.apache.curator.x.discovery.details.JsonInstanceSerializer;
import org.apache.zookeeper.recipes.lock.WriteLock;

public class JavaPeer {
    /** The payload of an instance, as Spring Cloud's ZookeeperInstance is. */
    public static class Payload {
        public String text;
        public int weight;
    }

    private static CuratorFramework client;
    private static final Map<String, InterProcessLock> locks = new HashMap<>();
    private static final Map<String, InterProcessReadWriteLock> pairs = new HashMap<>();
    private static final Map<String, InterProcessSemaphoreV2> semaphores = new HashMap<>();
    private static final Map<String, Lease> leases = new HashMap<>();
    private static final Map<String, LeaderLatch> latches = new HashMap<>();
    private static final Map<String, Selector> selectors = new HashMap<>();
    private static final Map<String, DistributedDoubleBarrier> doubleBarriers = new HashMap<>();
    private static final Map<String, WriteLock> writeLocks = new HashMap<>();
    private static final Map<String, GroupMember> groups = new HashMap<>();
    private static final Map<String, ServiceDiscovery<Payload>> discoveries = new HashMap<>();
    private static final Map<String, ServiceInstance<Payload>> instances = new HashMap<>();
    private static final Map<String, ServiceProvider<Payload>> providers = new HashMap<>();
    private static final CountDownLatch revoked = new CountDownLatch(1);

    public static void main(String[] args) throws Exception {
        client = CuratorFrameworkFactory.builder().connectString(args[0]).sessionTimeoutMs(Integer.parseInt(args[1]))
            .retryPolicy(new ExponentialBackoffRetry(50, 10)).build();
        client.start();
        client.blockUntilConnected();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = commands.readLine()) != null;) {
            String reply;
            try {
                String[] words = line.split(" ", 4);
                reply = execute(words[0], words.length > 1 ? words[1] : "", words.length > 2 ? words[2] : "", words.length > 3 ? words[3] : "");
            } catch (Throwable error) {
                reply = "!" + error.toString().replace('\n', ' ');
            }
            System.out.println(reply);
            System.out.flush();
        }
        client.close();
    }

    private static String execute(String command, String kind, String path, String argument) throws Exception {
        switch (command) {
            case "session":
                return Long.toString(client.getZookeeperClient().getZooKeeper().getSessionId());
            case "read":
                return new String(client.getData().forPath(path), StandardCharsets.UTF_8);
            case "write":
                client.setData().forPath(path, argument.getBytes(StandardCharsets.UTF_8));
                return "written";
            case "acquire":
                return acquire(kind, path, argument.isEmpty() ? -1 : Long.parseLong(argument));
            case "release":
                release(kind, path);
                return "released";
            case "revocable":
                ((InterProcessMutex) lock(kind, path)).makeRevocable(lock -> revoked.countDown());
                return "revocable";
            case "revoked":
                return Boolean.toString(revoked.await(10, TimeUnit.SECONDS));
            case "revoke":
                Revoker.attemptRevoke(client, path);
                return "asked";
            case "add":
                return add(kind, path, Long.parseLong(argument));
            case "get":
                return get(kind, path);
            case "raise":
                new DistributedBarrier(client, path).setBarrier();
                return "raised";
            case "lower":
                new DistributedBarrier(client, path).removeBarrier();
                return "lowered";
            case "wait":
                return new DistributedBarrier(client, path).waitOnBarrier(Long.parseLong(argument), TimeUnit.MILLISECONDS) ? "down" : "up";
            case "enter":
                // A late event of leave() would end the next enter() of the same object, before all members are there.
                doubleBarriers.put(path, new DistributedDoubleBarrier(client, path, Integer.parseInt(argument)));
                return Boolean.toString(doubleBarriers.get(path).enter(10, TimeUnit.SECONDS));
            case "leave":
                if (!kind.equals("group")) return Boolean.toString(doubleBarriers.get(path).leave(10, TimeUnit.SECONDS));
                groups.remove(path).close();
                return "left";
            case "leads":
                return Boolean.toString(latches.get(path).hasLeadership());
            case "leader":
                return latch(path).getLeader().getId();
            case "join":
                String[] idAndData = (argument + " ").split(" ", -1);
                GroupMember member = new GroupMember(client, path, idAndData[0], idAndData[1].getBytes(StandardCharsets.UTF_8));
                groups.put(path, member);
                member.start();
                return "joined";
            case "members":
                return new TreeMap<>(groups.get(path).getCurrentMembers()).entrySet().stream()
                    .map(each -> each.getKey() + "=" + new String(each.getValue(), StandardCharsets.UTF_8))
                    .collect(Collectors.joining(","));
            case "setData":
                groups.get(path).setThisData(argument.getBytes(StandardCharsets.UTF_8));
                return "set";
            case "register":
                Payload payload = new Payload();
                payload.text = argument;
                payload.weight = 3;
                ServiceInstance<Payload> instance = ServiceInstance.<Payload>builder().name(kind).id("java").address("10.0.0.1")
                    .port(8080).payload(payload).uriSpec(new UriSpec("{scheme}://{address}:{port}")).build();
                instances.put(kind, instance);
                discovery(path).registerService(instance);
                return Long.toString(instance.getRegistrationTimeUTC());
            case "unregister":
                discovery(path).unregisterService(instances.remove(kind));
                return "unregistered";
            case "names":
                return discovery(path).queryForNames().stream().sorted().collect(Collectors.joining(","));
            case "instances":
                return discovery(path).queryForInstances(kind).stream().map(JavaPeer::describe).sorted().collect(Collectors.joining(","));
            case "choose":
                ServiceProvider<Payload> provider = providers.get(path + kind);
                if (provider == null) {
                    provider = discovery(path).serviceProviderBuilder().serviceName(kind).build();
                    provider.start();
                    providers.put(path + kind, provider);
                }
                ServiceInstance<Payload> chosen = provider.getInstance();
                return chosen == null ? "none" : describe(chosen);
            default:
                throw new IllegalArgumentException(command);
        }
    }

    private static String add(String kind, String path, long delta) throws Exception {
        ExponentialBackoffRetry retry = new ExponentialBackoffRetry(5, 20);
        switch (kind) {
            case "long":
                return succeeded(new DistributedAtomicLong(client, path, retry).add(delta));
            case "integer":
                return succeeded(new DistributedAtomicInteger(client, path, retry).add((int) delta));
            case "count":
                try (SharedCount count = new SharedCount(client, path, 0)) {
                    count.start();
                    for (;;) {
                        int next = count.getVersionedValue().getValue() + (int) delta;
                        if (count.trySetCount(count.getVersionedValue(), next)) return Integer.toString(next);
                    }
                }
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static String get(String kind, String path) throws Exception {
        ExponentialBackoffRetry retry = new ExponentialBackoffRetry(5, 20);
        switch (kind) {
            case "long":
                return new DistributedAtomicLong(client, path, retry).get().postValue().toString();
            case "integer":
                return new DistributedAtomicInteger(client, path, retry).get().postValue().toString();
            case "count":
                try (SharedCount count = new SharedCount(client, path, 0)) {
                    count.start();
                    return Integer.toString(count.getCount());
                }
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    private static String succeeded(AtomicValue<?> value) {
        if (!value.succeeded()) throw new IllegalStateException("the value was not changed");
        return value.postValue().toString();
    }

    /**
     * Returns the path of the holder's node if Curator exposes it, otherwise "held" or "leading"; "taken" if the time
     * ran out.
     */
    private static String acquire(String kind, String path, long millis) throws Exception {
        if (kind.equals("latch")) {
            LeaderLatch latch = latch(path);
            latch.start();
            latch.await();
            return "leading";
        }
        if (kind.equals("selector")) {
            Selector selector = selectors.computeIfAbsent(path, key -> new Selector(client, path));
            selector.leading.await();
            return "leading";
        }
        if (kind.startsWith("semaphore:")) {
            InterProcessSemaphoreV2 semaphore = semaphores.computeIfAbsent(kind + path,
                key -> new InterProcessSemaphoreV2(client, path, Integer.parseInt(kind.substring("semaphore:".length()))));
            Lease lease = millis < 0 ? semaphore.acquire() : semaphore.acquire(millis, TimeUnit.MILLISECONDS);
            if (lease == null) return "taken";
            leases.put(kind + path, lease);
            return path + "/leases/" + lease.getNodeName();
        }
        if (kind.equals("zookeeper")) {
            WriteLock lock = writeLock(path);
            // Retry in a loop, because WriteLock is not woken if its predecessor is deleted between its list and its
            // watch.
            while (!lock.lock()) Thread.sleep(5);
            return lock.getId();
        }
        InterProcessLock lock = lock(kind, path);
        if (millis < 0) lock.acquire();
        else if (!lock.acquire(millis, TimeUnit.MILLISECONDS)) return "taken";
        return lock instanceof InterProcessMutex ? nodeOf((InterProcessMutex) lock) : "held";
    }

    private static void release(String kind, String path) throws Exception {
        if (kind.equals("latch")) latches.remove(path).close();
        else if (kind.equals("selector")) selectors.remove(path).close();
        else if (kind.startsWith("semaphore:")) leases.remove(kind + path).close();
        else if (kind.equals("zookeeper")) writeLock(path).unlock();
        else lock(kind, path).release();
    }

    private static InterProcessLock lock(String kind, String path) {
        return locks.computeIfAbsent(kind + path, key -> {
            switch (kind) {
                case "mutex":
                    return new InterProcessMutex(client, path);
                case "semaphoreMutex":
                    return new InterProcessSemaphoreMutex(client, path);
                case "read":
                    return pair(path).readLock();
                case "write":
                    return pair(path).writeLock();
                default:
                    throw new IllegalArgumentException(kind);
            }
        });
    }

    private static InterProcessReadWriteLock pair(String path) {
        return pairs.computeIfAbsent(path, key -> new InterProcessReadWriteLock(client, path));
    }

    private static WriteLock writeLock(String path) throws Exception {
        var zookeeper = client.getZookeeperClient().getZooKeeper();
        return writeLocks.computeIfAbsent(path, key -> new WriteLock(zookeeper, path, null));
    }

    /** Leads until it is closed. */
    private static final class Selector extends LeaderSelectorListenerAdapter {
        final CountDownLatch leading = new CountDownLatch(1);
        private final CountDownLatch closing = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final LeaderSelector selector;

        Selector(CuratorFramework client, String path) {
            selector = new LeaderSelector(client, path, this);
            selector.start();
        }

        @Override
        public void takeLeadership(CuratorFramework client) throws Exception {
            leading.countDown();
            closing.await();
            ended.countDown();
        }

        void close() throws Exception {
            closing.countDown();
            ended.await();
            while (selector.hasLeadership()) Thread.sleep(1);
            selector.close();
        }
    }

    private static LeaderLatch latch(String path) throws Exception {
        return latches.computeIfAbsent(path, key -> new LeaderLatch(client, path, "curator"));
    }

    /** getLockPath() is protected in Curator. */
    private static String nodeOf(InterProcessMutex mutex) throws Exception {
        var method = InterProcessMutex.class.getDeclaredMethod("getLockPath");
        method.setAccessible(true);
        return (String) method.invoke(mutex);
    }

    private static String describe(ServiceInstance<Payload> instance) {
        Payload payload = instance.getPayload();
        return instance.getId() + " " + instance.buildUriSpec() + " " + instance.getServiceType() + " " + instance.getSslPort() + " "
            + instance.isEnabled() + " " + (payload == null ? "null" : payload.text + "*" + payload.weight);
    }

    private static ServiceDiscovery<Payload> discovery(String path) throws Exception {
        ServiceDiscovery<Payload> discovery = discoveries.get(path);
        if (discovery == null) {
            discovery = ServiceDiscoveryBuilder.builder(Payload.class).client(client).basePath(path)
                .serializer(new JsonInstanceSerializer<>(Payload.class)).build();
            discovery.start();
            discoveries.put(path, discovery);
        }
        return discovery;
    }
}
