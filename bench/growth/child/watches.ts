// Many watches of one session, on a server that registers and fires them.
import { connect, type Client, type WatchCallback } from '../../../src/index.ts'
import { CuttableDial } from '../../harness/cuttable-dial.ts'
import { SESSION_TIMEOUT } from '../../harness/sessions.ts'
import type { Task } from '../workloads.ts'
import { inBatches, liveHeap, memory, repeated, type Probe, type Probes } from './probe.ts'

const BATCH = 100
const nothing = () => undefined

const sessionOn = (server: string, link = new CuttableDial()): Promise<Client> =>
  connect(server, { sessionTimeout: SESSION_TIMEOUT, dial: link.dial, random: () => 0 })

/** Sets the watches on missing nodes, because those cost the server least. */
const setAll = (client: Client, directory: string, size: number, signal?: AbortSignal): Promise<void> =>
  inBatches(size, 1000, i => client.exists(`${directory}/w${i}`, { watch: nothing, signal }))

export async function watches({ size, server, directory }: Task): Promise<Probes> {
  const link = new CuttableDial()
  const client = await sessionOn(server, link)
  const paths = await probedNodes(client, directory)
  const before = await liveHeap()
  await setAll(client, directory, size)
  const each = (work: (path: string) => Promise<unknown>): Probe =>
    repeated(async () => {
      await Promise.all(paths.map(work))
      return BATCH
    })
  return {
    notified: notified(client, paths),
    aborted: repeated(async () => {
      const controllers = paths.map(() => new AbortController())
      await Promise.all(
        paths.map((path, i) =>
          client.getData(path, { watch: nothing, signal: (controllers[i] as AbortController).signal }),
        ),
      )
      for (const controller of controllers) controller.abort()
      await client.settled()
      return BATCH
    }),
    removeWatches: each(async path => {
      await client.getData(path, { watch: nothing })
      await client.removeWatches(path)
    }),
    view: each(async path => {
      const view = client.chroot(path)
      await view.getData('/', { watch: nothing })
      await view.close()
      await client.settled()
    }),
    watcher: each(async path => (await client.addWatch(path)).close()),
    reconnect: repeated(async () => {
      link.cut()
      await client.whenConnected()
      // The server replies to this request after it has replied to those that set the watches again.
      await client.exists(directory)
      return size
    }),
    memory: memory(size, before),
  }
}

/** Measures notifications after `size` watches were registered and removed again. */
export async function removed({ size, server, directory }: Task): Promise<Probes> {
  const client = await sessionOn(server)
  const paths = await probedNodes(client, directory)
  const controller = new AbortController()
  await setAll(client, directory, size, controller.signal)
  controller.abort()
  await client.settled()
  return { notified: notified(client, paths) }
}

/** Each repetition opens a session, sets the watches and closes the session. */
export function lives({ size, server, directory }: Task): Promise<Probes> {
  const life = repeated(async () => {
    const client = await sessionOn(server)
    let left = size
    await inBatches(size, 1000, i => client.exists(`${directory}/w${i}`, { watch: () => left-- }))
    await client.close()
    if (left !== 0) throw new Error(`${left} of ${size} watches were not notified of the end of the session`)
    return size
  })
  return Promise.resolve({ life })
}

async function probedNodes(client: Client, directory: string): Promise<string[]> {
  const paths = Array.from({ length: BATCH }, (_, i) => `${directory}/p${i}`)
  await Promise.all(paths.map(path => client.create(path)))
  return paths
}

function notified(client: Client, paths: readonly string[]): Probe {
  return repeated(async () => {
    let left = paths.length
    let done: () => void = nothing
    const all = new Promise<void>(resolve => (done = resolve))
    const watch: WatchCallback = () => {
      if (--left === 0) done()
    }
    await Promise.all(paths.map(path => client.getData(path, { watch })))
    for (const path of paths) void client.setData(path, '')
    await all
    return paths.length
  })
}
