// A lock of Curator, as `zkwire judge` runs it.
import java.util.Scanner;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryForever;

public class CuratorLock {
  static void say(String line) {
    System.out.println(line);
  }

  public static void main(String[] arguments) throws Exception {
    var hosts = System.getenv("ZK_HOSTS");
    try (var zk = CuratorFrameworkFactory.newClient(hosts, 10_000, 10_000, new RetryForever(100))) {
      zk.getConnectionStateListenable().addListener((client, state) -> {
        if (state == ConnectionState.LOST) say("lost");
      });
      zk.start();
      zk.blockUntilConnected();
      var lock = new InterProcessMutex(zk, System.getenv("ZK_LOCK"));
      say("ready");
      for (var lines = new Scanner(System.in); lines.hasNextLine(); ) {
        try {
          if (lines.nextLine().equals("lock")) {
            lock.acquire();
            say("in");
          } else {
            lock.release();
            say("out");
          }
        } catch (Exception error) {
          say("failed " + error);
          lock = new InterProcessMutex(zk, System.getenv("ZK_LOCK"));
        }
      }
    }
  }
}
