// The rows of docs/from-zookeeper.md. The code is the body of an async function, with `library` and `hosts`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodeClients, root } from '../../../environment/needs.ts'
import { connect } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { writeScript } from '../../support/document.ts'
import { until } from '../../../environment/until.ts'
import { failure, setsWatchesAgain, TIMEOUT, watchOnce, type Bite } from './stage.ts'

const CLIENT = `
  const open = async (connect = hosts) => {
    const client = new library({ connect, timeout: TIMEOUT, debug_level: 1 })
    client.init()
    await client.on_connected()
    return client
  }
  const client = await open()
`

export const zookeeperBites: readonly Bite[] = [
  {
    row: 'native code',
    theirs: `print(Boolean(require('${join(nodeClients.directory, 'node_modules/zookeeper/package.json')}').scripts.install))`,
    theyPrint: ['true'],
    ours: (_, __, print) => {
      const { scripts, dependencies = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>
        dependencies?: object
      }
      print(
        Object.keys(dependencies).length,
        Object.keys(scripts).filter(name => /^(pre|post)?install$/.test(name)),
      )
      return Promise.resolve()
    },
    wePrint: ['0 '],
  },
  {
    row: 'the C client has no thread of its own',
    theirs: `${CLIENT}
      await client.create('/app/mine', '', library.constants.ZOO_EPHEMERAL)
      const other = await open()
      const closed = new Promise(resolve => client.on('close', () => resolve('closed')))
      for (const end = Date.now() + 3 * TIMEOUT; Date.now() < end;);
      print(await Promise.race([closed, sleep(3 * TIMEOUT)]))`,
    theyPrint: ['closed'],
    ours: async (_, stage, print) => {
      const script = `
        import { connect } from 'zkwire'
        const zk = await connect('localhost:2181', { sessionTimeout: ${TIMEOUT} })
        const expired = new Promise(resolve => zk.on('state', state => state === 'expired' && resolve(state)))
        for (const end = Date.now() + 3 * ${TIMEOUT}; Date.now() < end;);
        console.log(await expired)`
      // In a process of its own, because the proxy is in this one.
      const printed = await stage.play([process.execPath, await writeScript('bites/blocked', script, stage.hosts)])
      print(...printed)
    },
    wePrint: ['expired'],
  },
  {
    row: 'an error is an `Error` with the message',
    theirs: `${CLIENT}
      await client.get('/missing', false).catch(error => print(error.message, error.code))`,
    theyPrint: ['-101 no node undefined'],
    ours: async (zk, _, print) => {
      print(await failure(zk.getData('/missing')))
    },
    wePrint: ['NONODE refused'],
  },
  {
    row: '`exists()` of a missing node',
    theirs: `${CLIENT}
      await client.exists('/missing', false).catch(error => print(error.message))
      print(await client.pathExists('/missing', false))`,
    theyPrint: ['-101 no node', 'false'],
    ours: async (zk, _, print) => print((await zk.exists('/missing')) === null),
    wePrint: ['true'],
  },
  {
    row: '`mkdirp()` writes the data',
    theirs: `${CLIENT}
      await new Promise(resolve => client.mkdirp('/app/a', resolve))
      print(String((await client.get('/app/a', false))[1]))`,
    theyPrint: ['created by zk-mkdir-p'],
    ours: async (zk, _, print) => {
      await zk.ensurePath('/app/a')
      print((await zk.getData('/app/a')).data?.length)
    },
    wePrint: ['0'],
  },
  {
    row: 'a watcher gets numbers',
    theirs: `${CLIENT}
      const told = new Promise(resolve => client.w_get('/app', (...args) => resolve(args)))
      await client.exists('/app', false)
      await fault('write /app two')
      print((await told).slice(0, 3).join())`,
    theyPrint: ['3,3,/app'],
    ours: async (zk, stage, print) => {
      const event = await watchOnce(zk)
      await stage.fault('write /app two')
      const { type, path } = await event()
      print(type, path)
    },
    wePrint: ['NodeDataChanged /app'],
  },
  {
    row: '`czxid`, `mzxid` and `pzxid` are numbers',
    theirs: `${CLIENT}
      const { czxid, mzxid, pzxid, ephemeralOwner, ctime } = await client.exists('/app', false)
      print(typeof czxid, typeof mzxid, typeof pzxid, typeof ephemeralOwner, ctime instanceof Date)`,
    theyPrint: ['number number number string true'],
    ours: async (zk, _, print) => {
      const stat = await zk.exists('/app')
      print(typeof stat?.czxid, typeof stat?.mzxid, typeof stat?.pzxid, typeof stat?.ephemeralOwner, typeof stat?.ctime)
    },
    wePrint: ['bigint bigint bigint bigint number'],
  },
  {
    row: 'the session id is a string',
    theirs: `${CLIENT}
      print(/^[0-9a-f]+$/.test(client.client_id), /^[0-9a-f]{32}$/i.test(client.client_password))`,
    theyPrint: ['true true'],
    ours: (zk, _, print) => {
      print(typeof zk.sessionId, zk.sessionPassword instanceof Uint8Array)
      return Promise.resolve()
    },
    wePrint: ['bigint true'],
  },
  {
    row: 'no transactions',
    theirs: `${CLIENT}
      print(['multi', 'transaction', 'add_watch', 'addWatch'].filter(name => name in client).join())`,
    theyPrint: [''],
    ours: async (zk, _, print) => {
      const results = await zk.transaction().create('/app/a').check('/app').commit()
      print(results.length)
      await using watcher = await zk.addWatch('/app')
      print(Symbol.asyncIterator in watcher)
    },
    wePrint: ['2', 'true'],
  },
  {
    row: 'retries nothing',
    theirs: `${CLIENT}
      await fault('drop setData')
      await client.set('/app', 'two', -1).catch(error => print(error.message))`,
    theyPrint: ['-4 connection loss'],
    ours: async (zk, stage, print) => {
      await stage.fault('drop setData')
      print(await failure(zk.setData('/app', 'two')))
      await stage.fault('drop setData')
      print((await zk.retry(() => zk.setData('/app', 'three'))).version)
    },
    wePrint: ['CONNECTIONLOSS unknown', '3'],
  },
  {
    row: 'after a reconnect, the C client',
    theirs: `${CLIENT}
      const told = new Promise(resolve => client.w_get('/app', (type, state, path) => type === 3 && resolve(path)))
      await client.exists('/app', false)
      await fault('cut')
      for (let ok = false; !ok; ) ok = await client.exists('/app', false).then(() => true, () => sleep(20))
      await fault('write /app two')
      print(await told)`,
    theyPrint: ['/app'],
    ours: setsWatchesAgain,
    wePrint: ['resync', 'NodeDataChanged'],
  },
  {
    row: 'when the session has expired',
    theirs: `${CLIENT}
      const closed = new Promise(resolve => client.on('close', resolve))
      await fault('expire')
      await closed
      print('closed')`,
    theyPrint: ['closed'],
    ours: async (zk, stage, print) => {
      await stage.fault('expire')
      await until(() => zk.state === 'expired')
      print(await failure(zk.getData('/app')))
      await stage.supervise(async next => {
        print(String((await next.getData('/app')).data))
        return true
      })
    },
    wePrint: ['SESSIONEXPIRED notSent', 'one'],
  },
  {
    row: 'a chroot after the first host',
    theirs: `${CLIENT}
      const below = await open(hosts + ',' + hosts + '/app')
      print(await below.create('/x', '', 0), await client.pathExists('/app/x', false))`,
    theyPrint: ['/x true'],
    ours: async (zk, { hosts }, print) => {
      await using below = await connect(`${hosts},${hosts}/app`)
      await below.create('/x')
      print((await zk.chroot('/app').exists('/x')) !== null)
    },
    wePrint: ['true'],
  },
  {
    row: 'no locks and recipes',
    theirs: `
      const names = [...Object.keys(library), ...Object.getOwnPropertyNames(library.prototype)]
      print(names.filter(name => /mutex|acquire|elect|queue/i.test(name)).join())`,
    theyPrint: [''],
    ours: async (zk, _, print) => {
      const held = await new Mutex(zk, '/app/lock').acquire()
      print(held.signal.aborted)
      await held.release()
    },
    wePrint: ['false'],
  },
]
