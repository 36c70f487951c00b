// The commands that run until Ctrl-C, while their connections and sessions are lost.
import { expect } from 'chai'
import { until } from '../../../environment/until.ts'
import { connect, type Client } from '../../../src/index.ts'
import { Server, type FaultKind } from '../../../src/server/index.ts'
import { grownBy } from '../../support/grown-collections.ts'
import { inProcess, type Starters } from './in-process.ts'

const UUID = '01234567-89ab-4cde-8f01-23456789abcd'
const CONTENDER = { mode: 'ephemeralSequential', parents: true } as const

/** The commands, what they print at each change, and the requests that they repeat. */
const commands: Record<
  string,
  {
    first: (zk: Client) => Promise<unknown>
    /** What the command has printed then. */
    begun: string
    change: (zk: Client, count: number) => Promise<unknown>
    /** Part of what the command prints after that many changes. */
    changed: (count: number) => string
    kinds: readonly FaultKind[]
  }
> = {
  'get --watch /a': {
    first: zk => zk.create('/a', 'begun'),
    begun: 'begun\n',
    change: (zk, count) => zk.setData('/a', `change ${count}`),
    changed: count => `change ${count}\n`,
    kinds: ['getData'],
  },
  'get --watch /missing': {
    first: () => Promise.resolve(),
    begun: 'zkwire get: there is no node /missing\n',
    change: async (zk, count) => {
      if ((await zk.exists('/missing')) !== null) await zk.setData('/missing', `change ${count}`)
      else await zk.create('/missing', `change ${count}`)
    },
    changed: count => `change ${count}\n`,
    kinds: ['getData'],
  },
  'watch /a': {
    first: zk => zk.create('/a'),
    begun: '  watching  /a\n',
    change: (zk, count) => zk.setData('/a', `change ${count}`),
    changed: () => '  NodeDataChanged  /a\n',
    kinds: ['addWatch'],
  },
  'who --follow /lock': {
    first: zk => zk.create(`/lock/_c_${UUID}-lock-`, 'begun', CONTENDER),
    begun: '  begun\n\n',
    change: (zk, count) => zk.create(`/lock/_c_${UUID}-lock-`, `change ${count}`, CONTENDER),
    changed: count => `  change ${count}\n\n`,
    kinds: ['getChildren', 'getData'],
  },
  // It watches three nodes, of which a change notifies one.
  'who --follow /semaphore': {
    first: zk => zk.create(`/semaphore/leases/_c_${UUID}-lease-`, 'begun', CONTENDER),
    begun: '  begun\n\n',
    change: (zk, count) => zk.create(`/semaphore/leases/_c_${UUID}-lease-`, `change ${count}`, CONTENDER),
    changed: count => `  change ${count}\n\n`,
    kinds: [],
  },
  'leader --follow /election': {
    first: zk => zk.create(`/election/_c_${UUID}-latch-`, 'begun', CONTENDER),
    begun: 'begun  session',
    change: async (zk, count) => {
      const { children } = await zk.getChildren('/election')
      await zk.create(`/election/_c_${UUID}-latch-`, `change ${count}`, CONTENDER)
      for (const name of children) await zk.delete(`/election/${name}`)
    },
    changed: count => `change ${count}  session`,
    kinds: ['exists'],
  },
}

describe('in this process, a command until Ctrl-C', () => {
  let server: Server
  let zk: Client
  let start: Starters['start']

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ start } = await inProcess(server))
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  const sessionOfCommand = () => server.snapshot().sessions.find(({ id }) => id !== zk.sessionId)?.id ?? 0n

  for (const [line, { first, begun, change, changed, kinds }] of Object.entries(commands))
    describe(line, () => {
      let running: ReturnType<Starters['start']>
      let count: number
      /** The sessions of the command that were expired. */
      const ended = new Set<bigint>()

      beforeEach(async () => {
        count = 0
        ended.clear()
        await first(zk)
        running = start(line.split(' '))
        await until(() => (running.out + running.err).includes(begun))
      })
      afterEach(async () => {
        running.signals.deliver('SIGINT')
        expect((await running.ended).status).to.equal(130)
      })

      /** Changes the node, and waits until the command has printed that. */
      const printsNextChange = async () => {
        const before = running.out.length
        await change(zk, ++count)
        await until(() => running.out.slice(before).includes(changed(count)))
      }
      const expire = () => {
        ended.add(sessionOfCommand())
        server.expireSession(sessionOfCommand())
      }
      /** Waits until the command watches in a new session. `watch` does not know what happened before. */
      const resumes = () => until(() => server.snapshot().watches.some(({ session }) => !ended.has(session)))

      it('keeps nothing of a change when the next one is printed', async () => {
        await printsNextChange()
        const watches = server.snapshot().watches.length
        expect(await grownBy(12, printsNextChange, [running.signals.ending])).to.deep.equal([])
        expect(server.snapshot().watches).to.have.length(watches)
      })

      it('goes on after an expiry', async () => {
        await printsNextChange()
        expire()
        await resumes()
        await printsNextChange()
      })

      for (const kind of kinds) {
        it(`goes on after an expiry, and the loss of the connection at the next ${kind}`, async () => {
          const drop = server.faults.drop(kind)
          expire()
          await drop.triggered
          await resumes()
          await printsNextChange()
        })

        it(`goes on after an expiry during the next ${kind}`, async () => {
          const delay = server.faults.delay(kind, 60_000)
          expire()
          await delay.triggered
          expire()
          delay.release()
          await resumes()
          await printsNextChange()
        })

        if (kind !== 'addWatch')
          it(`goes on after the loss of the connection at a ${kind}`, async () => {
            const drop = server.faults.drop(kind, { session: sessionOfCommand() })
            await printsNextChange()
            await drop.triggered
          })
      }
    })
})
