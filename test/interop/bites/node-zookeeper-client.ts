// The rows of docs/from-node-zookeeper-client.md. The code is the body of an async function, with `library` and `hosts`.
import { failureOf } from '../../support/settled.ts'
import { until } from '../../../environment/until.ts'
import { connect, type ZooKeeperError } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { failure, watchOnce, type Bite } from './stage.ts'

/** `client`, connected, and `call(name, …args)`, which resolves with what the callback gets. */
const CLIENT = `
  const open = async (options, at = hosts) => {
    const client = library.createClient(at, { sessionTimeout: TIMEOUT, ...options })
    const connected = new Promise(resolve => client.once('connected', resolve))
    client.connect()
    await connected
    return client
  }
  const client = await open()
  const call = (name, ...args) => new Promise(resolve => client[name](...args, (error, ...rest) => resolve(error ? error.getName() : rest)))
`

export const nodeZooKeeperClientBites: readonly Bite[] = [
  {
    row: '`retries` repeats each call',
    theirs: `${CLIENT}
      const retrying = await open({ retries: 3 })
      await fault('drop create')
      await new Promise(resolve => retrying.create('/app/x', error => (print(error.getName()), resolve())))`,
    theyPrint: ['NODE_EXISTS'],
    ours: async (zk, stage, print) => {
      await stage.fault('drop create2')
      print(await failure(zk.create('/app/x')))
      print((await zk.exists('/app/x')) !== null)
    },
    wePrint: ['CONNECTIONLOSS unknown', 'true'],
  },
  {
    row: 'without a connection, a call waits',
    theirs: `${CLIENT}
      await fault('away')
      await sleep(100)
      print(await Promise.race([call('getData', '/app'), sleep(2 * TIMEOUT).then(() => 'waits')]))`,
    theyPrint: ['waits'],
    ours: async (zk, stage, print) => {
      await stage.fault('away')
      await until(() => zk.state === 'suspended')
      const aborted = await failureOf(zk.getData('/app', { signal: AbortSignal.timeout(50) }))
      print((aborted as Error).name)
      print(await failure(zk.getData('/app')))
      await stage.fault('back')
    },
    wePrint: ['TimeoutError', 'CONNECTIONLOSS notSent'],
  },
  {
    row: 'after a reconnect, one-shot watches are set again',
    theirs: `${CLIENT}
      const told = new Promise(resolve => client.getData('/app', event => resolve(event.getName()), () => undefined))
      await call('getChildren', '/app')
      await fault('away')
      await fault('write /app two')
      await fault('back')
      print(await told)`,
    theyPrint: ['NODE_DATA_CHANGED'],
    ours: async (zk, stage, print) => {
      const event = await watchOnce(zk)
      const watcher = await zk.addWatch('/app')
      await stage.fault('away')
      await stage.fault('write /app two')
      await stage.fault('back')
      print((await event()).type, (await watcher.next()).value?.type)
    },
    wePrint: ['NodeDataChanged resync'],
  },
  {
    row: 'the event `expired`',
    theirs: `${CLIENT}
      const expired = new Promise(resolve => client.once('expired', resolve))
      await fault('expire')
      await expired
      // When the socket has ended too, the library forgets why.
      print(['SESSION_EXPIRED', 'CONNECTION_LOSS'].includes(await call('getData', '/app')))`,
    theyPrint: ['true'],
    ours: async (zk, stage, print) => {
      await stage.fault('expire')
      await until(() => zk.state === 'expired')
      print(await failure(zk.getData('/app')))
    },
    wePrint: ['SESSIONEXPIRED notSent'],
  },
  {
    row: 'a chroot after the first host',
    theirs: `${CLIENT}
      const below = await open({}, hosts + ',' + hosts + '/app')
      await new Promise(resolve => below.create('/x', resolve))
      print((await call('getChildren', '/app'))[0].join())`,
    theyPrint: ['x'],
    ours: async (zk, { hosts }, print) => {
      await using below = await connect(`${hosts},${hosts}/app`)
      await below.create('/x')
      print((await zk.getChildren('/app')).children.join())
    },
    wePrint: ['x'],
  },
  {
    row: '64-bit numbers',
    theirs: `${CLIENT}
      const [stat] = await call('exists', '/app')
      print(Buffer.isBuffer(stat.czxid), Buffer.isBuffer(client.getSessionId()))`,
    theyPrint: ['true true'],
    ours: async (zk, _, print) => print(typeof (await zk.exists('/app'))?.czxid, typeof zk.sessionId),
    wePrint: ['bigint bigint'],
  },
  {
    row: '`create(path)` and `mkdirp(path)` without data',
    theirs: `${CLIENT}
      await call('create', '/app/x')
      await call('mkdirp', '/app/y/z')
      for (const path of ['/app/x', '/app/y', '/app/y/z']) {
        const [data, stat] = await call('getData', path)
        print(data, stat.dataLength)
      }`,
    theyPrint: ['undefined 0', 'undefined 0', 'undefined 0'],
    ours: async (zk, _, print) => {
      await zk.create('/app/x')
      await zk.create('/app/null', null)
      for (const path of ['/app/x', '/app/null']) print(JSON.stringify((await zk.getData(path)).data?.length ?? null))
    },
    wePrint: ['0', 'null'],
  },
  {
    row: 'data that is read is a Buffer',
    theirs: `${CLIENT}
      await call('create', '/app/null', null)
      for (const path of ['/app', '/app/null']) {
        const [data] = await call('getData', path)
        print(Buffer.isBuffer(data), data === undefined)
      }`,
    theyPrint: ['true false', 'false true'],
    ours: async (zk, _, print) => {
      await zk.create('/app/null', null)
      for (const path of ['/app', '/app/null']) {
        const { data } = await zk.getData(path)
        print(Buffer.isBuffer(data), data === null)
      }
    },
    wePrint: ['true false', 'false true'],
  },
  {
    row: '`getPath()` of an exception',
    theirs: `${CLIENT}
      await new Promise(resolve => client.getData('/missing', error => (print(error.getPath()), resolve())))`,
    theyPrint: ['undefined'],
    ours: async (zk, _, print) => {
      print(((await failureOf(zk.getData('/missing'))) as ZooKeeperError).path)
    },
    wePrint: ['/missing'],
  },
  {
    row: '`listSubTreeBFS()` lists the node',
    theirs: `${CLIENT}
      await call('mkdirp', '/app/a/b')
      print((await call('listSubTreeBFS', '/app'))[0].join())
      print(await call('removeRecursive', '/app'))`,
    theyPrint: ['/app,/app/a', 'NOT_EMPTY'],
    ours: async (zk, _, print) => {
      await zk.ensurePath('/app/a/b')
      await zk.deleteRecursive('/app')
      print(await zk.exists('/app'))
    },
    wePrint: [''],
  },
  {
    row: 'an ephemeral node belongs',
    theirs: `${CLIENT}
      const other = await open()
      await new Promise(resolve => other.create('/app/mine', null, library.CreateMode.EPHEMERAL, resolve))
      const [stat] = await call('exists', '/app/mine')
      print(stat.ephemeralOwner.equals(other.getSessionId()))`,
    theyPrint: ['true'],
    ours: async (zk, stage, print) => {
      await using other = await stage.connect()
      await other.create('/app/mine', '', { mode: 'ephemeral' })
      print((await zk.exists('/app/mine'))?.ephemeralOwner === other.sessionId)
    },
    wePrint: ['true'],
  },
  {
    row: 'an exception in a callback',
    theirs: `${CLIENT}
      process.on('uncaughtException', error => { print('uncaught', error.message); process.exit() })
      await call('getData', '/app').then(() => client.getData('/app', () => { throw new Error('of the callback') }))
      await sleep(10_000)`,
    theyPrint: ['uncaught of the callback'],
    ours: async (_, { hosts, admin }, print) => {
      const onUncaughtError = (error: unknown) => print('told', (error as Error).message)
      await using zk = await connect(hosts, { onUncaughtError })
      const watch = () => {
        throw new Error('of the callback')
      }
      await zk.getData('/app', { watch })
      await admin.setData('/app', 'two')
      await zk.sync('/app')
      print(zk.state)
    },
    wePrint: ['told of the callback', 'connected'],
  },
  {
    row: 'no locks and recipes',
    theirs: `print(Object.keys(library).filter(name => /lock|mutex|elect|queue/i.test(name)).join())`,
    theyPrint: [''],
    ours: async (zk, _, print) => {
      const held = await new Mutex(zk, '/app/lock').acquire()
      print(held.signal.aborted)
      await held.release()
    },
    wePrint: ['false'],
  },
]
