// A wrong lock on the calls of ZooKeeper's own client: it waits for an event that may have come before.
import java.util.Collections;
import java.util.Scanner;
import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooKeeper;

public class WrongLock {
  static ZooKeeper zk;
  static final String LOCK = System.getenv("ZK_LOCK");

  static void open() throws Exception {
    var connected = new CountDownLatch(1);
    zk = new ZooKeeper(System.getenv("ZK_HOSTS"), 10_000, event -> {
      if (event.getState() == KeeperState.SyncConnected) connected.countDown();
      if (event.getState() == KeeperState.Expired) System.out.println("lost");
    });
    connected.await();
  }

  static void ensure(String path) throws Exception {
    try {
      zk.create(path, new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT);
    } catch (KeeperException.NodeExistsException exists) {
      // Another copy was faster.
    }
  }

  static String acquire() throws Exception {
    var path = zk.create(LOCK + "/n-", new byte[0], Ids.OPEN_ACL_UNSAFE, CreateMode.EPHEMERAL_SEQUENTIAL);
    var own = path.substring(path.lastIndexOf('/') + 1);
    for (;;) {
      var names = zk.getChildren(LOCK, false);
      Collections.sort(names);
      var at = names.indexOf(own);
      if (at <= 0) return path;
      var changed = new CountDownLatch(1);
      // The mistake: the node may be gone already, and then nothing wakes this copy.
      zk.exists(LOCK + "/" + names.get(at - 1), event -> changed.countDown());
      changed.await();
    }
  }

  public static void main(String[] arguments) throws Exception {
    open();
    ensure("/judge");
    ensure(LOCK);
    System.out.println("ready");
    String path = null;
    for (var lines = new Scanner(System.in); lines.hasNextLine(); ) {
      try {
        if (lines.nextLine().equals("lock")) {
          path = acquire();
          System.out.println("in");
        } else {
          zk.delete(path, -1);
          System.out.println("out");
        }
      } catch (KeeperException error) {
        if (error.code() == KeeperException.Code.SESSIONEXPIRED) open();
        System.out.println("failed " + error);
      }
    }
    zk.close();
  }
}
