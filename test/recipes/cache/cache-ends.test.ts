// A cache that ends at any step: at each frame of its session and at each change, while it loads the tree, follows it and
// reads it again.
import { expect } from 'chai'
import { opcodes, RequestHeader } from '../../../src/protocol/index.ts'
import { Cache } from '../../../src/recipes/index.ts'
import { FaultyDial } from '../../support/faulty-dial.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const ROOT = '/root'
const T = 10_000

interface Beginning {
  readonly lacksPersistentWatches?: boolean
  readonly hasPrevious?: boolean
  readonly isBusy?: boolean
}

/** What a cache begins with. */
const beginnings: Readonly<Record<string, Beginning>> = {
  'at a server that refuses a request of each kind': { isBusy: true },
  'after a previous cache, at a server without persistent watches': { hasPrevious: true, lacksPersistentWatches: true },
}

/** Lets a cache end at a moment. Returns false if it has fewer moments. */
async function endsAt(moment: number, beginning: Beginning): Promise<boolean> {
  await using virtual = await VirtualServer.start({ client: { random: () => 0.5, sessionTimeout: T } })
  const { server, clock } = virtual
  const writer = await virtual.open()
  const write = (data: string) => writer.multi(['a', 'b', 'c'].map(name => ({ setData: `${ROOT}/${name}`, data })))
  await writer.multi(['', '/a', '/b', '/c', '/d', '/hidden'].map(name => ({ create: ROOT + name, data: 'first' })))
  await writer.setACL(`${ROOT}/hidden`, [{ perms: 1, id: { scheme: 'ip', id: '10.0.0.1' } }])
  let onMoment = (): void => undefined
  const sent: number[] = []
  const faultyDial = new FaultyDial(server.dial)
  const client = await virtual.open({
    dial: faultyDial.dial,
    onFrame: ({ from, bytes, first }) => {
      if (from === 'client' && !first) sent.push(RequestHeader.decode(bytes).type)
      // After the frame is handled, and before the callback of its event.
      queueMicrotask(() => onMoment())
    },
  })
  const session = client.sessionId
  const previous = beginning.hasPrevious ? new Cache(client, ROOT) : undefined
  await previous?.ready
  await previous?.close()
  if (beginning.lacksPersistentWatches) server.faults.replace('addWatch', 'UNIMPLEMENTED', { session, times: Infinity })
  if (beginning.isBusy)
    for (const kind of ['addWatch', 'getData', 'multiRead'] as const)
      server.faults.replace(kind, 'THROTTLEDOP', { session })

  const stop = new AbortController()
  const cache = new Cache(client, ROOT, { previous, signal: stop.signal })
  const show = () => Array.from(cache, ({ path, data }) => `${path} ${String(data)}`)
  const changes: string[] = []
  let [moments, copy] = [0, undefined as string[] | undefined]
  onMoment = () => {
    if (moments++ !== moment) return
    if (moment % 2 === 0) void cache.close()
    else stop.abort()
    copy = show()
    changes.length = 0
    // What was encoded before is sent in the next microtask.
    queueMicrotask(() => (sent.length = 0))
    if (moment % 4 < 2) faultyDial.cut()
  }
  cache.on('change', ({ path }) => {
    changes.push(path)
    onMoment()
  })
  await clock.advance(200)
  await write('second')
  await writer.delete(`${ROOT}/d`)
  await clock.advance(10)
  faultyDial.cut()
  await write('third')
  await clock.advance(300)
  const hasEnded = copy !== undefined
  if (!hasEnded) await cache.close()
  await client.settled()
  await write('last')
  await clock.advance(T / 10)
  if (!hasEnded) return false
  const ofSession: readonly number[] = [opcodes.ping, opcodes.setWatches2, opcodes.removeWatches]
  const requests = sent.filter(type => !ofSession.includes(type))
  const expected = { copy, changes: [], requests: [] }
  expect({ copy: show(), changes, requests }, `moment ${moment}`).to.deep.equal(expected)
  expect(server.snapshot().watches.filter(watch => watch.session === session)).to.deep.equal([])
  return true
}

describe('A cache that ends at any frame or change changes no more, sends nothing and leaves no watch', () => {
  for (const [how, beginning] of Object.entries(beginnings))
    it(how, async () => {
      let moment = 0
      while (await endsAt(moment, beginning)) moment++
      expect(moment).to.be.above(20)
    })
})
