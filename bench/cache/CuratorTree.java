// Loads a tree into a CuratorCache, again and again. Prints the milliseconds of each load, the bytes in use after the last
// one, and the bytes in use without it.
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.cache.CuratorCacheListener;
import org.apache.curator.retry.ExponentialBackoffRetry;

public class CuratorTree {
    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], new ExponentialBackoffRetry(100, 10));
        client.start();
        client.blockUntilConnected();
        client.checkExists().forPath(args[1]);
        List<String> times = new ArrayList<>();
        CuratorCache cache = null;
        for (int load = 0; load < Integer.parseInt(args[2]); load++) {
            if (cache != null) cache.close();
            long start = System.nanoTime();
            CountDownLatch loaded = new CountDownLatch(1);
            cache = CuratorCache.build(client, args[1]);
            cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(loaded::countDown).build());
            cache.start();
            loaded.await();
            times.add(String.format("%.1f", (System.nanoTime() - start) / 1e6));
        }
        int nodes = cache.size();
        long used = used();
        cache.close();
        cache = null;
        System.out.printf("{\"nodes\": %d, \"times\": %s, \"used\": %d, \"without\": %d}%n", nodes, times, used, used());
        System.out.flush();
        System.in.read();
        System.exit(0);
    }

    /** The bytes in use after collections: the heap, and the buffers outside it. */
    private static long used() throws InterruptedException {
        for (int i = 0; i < 5; i++) {
            System.gc();
            Thread.sleep(100);
        }
        long bytes = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
        for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class))
            bytes += pool.getMemoryUsed();
        return bytes;
    }
}
