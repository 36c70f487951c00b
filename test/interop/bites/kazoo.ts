// The rows of docs/from-kazoo.md. The Python has `zk`, a started client.
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../../environment/until.ts'
import { Cache, Mutex } from '../../../src/recipes/index.ts'
import { blocksInCallback, failure, setsWatchesAgain, type Bite } from './stage.ts'

export const kazooBites: readonly Bite[] = [
  {
    row: 'the states are CONNECTED',
    theirs: `
states = queue.Queue()
zk.add_listener(states.put)
fault('cut')
show(states.get(), states.get())
fault('expire')
seen = [states.get()]
while seen[-1] != KazooState.CONNECTED: seen.append(states.get())
show(*seen[-2:])
`,
    theyPrint: ['SUSPENDED CONNECTED', 'LOST CONNECTED'],
    ours: async (zk, stage, print) => {
      zk.on('state', state => print(state))
      await stage.fault('cut')
      await zk.retry(() => zk.sync('/app'))
      await stage.fault('expire')
      await until(() => zk.state === 'expired')
    },
    wePrint: ['suspended', 'connected', 'suspended', 'expired'],
  },
  {
    row: 'when the connection is lost, calls in flight',
    theirs: `
fault('drop setData')
try: zk.set('/app', b'two')
except ConnectionLoss: show('lost')
until(lambda: zk.state == KazooState.CONNECTED)
fault('away')
until(lambda: zk.state == KazooState.SUSPENDED)
call = zk.get_async('/app')
time.sleep(0.3)
show(call.ready())
fault('back')
show(call.get()[0].decode())
`,
    theyPrint: ['lost', 'False', 'two'],
    ours: async (zk, stage, print) => {
      await stage.fault('drop setData')
      print(await failure(zk.setData('/app', 'two')))
      await stage.fault('away')
      await until(() => zk.state === 'suspended')
      const queued = zk.getData('/app')
      await sleep(300)
      await stage.fault('back')
      print(String((await queued).data))
      await stage.fault('away')
      await until(() => zk.state === 'suspended')
      print(await failure(zk.getData('/app')), zk.validFor())
      await stage.fault('back')
    },
    wePrint: ['CONNECTIONLOSS unknown', 'two', 'CONNECTIONLOSS notSent 0'],
  },
  {
    row: 'after LOST, the client opens',
    theirs: `
states = queue.Queue()
zk.add_listener(states.put)
first = zk.client_id[0]
fault('expire')
until(lambda: states.get() == KazooState.CONNECTED)
show(zk.client_id[0] != first, zk.get('/app')[0].decode())
`,
    theyPrint: ['True one'],
    ours: async (_, stage, print) => {
      const ids = new Set<bigint>()
      await stage.supervise(async (zk, run) => {
        print(run, ids.add(zk.sessionId).size, String((await zk.getData('/app')).data))
        if (run === 1) await stage.fault('expire')
        return run === 2
      })
    },
    wePrint: ['1 1 one', '2 2 one'],
  },
  {
    row: 'DataWatch and ChildrenWatch continue',
    theirs: `
told = queue.Queue()
first = zk.client_id[0]
@zk.DataWatch('/app')
def watch(data, stat): told.put(data.decode())
show(told.get())
fault('expire')
until(lambda: zk.state == KazooState.CONNECTED and zk.client_id[0] != first)
fault('write /app two')
until(lambda: told.get() == 'two')
show('two')
`,
    theyPrint: ['one', 'two'],
    ours: async (_, stage, print) => {
      let previous: Cache | undefined
      await stage.supervise(async (zk, run) => {
        const cache: Cache = new Cache(zk, '/app', { previous })
        await cache.ready
        print(run, String(cache.get('/app')?.data))
        if (run === 2) return true
        previous = cache
        await stage.fault('write /app two')
        await until(() => String(cache.get('/app')?.data) === 'two')
        const ended = cache.changes()
        await ended.next()
        const end = failure(ended.next())
        await stage.fault('expire')
        print(await end)
        return false
      })
    },
    wePrint: ['1 one', 'SESSIONEXPIRED notSent', '2 two'],
  },
  {
    row: 'watches and callbacks run in threads',
    theirs: `
told = queue.Queue()
main = threading.current_thread()
zk.get('/app', watch=lambda event: told.put(threading.current_thread() is main))
fault('write /app two')
show(told.get())
`,
    theyPrint: ['False'],
    ours: blocksInCallback,
    wePrint: ['callback', 'timer'],
  },
  {
    row: 'when the connection is lost, one-shot watches',
    theirs: `
told = queue.Queue()
zk.get('/app', watch=lambda event: told.put(event.type))
fault('cut')
show(told.get())
until(lambda: zk.state == KazooState.CONNECTED)
zk.get('/app')
fault('write /app two')
zk.sync('/app')
time.sleep(0.2)
show(told.empty())
`,
    theyPrint: ['NONE', 'True'],
    ours: setsWatchesAgain,
    wePrint: ['resync', 'NodeDataChanged'],
  },
  {
    row: 'a DataWatch whose function returns False',
    theirs: `
told = queue.Queue()
@zk.DataWatch('/app')
def watch(data, stat):
    told.put(data)
    return False
told.get()
fault('write /app two')
zk.sync('/app')
time.sleep(0.2)
show(told.empty())
`,
    theyPrint: ['True'],
    ours: async (zk, stage, print) => {
      const cache = new Cache(zk, '/app')
      for await (const { type } of cache.changes()) {
        print(type)
        break
      }
      await stage.fault('write /app two')
      await cache.close()
    },
    wePrint: ['created'],
  },
  {
    row: 'kazoo has no sign that a lock is lost',
    theirs: `
lock = zk.Lock('/app/lock', 'x')
lock.acquire()
first = zk.client_id[0]
fault('expire')
until(lambda: zk.state == KazooState.CONNECTED and zk.client_id[0] != first)
show(lock.is_acquired, zk.get_children('/app/lock'))
`,
    theyPrint: ['True []'],
    ours: async (zk, stage, print) => {
      const held = await new Mutex(zk, '/app/lock').acquire()
      await stage.fault('expire')
      await until(() => held.signal.aborted)
      print(held.validFor())
    },
    wePrint: ['0'],
  },
  {
    row: 'a Lock may be tried again',
    theirs: `
lock = zk.Lock('/app/lock', 'x')
lock.acquire()
show(lock.acquire(timeout=0.3))
show(len(zk.get_children('/app/lock')))
lock.release()
show(lock.acquire())
`,
    theyPrint: ['False', '1', 'True'],
    ours: async (zk, _, print) => {
      const mutex = new Mutex(zk, '/app/lock', { dialect: 'kazoo' })
      const held = await mutex.acquire()
      const second = mutex.acquire()
      await until(async () => (await mutex.contenders()).length === 2)
      await held.release()
      print((await second).path !== held.path)
    },
    wePrint: ['true'],
  },
  {
    row: 'Lock keeps its node through SUSPENDED',
    theirs: `
lock = zk.Lock('/app/lock', 'x')
fault('drop create')
show(lock.acquire(), len(lock.contenders()))
fault('cut')
show(zk.retry(lock.contenders), lock.is_acquired)
`,
    theyPrint: ['True 1', "['x'] True"],
    ours: async (zk, stage, print) => {
      const mutex = new Mutex(zk, '/app/lock', { dialect: 'kazoo', id: 'x' })
      await zk.ensurePath('/app/lock')
      await stage.fault('drop create2')
      const held = await mutex.acquire()
      print((await mutex.contenders()).length)
      await stage.fault('cut')
      print((await mutex.contenders()).map(({ id }) => id).join(), held.signal.aborted)
    },
    wePrint: ['1', 'x false'],
  },
  {
    row: '`retry()` repeats after ConnectionLoss',
    theirs: `
fault('drop setData')
show(zk.retry(zk.set, '/app', b'two').version)
first = zk.client_id[0]
attempts = []
def attempt():
    attempts.append(zk.client_id[0])
    if len(attempts) == 1:
        fault('expire')
        until(lambda: zk.state == KazooState.CONNECTED and zk.client_id[0] != attempts[0])
        raise SessionExpiredError()
    return zk.get('/app')[0].decode()
show(KazooRetry(max_tries=-1, ignore_expire=True)(attempt), len(attempts))
`,
    theyPrint: ['2', 'two 2'],
    ours: async (zk, stage, print) => {
      await stage.fault('drop setData')
      print((await zk.retry(() => zk.setData('/app', 'two'))).version)
      let attempts = 0
      const expiring = zk.retry(async () => {
        if (++attempts === 1) await stage.fault('expire')
        return await zk.getData('/app')
      })
      print(await failure(expiring))
    },
    wePrint: ['2', 'SESSIONEXPIRED notSent'],
  },
  {
    row: 'times are seconds',
    theirs: `
zk.Lock('/app/lock', 'x').acquire()
begin = time.monotonic()
try: zk.Lock('/app/lock', 'y').acquire(timeout=0.3)
except LockTimeout: show(0.2 < time.monotonic() - begin < 30)
`,
    theyPrint: ['True'],
    ours: async (zk, _, print) => {
      const mutex = new Mutex(zk, '/app/lock', { dialect: 'kazoo' })
      await mutex.acquire()
      const begin = performance.now()
      print(await failure(mutex.acquire({ timeout: 300 })))
      const ms = performance.now() - begin
      print(ms > 200 && ms < 30_000)
    },
    wePrint: ['TIMEOUT', 'true'],
  },
  {
    row: 'paths without a leading slash',
    theirs: `
show(zk.create('app/x'), zk.exists('/app/x') is not None)
below = KazooClient(hosts=hosts + '/app')
below.start()
show(below.create('y'), zk.exists('/app/y') is not None)
below.stop()
`,
    theyPrint: ['/app/x True', '/y True'],
    ours: async (zk, _, print) => {
      print(await failure(zk.create('app/x')))
      print((await zk.chroot('/app').create('/y')).path, (await zk.exists('/app/y')) !== null)
    },
    wePrint: ['BADARGUMENTS notSent', '/y true'],
  },
  {
    row: '`delete(recursive=True)` of a missing node',
    theirs: `
show(zk.delete('/app/missing', recursive=True))
try: zk.delete('/app/missing')
except NoNodeError: show('no node')
`,
    theyPrint: ['True', 'no node'],
    ours: async (zk, _, print) => {
      await zk.deleteRecursive('/app/missing')
      print(await failure(zk.delete('/app/missing')))
    },
    wePrint: ['NONODE refused'],
  },
]
