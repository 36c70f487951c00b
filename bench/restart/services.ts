// The services of one library in a rolling restart, with zkwire. KazooServices.py and CuratorServices.java do the same.
// Arguments: connect string, path, number of services, session timeout in ms. Answers the commands of class Library in main.ts.
import { createInterface } from 'node:readline'
import { supervise, type Client } from '../../src/index.ts'
import { LeaderElection, Mutex, type Held } from '../../src/recipes/index.ts'
import { INSTANCES, type Event, type Kind } from './figures.ts'

const [servers = '', root = '', count = '', timeout = ''] = process.argv.slice(2)
const events: Event[] = []
const stop = new AbortController()
/** Aborts when the leaders and holders of this moment must give up, so that the others follow. */
const release = new AbortController()

const abortOf = (signal: AbortSignal) =>
  new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

async function run(service: number, instance: number): Promise<void> {
  const record = (kind: Kind, value = '') => void events.push([Date.now(), service, instance, kind, value])
  const path = `${root}/${service}`
  const task = async (zk: Client, ended: AbortSignal) => {
    record('session', String(zk.sessionId))
    const options = { signal: ended }
    await Promise.all([
      hold(new LeaderElection(zk, `${path}/leader`).campaign(options), ['leads', 'stops'], ended),
      hold(new Mutex(zk, `${path}/lock`).acquire(options), ['locks', 'unlocks'], ended),
      follow(zk, ended),
    ])
  }
  const hold = async (acquiring: Promise<Held>, [begins, ends]: readonly [Kind, Kind], ended: AbortSignal) => {
    const held = await acquiring
    record(begins)
    await abortOf(AbortSignal.any([held.signal, release.signal, ended]))
    record(ends)
    await held.release()
    await abortOf(ended)
  }
  const follow = async (zk: Client, signal: AbortSignal) => {
    const watcher = await zk.retry(() => zk.addWatch(`${path}/configuration`, { signal }), { signal })
    const read = async () => {
      const { data } = await zk.retry(() => zk.getData(`${path}/configuration`), { signal })
      record('reads', data?.toString())
    }
    await read()
    for await (const _event of watcher) await read()
  }
  await supervise(servers, { sessionTimeout: Number(timeout), signal: stop.signal }, task).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
}

const services = Array.from({ length: Number(count) * INSTANCES }, (_, i) =>
  run(Math.floor(i / INSTANCES), i % INSTANCES),
)
for await (const command of createInterface({ input: process.stdin })) {
  if (command === 'release') release.abort()
  console.log(command === 'events' ? JSON.stringify(events.splice(0)) : 'done')
}
stop.abort()
await Promise.all(services)
