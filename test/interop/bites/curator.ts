// The rows of docs/from-curator.md. The Java is the body of a method with `hosts`, and with `curator`, a started client.
import { until } from '../../../environment/until.ts'
import { LeaderElection, Mutex, PersistentEphemeral, ReentrantMutex } from '../../../src/recipes/index.ts'
import { blocksInCallback, failure, setsWatchesAgain, type Bite } from './stage.ts'

export const curatorBites: readonly Bite[] = [
  {
    row: 'a RetryPolicy of the client',
    theirs: `
      fault("drop setData");
      curator.setData().forPath("/app", "two".getBytes());
      System.out.println(curator.checkExists().forPath("/app").getVersion());`,
    theyPrint: ['2'], // executed twice
    ours: async (zk, stage, print) => {
      await stage.fault('drop setData')
      print(await failure(zk.setData('/app', 'two')))
      print((await zk.exists('/app'))?.version)
      await stage.fault('drop setData')
      await zk.retry(() => zk.setData('/app', 'three'))
      print((await zk.exists('/app'))?.version)
    },
    wePrint: ['CONNECTIONLOSS unknown', '1', '3'],
  },
  {
    row: '`create().withProtection()` finds',
    theirs: `
      fault("drop create2");
      curator.create().withProtection().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/app/a-");
      System.out.println(curator.getChildren().forPath("/app").size());
      fault("drop create2");
      curator.create().withMode(CreateMode.EPHEMERAL_SEQUENTIAL).forPath("/app/b-");
      System.out.println(curator.getChildren().forPath("/app").size());`,
    theyPrint: ['1', '3'],
    ours: async (zk, stage, print) => {
      await stage.fault('drop create2')
      const lost = zk.create('/app/a-', '', { mode: 'ephemeralSequential' })
      print(await failure(lost))
      print((await zk.getChildren('/app')).children.length)
      await stage.fault('drop create2')
      const node = new PersistentEphemeral('/app/b')
      await node.start(zk)
      print((await zk.getChildren('/app')).children.length)
      await stage.fault('drop create2')
      await new Mutex(zk, '/app/lock').acquire()
      print((await zk.getChildren('/app/lock')).children.length)
      await node.close()
    },
    wePrint: ['CONNECTIONLOSS unknown', '1', '2', '1'],
  },
  {
    row: 'StandardConnectionStateErrorPolicy',
    theirs: `
      for (boolean session : new boolean[] {false, true}) {
        ConnectionStateErrorPolicy policy = session ? new SessionConnectionStateErrorPolicy() : new StandardConnectionStateErrorPolicy();
        try (CuratorFramework client = start(hosts, policy); LeaderLatch latch = new LeaderLatch(client, "/app/leader", "x")) {
          latch.start();
          latch.await();
          BlockingQueue<ConnectionState> states = new LinkedBlockingQueue<>();
          client.getConnectionStateListenable().addListener((c, state) -> states.add(state));
          fault("away");
          for (int i = 0; i < 2; i++) {
            ConnectionState state = states.take();
            Thread.sleep(200); // the latch hears it too
            System.out.println(state + " " + latch.hasLeadership());
          }
          fault("back");
        }
      }`,
    theyPrint: ['SUSPENDED false', 'LOST false', 'SUSPENDED true', 'LOST false'],
    ours: async (zk, stage, print) => {
      const held = await new Mutex(zk, '/app/leader').acquire()
      await stage.fault('away')
      await until(() => zk.state === 'suspended')
      print(held.signal.aborted)
      await until(() => held.signal.aborted)
      print(zk.state, (held.signal.reason as Error).message.startsWith('LOST'))
      await stage.fault('back')
    },
    wePrint: ['false', 'suspended true'],
  },
  {
    row: 'ConnectionState LOST',
    theirs: `
      CountDownLatch lost = new CountDownLatch(1);
      curator.getConnectionStateListenable().addListener((client, state) -> { if (state == ConnectionState.LOST) lost.countDown(); });
      fault("away");
      lost.await();
      System.out.println("LOST while no server answers");
      fault("back");`,
    theyPrint: ['LOST while no server answers'],
    ours: async (zk, stage, print) => {
      await zk.create('/app/mine', '', { mode: 'ephemeral' })
      await stage.fault('away')
      await until(() => zk.leaseSignal.aborted)
      print(zk.state)
      await until(async () => (await stage.admin.exists('/app/mine')) === null) // the servers have expired it
      print(zk.state)
      await stage.fault('back')
      await until(() => zk.state === 'expired')
      print('expired')
    },
    wePrint: ['suspended', 'suspended', 'expired'],
  },
  {
    row: 'after LOST, the framework opens',
    theirs: `
      long first = curator.getZookeeperClient().getZooKeeper().getSessionId();
      curator.create().withMode(CreateMode.EPHEMERAL).forPath("/app/mine");
      CountDownLatch again = new CountDownLatch(1);
      curator.getConnectionStateListenable().addListener((client, state) -> { if (state == ConnectionState.RECONNECTED) again.countDown(); });
      fault("expire");
      again.await();
      System.out.println(curator.checkExists().forPath("/app/mine"));
      System.out.println(first != curator.getZookeeperClient().getZooKeeper().getSessionId());`,
    theyPrint: ['null', 'true'],
    ours: async (_, stage, print) => {
      const ids = new Set<bigint>()
      await stage.supervise(async (zk, run) => {
        ids.add(zk.sessionId)
        await zk.create('/app/mine', '', { mode: 'ephemeral' })
        print(run, ids.size)
        if (run === 1) await stage.fault('expire')
        return run === 2
      })
    },
    wePrint: ['1 1', '2 2'],
  },
  {
    row: '`InterProcessMutex` belongs to a thread',
    theirs: `
      InterProcessMutex mutex = new InterProcessMutex(curator, "/app/lock");
      System.out.println(mutex.acquire(1, TimeUnit.SECONDS) + " " + mutex.acquire(1, TimeUnit.SECONDS));
      System.out.println(curator.getChildren().forPath("/app/lock").size());`,
    theyPrint: ['true true', '1'],
    ours: async (zk, _, print) => {
      const mutex = new Mutex(zk, '/app/lock')
      const held = await mutex.acquire()
      print(await failure(mutex.acquire({ timeout: 200 })))
      await held.release()
      const reentrant = new ReentrantMutex(zk, '/app/lock')
      const both = [await reentrant.acquire({ owner: 'task' }), await reentrant.acquire({ owner: 'task' })]
      print(both.length, (await zk.getChildren('/app/lock')).children.length)
      for (const each of both) await each.release()
    },
    wePrint: ['TIMEOUT', '2 1'],
  },
  {
    row: 'listeners run in a thread',
    theirs: `
      Thread main = Thread.currentThread();
      CountDownLatch told = new CountDownLatch(1);
      CuratorCache cache = CuratorCache.build(curator, "/app");
      cache.listenable().addListener(CuratorCacheListener.builder().forInitialized(() -> {
        try {
          System.out.println(Thread.currentThread() != main);
          System.out.println(new String(curator.getData().forPath("/app"))); // waits for the server
        } catch (Exception error) { System.out.println(error); }
        told.countDown();
      }).build());
      cache.start();
      told.await();
      cache.close();`,
    theyPrint: ['true', 'one'],
    ours: blocksInCallback,
    wePrint: ['callback', 'timer'],
  },
  {
    row: '`create().forPath(path)` without data',
    theirs: `
      curator.create().forPath("/app/host");
      System.out.println(new String(curator.getData().forPath("/app/host")).equals(java.net.InetAddress.getLocalHost().getHostAddress()));`,
    theyPrint: ['true'],
    ours: async (zk, _, print) => {
      await zk.create('/app/host')
      print((await zk.getData('/app/host')).data?.length)
    },
    wePrint: ['0'],
  },
  {
    row: 'parents are created as containers',
    theirs: `
      curator.create().creatingParentsIfNeeded().forPath("/app/plain/one");
      fault("no createContainer");
      new InterProcessMutex(curator, "/app/locks/one").acquire();
      fault("some createContainer");
      System.out.println(curator.getChildren().forPath("/app"));`,
    theyPrint: ['[locks, plain]'],
    ours: async (zk, stage, print) => {
      await zk.create('/app/plain/one', '', { parents: true })
      await stage.fault('no createContainer')
      const held = await new Mutex(zk, '/app/locks/one').acquire()
      await stage.fault('some createContainer')
      print((await zk.getChildren('/app')).children.sort().join())
      await held.release()
    },
    wePrint: ['locks,plain'],
  },
  {
    row: 'one-shot watches of your own',
    theirs: `
      BlockingQueue<String> told = new LinkedBlockingQueue<>();
      CuratorWatcher watcher = event -> { if (event.getPath() != null) told.add(event.getType() + " " + event.getPath()); };
      curator.getData().usingWatcher(watcher).forPath("/app");
      fault("cut");
      curator.checkExists().forPath("/app");
      fault("write /app two");
      System.out.println(told.take());`,
    theyPrint: ['NodeDataChanged /app'],
    ours: setsWatchesAgain,
    wePrint: ['resync', 'NodeDataChanged'],
  },
  {
    row: 'a namespace is created',
    theirs: `
      curator.usingNamespace("app/space").create().forPath("/one");
      System.out.println(curator.checkExists().forPath("/app/space/one") != null);`,
    theyPrint: ['true'],
    ours: async (zk, _, print) => {
      const space = zk.chroot('/app/space')
      print(await failure(space.create('/one')))
      await zk.ensurePath('/app/space')
      print((await space.create('/one')).path)
    },
    wePrint: ['NONODE refused', '/one'],
  },
  {
    row: 'LeaderLatch.await() returns once',
    theirs: `
      BlockingQueue<String> told = new LinkedBlockingQueue<>();
      try (LeaderLatch latch = new LeaderLatch(curator, "/app/leader", "host-1")) {
        latch.addListener(new LeaderLatchListener() {
          public void isLeader() { told.add("leads"); }
          public void notLeader() { told.add("leads no more"); }
        });
        latch.start();
        latch.await();
        fault("expire");
        for (int i = 0; i < 3; i++) System.out.println(told.take());
      }`,
    theyPrint: ['leads', 'leads no more', 'leads'],
    ours: async (_, stage, print) => {
      await stage.supervise(async (zk, run) => {
        const held = await new LeaderElection(zk, '/app/leader', { id: 'host-1' }).campaign()
        print('leads')
        if (run === 2) return true
        held.signal.addEventListener('abort', () => print('leads no more'))
        await stage.fault('expire')
        return false
      })
    },
    wePrint: ['leads', 'leads no more', 'leads'],
  },
]
