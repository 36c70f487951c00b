// A client that is silent: the servers expire its session in time, wherever it was, and however long it had lived.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { opcodes } from '../../src/protocol/index.ts'
import type { ServerOptions } from '../../src/server/index.ts'
import { outcomeOf } from '../support/settled.ts'
import { TICK, VirtualEnsemble } from '../support/virtual-ensemble.ts'

const T = 10 * TICK

describe('the session of a silent client', () => {
  let ensemble: VirtualEnsemble

  afterEach(() => ensemble.close())

  const places: Readonly<Record<string, { options?: ServerOptions; open: () => Promise<Client> }>> = {
    'of a leader': { open: () => ensemble.openAt([ensemble.leader]) },
    'of a follower': { open: () => ensemble.openAt([ensemble.others[0]]) },
    'of an observer': { options: { observers: 1 }, open: () => ensemble.openAt(ensemble.server.members.slice(-1)) },
    'that has moved to a follower': {
      async open() {
        const client = await ensemble.openAt([ensemble.leader, ensemble.others[0]])
        ensemble.leader.faults.ignore('ping')
        await ensemble.clock.advance(T)
        expect(ensemble.others[0].stats.received).to.be.above(1)
        return client
      },
    },
    'that has written': {
      async open() {
        const client = await ensemble.openAt([ensemble.others[0]])
        await ensemble.until(client.create('/own', '', { mode: 'ephemeral' }))
        return client
      },
    },
  }
  for (const [where, { options, open }] of Object.entries(places))
    for (const life of [0, 1, 10])
      it(`${where} expires after its timeout and two ticks, after a life of ${life} timeouts`, async () => {
        ensemble = await VirtualEnsemble.start(options)
        const { server, clock } = ensemble
        const others = await Promise.all(server.members.map(member => ensemble.openAt([member])))
        const client = await open()
        const { sessionId } = client
        await clock.advance(life * T)
        const isThere = () => server.snapshot().sessions.some(({ id }) => id === sessionId)
        const hasNode = () => server.members.some(each => each.snapshot().nodes.has('/own'))
        for (const operation of ['ping', 'connect'] as const)
          server.faults.ignore(operation, { session: sessionId, times: Infinity })
        // The last request may have been as late as now.
        await clock.advance(0.7 * T - TICK)
        expect(isThere()).to.equal(true)
        await clock.advance(0.3 * T + 3 * TICK)
        expect([isThere(), hasNode()]).to.deep.equal([false, false])
        for (const other of others) expect(await outcomeOf(ensemble.until(other.exists('/')))).to.have.property('czxid')
      })

  for (const servers of [1, 3])
    it(`stays in a pause that begins at the end of another one in the same tick (${servers} servers)`, async () => {
      let ends = 0
      const onTransaction: ServerOptions['onTransaction'] = ({ opcode }) => {
        if (opcode === opcodes.closeSession && ends++ === 0) ensemble.server.pause()
      }
      ensemble = await VirtualEnsemble.start({ servers, onTransaction })
      const { server, clock } = ensemble
      const open = () => connect(server.connectString, { dial: server.dial, clock, sessionTimeout: T })
      const clients = [await ensemble.until(open()), await ensemble.until(open())]
      for (const operation of ['ping', 'connect'] as const) server.faults.ignore(operation, { times: Infinity })
      await clock.advance(3 * T)
      expect(server.snapshot().sessions).to.have.length(1)
      server.resume()
      await clock.advance(2 * TICK)
      expect(server.snapshot().sessions).to.have.length(0)
      await ensemble.until(Promise.all(clients.map(client => client.close())))
    })
})
