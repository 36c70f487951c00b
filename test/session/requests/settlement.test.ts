import { expect } from 'chai'
import fc from 'fast-check'
import { operations } from '../../../src/protocol/index.ts'
import { settle } from '../../../src/testing/virtual-clock.ts'
import { handshakeFrame, type ScriptedConnection } from '../../support/scripted-server.ts'
import { dataReply, scriptedSession, T, type ScriptedSession } from '../../support/scripted-session.ts'

type Step =
  | { do: 'submit'; count: number; watch: boolean }
  | { do: 'abort' | 'cut' | 'open' | 'handshake' | 'expire' | 'authFail' | 'badBytes' | 'close' }
  | { do: 'reply'; count: number; bytes: number }
  | { do: 'advance'; ms: number }
  | { do: 'stall'; ms: number }

const steps: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('submit' as const),
      count: fc.integer({ min: 1, max: 3 }),
      watch: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('reply' as const),
      count: fc.integer({ min: 1, max: 4 }),
      bytes: fc.integer({ min: 1, max: 200 }),
    }),
  },
  { weight: 4, arbitrary: fc.constantFrom<Step>({ do: 'open' }, { do: 'handshake' }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'cut' }, { do: 'abort' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>({ do: 'expire' }, { do: 'authFail' }, { do: 'badBytes' }, { do: 'close' }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: T }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('stall' as const), ms: fc.integer({ min: 1, max: 2 * T }) }) },
)

/** Runs a script and counts how often each call settles. */
class ScriptRunner {
  readonly #all: ScriptedSession
  readonly outcomes: { settled: number; error: unknown }[] = []
  readonly #signals: AbortController[] = []
  readonly #answered = new Map<ScriptedConnection, number>()
  readonly #unsent = new Map<ScriptedConnection, Buffer>()
  readonly #opened = new Set<ScriptedConnection>()
  readonly states: string[] = []

  constructor(all: ScriptedSession) {
    this.#all = all
    this.#opened.add(all.connection)
    all.client.on('state', state => this.states.push(state))
  }

  get #connection(): ScriptedConnection {
    return this.#all.server.connections.at(-1) as ScriptedConnection
  }

  async step(step: Step): Promise<void> {
    const { client, clock } = this.#all
    const connection = this.#connection
    const isLive = !connection.dropped
    if (step.do === 'submit') for (let i = 0; i < step.count; i++) this.#submit(step.watch)
    else if (step.do === 'abort') this.#signals.at(-1)?.abort()
    else if (step.do === 'advance') await clock.advance(step.ms)
    else if (step.do === 'stall') clock.stall(step.ms)
    else if (step.do === 'close') void client.close()
    else if (!isLive) return
    else if (step.do === 'cut') connection.close()
    else if (step.do === 'open' && !this.#opened.has(connection)) this.#open(connection)
    else if (connection.connectRequest === undefined) return
    else if (step.do === 'handshake' && connection !== this.#all.connection && connection.received.length === 0)
      connection.send(handshakeFrame(connection.connectRequest))
    else if (step.do === 'expire' && connection !== this.#all.connection)
      connection.send(handshakeFrame(connection.connectRequest, { timeOut: 0 }))
    else if (step.do === 'badBytes') connection.send(Buffer.alloc(4, 0xff))
    else if (step.do === 'authFail') connection.send(Buffer.from('00000010fffffffc0000000000000000ffffff8d', 'hex'))
    else if (step.do === 'reply') this.#reply(connection, step.count, step.bytes)
  }

  #open(connection: ScriptedConnection): void {
    this.#opened.add(connection)
    connection.open()
  }

  #submit(watch: boolean): void {
    const outcome: ScriptRunner['outcomes'][number] = { settled: 0, error: undefined }
    this.outcomes.push(outcome)
    const controller = new AbortController()
    this.#signals.push(controller)
    const options = { signal: controller.signal, ...(watch && { watch: () => undefined }) }
    this.#all.client.getData('/a', options).then(
      () => outcome.settled++,
      (error: unknown) => {
        outcome.settled++
        outcome.error = error
      },
    )
  }

  /** Sends the next replies, perhaps without their last bytes, which precede the replies of the next call. */
  #reply(connection: ScriptedConnection, count: number, bytes: number): void {
    const from = this.#answered.get(connection) ?? 0
    const due = connection.requests.slice(from, from + count)
    this.#answered.set(connection, from + due.length)
    const answers = due.map(request =>
      connection.replyTo(request, request.op === operations.getData ? dataReply() : {}),
    )
    const stream = Buffer.concat([this.#unsent.get(connection) ?? Buffer.alloc(0), ...answers])
    const end = bytes > 150 ? Math.min(stream.length, bytes) : stream.length
    this.#unsent.set(connection, stream.subarray(end))
    connection.send(stream.subarray(0, end))
  }
}

describe('every request', () => {
  it('settles exactly once, at the latest when the session ends, for any sequence of faults', async function () {
    this.timeout(60_000)
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 40 }), async script => {
        const all = await scriptedSession({}, 'a,b')
        const runner = new ScriptRunner(all)
        for (const step of script) {
          await runner.step(step)
          await settle()
        }
        const closing = all.client.close()
        for (const connection of all.server.connections) if (!connection.dropped) connection.close()
        await all.clock.advance(T)
        await closing
        await settle()
        for (const { settled } of runner.outcomes) expect(settled).to.equal(1)
        // Bad bytes in the middle of a reply shift the rest, so that another field is read as the error of a server.
        const fates = ['notSent', 'unknown', ...(script.some(step => step.do === 'badBytes') ? ['refused'] : [])]
        for (const { error } of runner.outcomes) {
          if (error === undefined || (error as Error).name === 'AbortError') continue
          expect(error).to.have.property('fate').that.is.oneOf(fates)
        }
        expect(all.client.state).to.be.oneOf(['closed', 'expired', 'authFailed'])
        expect(all.clock.pendingTimers).to.equal(0)
        expect(all.callbackErrors).to.deep.equal([])
        // No state event repeats the previous state, and none follows a terminal state.
        expect(runner.states.join(' ')).to.match(/^(suspended connected ?)*(suspended ?)?(closed|expired|authFailed)$/)
        for (const { received } of all.server.connections) {
          const xids = received.map(({ xid }) => xid).filter(xid => xid > 0)
          expect([...xids].sort((a, b) => a - b)).to.deep.equal(xids)
        }
      }),
      { numRuns: 400 },
    )
  })
})
