// What the instrumentation keeps of sessions and locks, and until when, with messages on the channels and no server.
import { expect } from 'chai'
import type { Attributes, MeterProvider } from '@opentelemetry/api'
import { channel } from 'node:diagnostics_channel'
import { instrument } from '../../src/opentelemetry/index.ts'

type Observe = (value: number, attributes: Attributes) => void
type Callback = (result: { observe: Observe }) => void

/** Keeps what is recorded, and reads the gauges. */
class RecordingMeter {
  readonly records: { name: string; attributes: Attributes }[] = []
  readonly #callbacks: Callback[] = []
  readonly provider: MeterProvider

  constructor() {
    const recorder = (name: string) => {
      const record = (_value: number, attributes: Attributes = {}) => void this.records.push({ name, attributes })
      return { add: record, record }
    }
    const gauge = { addCallback: (each: Callback) => this.#callbacks.push(each), removeCallback: () => undefined }
    const meter = { createCounter: recorder, createHistogram: recorder, createObservableGauge: () => gauge }
    this.provider = { getMeter: () => meter } as unknown as MeterProvider
  }

  /** The values by path or state. */
  observe(): Record<string, number> {
    const values: Record<string, number> = {}
    const observe: Observe = (value, attributes) => (values[Object.values(attributes).join()] = value)
    for (const callback of this.#callbacks) callback({ observe })
    return values
  }
}

const publish = (name: string, message: object) => channel(`zkwire:${name}`).publish(message)

describe('the instrumentation', () => {
  let meter: RecordingMeter
  let instrumentation: ReturnType<typeof instrument>
  beforeEach(() => {
    meter = new RecordingMeter()
    instrumentation = instrument({ meterProvider: meter.provider })
  })
  afterEach(() => instrumentation.close())

  const heldFor = (seconds: number, signal = new AbortController().signal) => ({
    ...{ path: '/lock/n', token: 1n, signal, validFor: () => seconds * 1000 },
  })
  const acquire = (held: object | null, lock = '/lock') => publish('acquire', { lock, op: 'acquire', held, ms: 1 })
  const release = (held: object, lock = '/lock', error?: Error) => publish('release', { lock, held, ms: 1, error })

  describe('observes of the locks of one path', () => {
    for (const order of [
      [5, 2, 9],
      [2, 5, 9],
      [9, 5, 2],
    ])
      it(`the one that ends first, in the order ${order.join(', ')}`, () => {
        const all = order.map(seconds => heldFor(seconds))
        for (const each of all) acquire(each)
        acquire(heldFor(1), '/other')
        expect(meter.observe()).to.deep.equal({ '/lock': 2, '/other': 1 })
        const first = all.find(each => each.validFor() === 2000)
        if (first !== undefined) release(first)
        expect(meter.observe()).to.deep.equal({ '/lock': 5, '/other': 1 })
      })

    for (const [what, end] of [
      ['released', (held: object) => release(held)],
      ['lost', (held: object) => release(held, '/lock', new Error('lost'))],
    ] as const)
      it(`0 once after the last one was ${what}, and then nothing`, () => {
        const [one, another] = [heldFor(3), heldFor(4)]
        acquire(one)
        acquire(another)
        expect(meter.observe()).to.deep.equal({ '/lock': 3 })
        end(one)
        expect(meter.observe()).to.deep.equal({ '/lock': 4 })
        end(another)
        expect([meter.observe(), meter.observe()]).to.deep.equal([{ '/lock': 0 }, {}])
      })

    it('nothing of one that was lost before its message, and of an attempt without success', () => {
      acquire(heldFor(3, AbortSignal.abort()))
      acquire(null)
      expect(meter.observe()).to.deep.equal({})
    })
  })

  describe('names the server of a call', () => {
    const address = { host: 'zk1', port: 2181 }
    const call = (sessionId: bigint): Attributes => {
      const message = { sessionId, op: 'exists', path: '/', ms: 1 }
      publish('call', message)
      publish('request', message)
      return meter.records.findLast(({ name }) => name === 'db.client.operation.duration')?.attributes ?? {}
    }
    const change = (sessionId: bigint, state: string, previous = 'connected') =>
      publish('state', { sessionId, state, previous })

    for (const [state, knows] of [
      ['suspended', true],
      ['connected', true],
      ['connectedReadOnly', true],
      ['expired', false],
      ['closed', false],
      ['authFailed', false],
    ] as const)
      it(`${knows ? 'still' : 'not any more'} after the session is ${state}, and that of others`, () => {
        for (const sessionId of [1n, 2n]) publish('connect', { sessionId, address })
        for (const sessionId of [1n, 2n]) change(sessionId, 'connected', 'connecting')
        change(1n, state)
        expect(call(1n)['server.address']).to.equal(knows ? 'zk1' : undefined)
        expect(call(2n)['server.address']).to.equal('zk1')
        const counts = meter.observe()
        expect(counts['connected']).to.equal(state === 'connected' ? 2 : 1)
        expect(counts[state]).to.equal(state === 'connected' ? 2 : knows ? 1 : undefined)
      })

    it('which is the last one that accepted the session', () => {
      publish('connect', { sessionId: 1n, address })
      publish('connect', { sessionId: 1n, address: { host: 'zk2', port: 2182 } })
      expect(call(1n)).to.include({ 'server.address': 'zk2', 'server.port': 2182 })
    })
  })
})
