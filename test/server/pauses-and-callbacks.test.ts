// Pauses of servers of an embedded ensemble, and callbacks that act on the ensemble, in virtual time.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import type { Member, MemberState, ServerOptions, TransactionRecord } from '../../src/server/index.ts'
import { outcomeOf } from '../support/settled.ts'
import { ELECTION, TICK, UNAWARE, VirtualEnsemble } from '../support/virtual-ensemble.ts'

describe('an embedded ensemble', () => {
  let ensemble: VirtualEnsemble

  const start = async (options: ServerOptions = {}) => (ensemble = await VirtualEnsemble.start(options))

  afterEach(() => ensemble.close())

  const pauses: Readonly<Record<string, { paused: () => readonly Member[]; ms: number }>> = {
    'its leader': { paused: () => [ensemble.leader], ms: UNAWARE - TICK / 2 },
    'its leader, again and again': { paused: () => [ensemble.leader], ms: TICK },
    'a follower': { paused: () => ensemble.others.slice(0, 1), ms: UNAWARE - TICK },
    'both followers': { paused: () => ensemble.others, ms: UNAWARE - TICK },
    'all servers': { paused: () => ensemble.server.members, ms: 12 * TICK },
  }

  for (const [who, { paused, ms }] of Object.entries(pauses))
    for (const lagging of [0, 1, 2])
      it(`keeps its leader and its followers over a pause of ${who}, with ${lagging} followers that lag`, async () => {
        const changes: MemberState[] = []
        await start({ onMemberChange: change => changes.push(change) })
        const { clock } = ensemble
        const client = await ensemble.openAt([ensemble.leader], { sessionTimeout: 20_000 })
        const { others } = ensemble
        await clock.advance(2 * TICK)
        changes.length = 0
        const those = paused()
        for (let i = 0; i < (who.includes('again') ? 5 : 1); i++) {
          for (const each of those) each.pause()
          // Only now, so that no message is on its way that would arrive as soon as the servers go on.
          for (const each of others.slice(0, lagging)) each.lag(0.75 * TICK)
          await clock.advance(ms)
          for (const each of those) each.resume()
          await clock.advance(2 * TICK)
          for (const each of others) each.lag(0)
          await clock.advance(TICK)
        }
        expect(changes.map(({ mode }) => mode).filter(mode => mode === 'looking')).to.deep.equal([])
        expect([ensemble.modes, ensemble.leader.epoch]).to.deep.equal([['follower', 'follower', 'leader'], 1])
        await ensemble.until(client.retry(() => client.create('/after')))
        for (const each of ensemble.server.members) expect(each.snapshot().nodes.has('/after')).to.equal(true)
      })

  /** What a callback does at the commit of the second of five nodes. */
  const actions: Readonly<Record<string, (client: Client) => unknown>> = {
    'stops the leader': () => ensemble.leader.stop(),
    'stops all servers': () => ensemble.server.stop(),
    'stops the leader and starts it': () => {
      const { leader } = ensemble
      void leader.stop()
      void leader.start()
    },
    'stops a follower': () => ensemble.others[0].stop(),
    'pauses the leader': () => ensemble.leader.pause(),
    'pauses all servers, and resumes them': () => {
      ensemble.server.pause()
      ensemble.server.resume()
    },
    'cuts the leader off': () => ensemble.leader.cutOff(),
    'cuts both followers off': () => ensemble.others.forEach(each => each.cutOff()),
    'holds an election': () => void outcomeOf(ensemble.server.elect(ensemble.others[0])),
    'drops all connections': () => ensemble.server.dropConnections(),
    'ends the session': client => ensemble.server.expireSession(client.sessionId),
    'ends the session and stops the leader': client => {
      ensemble.server.expireSession(client.sessionId)
      void ensemble.leader.stop()
    },
    'writes, and stops the leader': client => {
      void outcomeOf(client.create('/more'))
      void ensemble.leader.stop()
    },
  }

  for (const [what, act] of Object.entries(actions))
    for (const at of ['leader', 'follower'] as const)
      it(`tells each transaction once, in order, and loses no write if onTransaction ${what} (client of a ${at})`, async () => {
        const told: TransactionRecord[] = []
        const clients: Client[] = []
        await start({
          onTransaction(transaction) {
            told.push(transaction)
            const isSecond = transaction.changes.some(({ path }) => path === '/node-1')
            if (isSecond) clients.forEach(act)
          },
        })
        const { server, clock } = ensemble
        const client = await ensemble.openAt([at === 'leader' ? ensemble.leader : ensemble.others[1]])
        clients.push(client)
        const calls = Array.from({ length: 5 }, async (_, i) => {
          const path = `/node-${i}`
          return { path, outcome: await outcomeOf(client.create(path)) }
        })
        await ensemble.quiet()
        await clock.advance(UNAWARE + 2 * TICK)
        server.heal()
        server.resume()
        await server.start()
        await clock.advance(ELECTION + 2 * UNAWARE)
        const results = await ensemble.until(Promise.all(calls))
        const zxids = told.map(({ zxid }) => zxid)
        expect(zxids, 'in order').to.deep.equal(zxids.toSorted((a, b) => Number(a - b)))
        expect(new Set(zxids).size, 'once').to.equal(zxids.length)
        const created = told.flatMap(({ changes }) => changes.map(({ path }) => path)).filter(path => /node/.test(path))
        const [first, ...others] = server.members.map(each => [...each.snapshot().nodes.keys()].toSorted())
        for (const each of others) expect(each).to.deep.equal(first)
        expect(first?.filter(path => /node/.test(path))).to.deep.equal(created.toSorted())
        expect(first).to.include('/node-1')
        for (const { path, outcome } of results) if (!(outcome instanceof Error)) expect(first).to.include(path)
        expect(ensemble.modes.filter(mode => mode === 'leader')).to.have.length(1)
      })
})
