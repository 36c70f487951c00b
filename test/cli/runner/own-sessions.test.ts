// The sessions of commands and of the shell, after an end of the session, and what is said of an outage.
import { expect } from 'chai'
import { OwnSessions } from '../../../src/cli/runner/connection.ts'
import { OutageNotices } from '../../../src/cli/runner/outage-notices.ts'
import { ShellSession } from '../../../src/cli/shell/shell-session.ts'
import type { Client, Dial } from '../../../src/index.ts'
import { ZooKeeperError } from '../../../src/protocol/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { grownBy } from '../../support/grown-collections.ts'
import { failureOf, outcomeOf } from '../../support/settled.ts'
import { VirtualServer } from '../../support/virtual-server.ts'

const virtual = () => VirtualServer.start()
type Stage = Awaited<ReturnType<typeof virtual>>

const target = ({ server, options }: Stage) => ({ servers: server.connectString, options })
const kinds = {
  'a command': (stage: Stage) => new OwnSessions(() => Promise.resolve(target(stage)), new AbortController().signal),
  'the shell': (stage: Stage) => new ShellSession(target(stage), new AbortController().signal, () => undefined),
} as const

const ends: Readonly<Record<string, (client: Client, stage: Stage) => unknown>> = {
  expired: ({ sessionId }, { server }) => server.expireSession(sessionId),
  authFailed: client => failureOf(client.addAuth('unknown', 'x')),
  closed: client => client.close(),
}

describe('the session of', () => {
  for (const [kind, make] of Object.entries(kinds)) {
    for (const [state, end] of Object.entries(ends).filter(([state]) => kind === 'the shell' || state === 'expired'))
      it(`${kind} is one for all until it is ${state}, and then a new one`, async () => {
        await using stage = await virtual()
        const sessions = make(stage)
        const client = await sessions.open()
        expect(await sessions.open()).to.equal(client)
        await end(client, stage)
        await stage.clock.advance(100)
        expect(client.state).to.equal(state)
        const next = await sessions.open()
        expect([next === client, next.state]).to.deep.equal([false, 'connected'])
        await sessions.close()
        expect(next.state).to.equal('closed')
      })
  }

  it('the shell is tried again once a second until a server is there', async () => {
    await using stage = await virtual()
    const { servers, options } = target(stage)
    let attempts = 0
    const dial: Dial = (...args) => (attempts++, stage.server.dial(...args))
    const sessions = new ShellSession(
      { servers, options: { ...options, dial } },
      new AbortController().signal,
      () => undefined,
    )
    await stage.server.stop()
    const opened = sessions.reopen()
    await stage.clock.advance(10_500)
    expect(attempts).to.equal(11)
    await stage.server.start()
    await stage.until(opened)
    expect(sessions.state).to.equal('connected')
    await sessions.close()
  })

  it('the shell keeps nothing of the tasks that it has run, nor of their signals', async () => {
    await using stage = await virtual()
    const sessions = kinds['the shell'](stage)
    const { signal } = new AbortController()
    const run = (nth: number) => {
      const task = () => (nth % 2 === 0 ? Promise.resolve() : Promise.reject(new Error('refused')))
      return outcomeOf(sessions.supervise(task, signal))
    }
    expect(await grownBy(12, run, [signal])).to.deep.equal([])
    await sessions.close()
  })

  it('the shell is opened later if no server was there', async () => {
    await using stage = await virtual()
    const sessions = kinds['the shell'](stage)
    await stage.server.stop()
    expect(await failureOf(sessions.open())).to.have.property('code')
    await stage.server.start()
    expect((await sessions.open()).state).to.equal('connected')
    await sessions.close()
  })
})

type Step = 'began' | 'ended' | 'failed' | 'stop' | number

describe('a command without a connection', () => {
  const cases: readonly (readonly [what: string, steps: readonly Step[], said: readonly number[]])[] = [
    ['says why after 3 s', ['began', 3000], [1]],
    ['says why the last attempt has failed', ['began', 1000, 'failed', 1000, 'failed', 1000], [3]],
    ['says it once', ['began', 3000, 'failed', 'began', 10_000], [1]],
    ['counts from the beginning', ['began', 2000, 'began', 1000], [2]],
    ['says nothing if it has one in time', ['began', 2999, 'ended', 10_000], []],
    ['says it again in the next outage', ['began', 3000, 'ended', 'began', 3000], [1, 2]],
    ['says nothing once it has ended', ['began', 2999, 'stop', 10_000], []],
  ]
  for (const [what, steps, expected] of cases)
    it(what, async () => {
      const clock = new VirtualClock()
      const said: number[] = []
      const notices = new OutageNotices(text => said.push(Number(/(\d+)\)?$/.exec(text)?.[1])), clock)
      const { onOutage, onConnectionError } = notices.addTo({})
      let errors = 0
      const error = () =>
        new ZooKeeperError('NOSERVER', { op: 'connect', fate: 'notSent', detail: `failure ${++errors}` })
      for (const step of steps) {
        if (typeof step === 'number') await clock.advance(step)
        else if (step === 'failed') onConnectionError?.(error())
        else if (step === 'stop') notices.stop()
        else onOutage?.({ phase: step, ...(step === 'began' && { error: error() }) } as never)
      }
      expect(said).to.deep.equal(expected)
      notices.stop()
      expect(clock.pendingTimers).to.equal(0)
    })
})
