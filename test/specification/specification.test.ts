// The specifications of docs/spec: their invariants hold in each state, and runs of the embedded server are runs of them.
import { expect } from 'chai'
import { World } from '../../site/world/world.ts'
import type { Command } from '../../site/world/story.ts'
import { readDocument } from '../support/document.ts'
import { Specification, type State } from './evaluator.ts'
import { explore, firstStrange, type Observation } from './explore.ts'
import { clientName, lease, mutex, MUTEX_INVARIANTS } from './specifications.ts'
import { moduleOf } from './syntax.ts'
import { FunctionValue } from './values.ts'

describe('the page for teachers', () => {
  it('says of each message between servers which action of ZooKeeper’s specifications it is, or that they have none', () => {
    const [, chapter = ''] = readDocument('docs/teaching.md').split('\n## Specifications\n')
    const messages = readDocument('src/server/control/member-state.ts').matchAll(/^ +kind: .*|\{ kind: '\w+' \}/gm)
    const kinds = [...messages].flatMap(([line]) => [...line.matchAll(/'(\w+)'/g)].map(([, kind]) => kind))
    expect(kinds).to.include.members(['vote', 'inform', 'ping'])
    for (const kind of kinds) expect(chapter).to.contain(`\`${kind}\``)
  })
})

describe('the specification of the lease', () => {
  it('keeps the session as long as the lease lasts', () => {
    const { states, counterexample, actions } = explore(lease(3, 2, 4), ['LeaseIsKept'])
    expect(counterexample).to.equal(undefined)
    expect(states).to.be.above(5_000)
    expect(actions).to.have.property('size', 8)
  })

  it('does not if Q is sent too soon after the answer to P for a ping of the leader to come between', () => {
    for (const wait of [0, 1]) {
      const { counterexample } = explore(lease(3, wait, 4), ['LeaseIsKept'])
      expect(counterexample?.actions.at(-1)).to.equal('Expire')
      expect(counterexample?.actions).to.include.members(['SendP', 'SendQ', 'SendR'])
    }
  })
})

describe('the specification of the Mutex', () => {
  it('keeps its invariants with two clients', () => {
    const { counterexample, actions } = explore(mutex(2, 3), MUTEX_INVARIANTS)
    expect(counterexample).to.equal(undefined)
    expect(actions).to.have.property('size', 7)
  })

  for (const [bug, invariant, from, to] of [
    ['does not watch its own node', 'Told', 'IN {own[c], predecessor}', 'IN {predecessor}'],
    [
      'waits although a node that it watches is gone already',
      'NoLostWakeUp',
      'IF Watched(c) \\subseteq nodes THEN "waiting"',
      'IF TRUE THEN "waiting"',
    ],
  ] as const)
    it(`loses ${invariant} if a client ${bug}`, () => {
      const { counterexample } = explore(mutex(2, 3, [from, to]), [invariant])
      expect(counterexample?.invariant).to.equal(invariant)
    })

  it('has each run of the recipe on the embedded server, with releases and an expired session', async () => {
    const observations = await observed(4, [
      { kind: 'release', client: 1 },
      { kind: 'expire', client: 3 },
      { kind: 'join', client: 1 },
      { kind: 'release', client: 2 },
      { kind: 'release', client: 4 },
    ])
    expect(observations.filter(each => typeof each === 'function')).to.have.length(4)
    expect(strangeIn(observations, 4, 6)).to.equal(undefined)
  })

  it('has no run in which the second of the queue gets the lock before the first', async () => {
    const observations = await observed(3, [
      { kind: 'release', client: 1 },
      { kind: 'release', client: 2 },
    ])
    expect(strangeIn(observations, 3, 4)).to.equal(undefined)
    const isHold = (each: Observation) => typeof each === 'function'
    const second = observations.findIndex((each, i) => isHold(each) && observations.slice(0, i).some(isHold))
    const wrong = observations.with(second, holds(3))
    expect(strangeIn(wrong, 3, 4)).to.equal(second)
  })
})

const holds =
  (client: number): Observation =>
  (state: State) =>
    (state.get('pc') as FunctionValue).at(clientName(client)) === 'holding'

const strangeIn = (observations: readonly Observation[], clients: number, last: number) =>
  firstStrange(mutex(clients, last), observations, action => /^(Watch|Notified)/.test(action))

/** Lets clients use a Mutex, and returns what servers and clients did: all but the watches and the events. */
async function observed(clients: number, commands: readonly Command[]): Promise<Observation[]> {
  await using world = await World.open({ recipe: 'mutex', clients, servers: 1, seed: 7 })
  await world.settle()
  for (const command of commands) {
    await world.act(command)
    await world.settle()
  }
  const timed: [at: number, observation: Observation][] = []
  const expired = commands.flatMap(command => (command.kind === 'expire' ? [command.client] : []))
  const owners = new Map<string, number>()
  for (const { at, what, path, client = 0 } of world.history()) {
    if (!/^\/lock\/.*\d{10}$/.test(path)) continue
    if (what === 'created') owners.set(path, client)
    const owner = owners.get(path) ?? 0
    const action = what === 'created' ? 'Create' : expired.includes(owner) ? 'Expire' : 'Release'
    timed.push([at, `${action}("${clientName(owner)}")`])
  }
  // The list that the server answers before there is a node of the client says only that there is no directory.
  const created = (client: number, by: number) =>
    timed.some(([at, each]) => at <= by && each === `Create("${clientName(client)}")`)
  for (const { client, kind, op, sentAt } of world.frames)
    if (kind === 'answer' && op.startsWith('getChildren') && created(client, sentAt))
      timed.push([sentAt, `List("${clientName(client)}")`])
  for (const { client, at } of world.picture().holdings) timed.push([at, holds(client)])
  return timed.sort(([a], [b]) => a - b).map(([, observation]) => observation)
}

describe('a module of TLA+', () => {
  const moduleWith = (next: string) => `VARIABLES x\nInit == x = 0\nNext == ${next}\n====\n`
  const stepsOf = (next: string) => {
    const specification = new Specification(moduleOf(moduleWith(next)), {})
    return specification.initial().flatMap(state => specification.steps(state).map(step => step.state.get('x')))
  }

  it('takes the conjuncts and disjuncts that stand below each other as one list', () => {
    expect(
      stepsOf("\\/ /\\ x = 0\n           /\\ \\/ x' = 1\n              \\/ x' = 2\n        \\/ x' = 3"),
    ).to.deep.equal([1, 2, 3])
    expect(stepsOf("\\/ x = 1 /\\ x' = 1\n        \\/ x' \\in {y \\in 1..4 : y > 2}")).to.deep.equal([3, 4])
  })

  it('is refused with its line if it mixes conjunction and disjunction without brackets', () => {
    expect(() => moduleOf(moduleWith("x = 0 \\/ x = 1 /\\ x' = 1"))).to.throw('line 3: expected brackets')
  })

  it('is refused if an action leaves a variable open', () => {
    expect(() => stepsOf('x = 0')).to.throw('says nothing of x')
  })
})
