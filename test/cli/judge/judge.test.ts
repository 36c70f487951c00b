// The pure parts of `zkwire judge`: plans, the order of a queue, and the drawing. test/cli/process/judge.test.ts runs programs.
import { expect } from 'chai'
import { linesOf, relevantOf, svgOf } from '../../../src/cli/judge/diagram.ts'
import { FAULTS, FAULT_NAMES, plansFor, smallerThan, type Plan } from '../../../src/cli/judge/plan.ts'
import type { Row } from '../../../src/cli/judge/record.ts'
import { overtakenBy } from '../../../src/cli/judge/traces-left.ts'
import { Server } from '../../../src/server/index.ts'
import { connect } from '../../../src/index.ts'

const planned = (seed: number, trials = 11) =>
  plansFor({ seed, trials, copies: 4, rounds: 2, faults: FAULT_NAMES }) as [Plan, ...Plan[]]

describe('zkwire judge', () => {
  it('plans a trial without faults, and then all faults, whatever the seed', () => {
    for (let seed = 0; seed < 50; seed++) {
      const [calm, ...others] = planned(seed)
      expect(calm.faults).to.deep.equal([])
      expect(others.flatMap(({ faults }) => faults.map(({ kind }) => kind))).to.include.members([...FAULTS])
    }
  })

  it('plans the same for a seed, and something else for another one', () => {
    expect(planned(7)).to.deep.equal(planned(7))
    expect(planned(7)).not.to.deep.equal(planned(8))
  })

  it('lets a fault hit a waiting copy that has one before it and one behind it', () => {
    const waiting = planned(1, 200).flatMap(({ faults }) => faults.filter(({ kind }) => kind.moment === 'waits'))
    expect(new Set(waiting.map(({ copy, round }) => `${copy} ${round}`))).to.deep.equal(new Set(['2 1', '3 1']))
  })

  it('makes plans smaller until there is nothing to leave out, with their faults within them', () => {
    for (const plan of planned(3)) {
      let all = [plan]
      for (let depth = 0; all.length > 0; depth++) {
        expect(depth).to.be.lessThan(10)
        all = all.slice(0, 20).flatMap(smallerThan)
        for (const { copies, rounds, faults, servers } of all) {
          for (const fault of faults) expect(fault).to.satisfy(() => fault.copy <= copies && fault.round <= rounds)
          if (faults.some(({ kind }) => kind.needsEnsemble)) expect(servers).to.equal(3)
        }
      }
    }
  })

  it('draws what the judge and the programs did also if a copy asks again and again until the end', () => {
    const row = (kind: Row['kind'], at: number): Row => ({
      ...{ at, copy: 1, kind, text: `${kind} ${at}`, holders: [], line: undefined },
    })
    const frames = Array.from({ length: 500 }, (_, i) => row(i % 2 === 0 ? 'sent' : 'received', i + 3))
    const rows = [row('says', 0), row('judge', 1), row('says', 2), ...frames]
    const drawn = relevantOf(rows)
    expect(drawn).to.have.length(120)
    expect(drawn).to.deep.equal([...rows.slice(1, 3), ...rows.slice(-118)])
    const talkative = Array.from({ length: 500 }, (_, i) => row('says', i))
    expect(relevantOf([row('judge', 0), ...talkative])).to.deep.equal(talkative.slice(-120))
  })

  it('knows the older of two nodes by the number that the server appended, also after a hyphen and below zero', async () => {
    await using server = await Server.start({ listen: false })
    const open = () => connect(server.connectString, { dial: server.dial })
    await using first = await open()
    await using second = await open()
    const [a, b] = [first, second].map(({ sessionId }, i) => ({
      ...{ number: i + 1, session: sessionId, sessions: new Set([sessionId]) },
    })) as unknown as [Client, Client]
    for (const [directory, prefix] of [
      ['/hyphen', 'n-'],
      ['/none', 'z'],
      ['/below', 'n'],
    ] as const) {
      await first.create(directory)
      if (directory === '/below') server.setSequenceCounter(directory, -20)
      for (const zk of [first, second]) await zk.create(`${directory}/${prefix}`, '', { mode: 'ephemeralSequential' })
      expect(overtakenBy(b, [a], server.snapshot())?.number, directory).to.equal(1)
      expect(overtakenBy(a, [b], server.snapshot()), directory).to.equal(undefined)
      for (const zk of [first, second])
        for (const { children } of [await zk.getChildren(directory)])
          for (const name of children)
            if ((await zk.exists(`${directory}/${name}`))?.ephemeralOwner === zk.sessionId)
              await zk.delete(`${directory}/${name}`)
    }
  })

  it('draws each row in the lane of its copy, and escapes what a program prints', () => {
    const rows: Row[] = [
      { at: 1, copy: 2, kind: 'sent', text: '#1 create', holders: [1] },
      { at: 2, copy: 1, kind: 'received', text: '#2 <exists>', holders: [] },
      { at: 3, copy: 1, kind: 'says', text: 'in \u001b[2J', holders: [1] },
    ]
    expect(linesOf(rows)).to.deep.equal([
      'seconds  1  2  server',
      '  0.001  ┃  ├─▶│  2 #1 create',
      '  0.002  ◀──┼──│  1 #2 <exists>',
      '  0.003  ●  │  │  1 says in \\u001b[2J',
    ])
    const svg = svgOf(rows, 'two & <one>')
    expect(svg).to.contain('<title>two &amp; &lt;one&gt;</title>').and.contain('#2 &lt;exists&gt;')
    expect(svg).not.to.contain('\u001b')
  })
})

interface Client {
  readonly number: number
  readonly session: bigint
  readonly sessions: ReadonlySet<bigint>
}
