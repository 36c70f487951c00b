// The measurement of child/hand-over.ts with Curator's InterProcessMutex.
// Arguments: port, path of the lock, contenders, acquisitions of the warm-up, acquisitions of a turn. For the first line
// that it reads, it warms up and prints a line. For each later one, it measures a turn and prints a line of JSON. Ends at
// the end of its input.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

public class HandOver {
  static final AtomicInteger holders = new AtomicInteger();

  public static void main(String[] args) throws Exception {
    int contenders = Integer.parseInt(args[2]);
    int acquisitions = Integer.parseInt(args[4]);
    List<InterProcessMutex> mutexes = new ArrayList<>();
    for (int i = 0; i < contenders; i++) {
      CuratorFramework client =
          CuratorFrameworkFactory.newClient("127.0.0.1:" + args[0], 60_000, 15_000, new RetryOneTime(100));
      client.start();
      client.blockUntilConnected();
      mutexes.add(new InterProcessMutex(client, args[1]));
    }
    BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
    requests.readLine();
    round(mutexes, Integer.parseInt(args[3]));
    System.out.println("ready");
    while (requests.readLine() != null) {
      long cpu = cpuNanos();
      long begun = System.nanoTime();
      round(mutexes, acquisitions);
      long nanos = System.nanoTime() - begun;
      System.out.printf(
          "{\"operations\":%d,\"cpu\":%d,\"ms\":%d}%n",
          contenders * acquisitions, (cpuNanos() - cpu) / 1000, nanos / 1_000_000);
    }
    System.exit(0);
  }

  static long cpuNanos() {
    return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
  }

  static void round(List<InterProcessMutex> mutexes, int acquisitions) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (InterProcessMutex mutex : mutexes) {
      Thread thread = new Thread(() -> take(mutex, acquisitions));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) thread.join();
  }

  static void take(InterProcessMutex mutex, int acquisitions) {
    try {
      for (int i = 0; i < acquisitions; i++) {
        mutex.acquire();
        if (holders.incrementAndGet() != 1) throw new IllegalStateException("two hold the lock");
        holders.decrementAndGet();
        mutex.release();
      }
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }
}
