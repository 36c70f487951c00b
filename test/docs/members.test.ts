// Measures the table of costs of docs/data.md that is about members, in virtual time, where each run has the same frames.
import { expect } from 'chai'
import { connect, type Client } from '../../src/index.ts'
import { Membership, Partitioner, PersistentEphemeral, Services } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { readDocument } from '../support/document.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { FrameCosts } from './frame-costs.ts'

/** The number of members, items and instances that are there before the first step. */
const COUNT = 10

class Measurement {
  readonly rows: string[] = []
  readonly #clock: VirtualClock
  readonly #costs: FrameCosts

  constructor(clock: VirtualClock, costs: FrameCosts) {
    this.#clock = clock
    this.#costs = costs
  }

  async row(recipe: string, step: string, change: () => unknown): Promise<void> {
    await this.pause()
    this.#costs.take()
    await change()
    await this.pause()
    this.rows.push(`\`${recipe}\` | ${step} | ${this.#costs.take()}`)
  }

  async pause(): Promise<void> {
    await new Promise<void>(resolve => void this.#clock.setTimeout(resolve, 100))
  }
}

const names = Array.from({ length: COUNT }, (_, i) => `name-${i}`)

/** @param client its frames are counted */
async function measure(measurement: Measurement, client: Client, other: Client): Promise<void> {
  const row = measurement.row.bind(measurement)

  await other.ensurePath('/nodes')
  const node = new PersistentEphemeral('/nodes/node', { data: '12345' })
  await row('PersistentEphemeral', '`start()`', () => node.start(client))
  await row('PersistentEphemeral', '`setData()`', () => node.setData('67890'))
  await row('PersistentEphemeral', 'another client deletes the node', () => other.delete('/nodes/node'))
  await row('PersistentEphemeral', '`close()`', () => node.close())

  await other.ensurePath('/group')
  const members = names.map(id => new Membership('/group', { id, data: '12345' }))
  for (const each of members) await each.start(other)
  const group = new Membership('/group', { id: 'self', data: '12345' })
  await row('Membership', '`start()`, as one more', () => group.start(client))
  await row('Membership', 'another member joins', () => other.create('/group/another', '12345', { mode: 'ephemeral' }))
  await row('Membership', 'another member changes its data', () => other.setData('/group/another', '67890'))
  await row('Membership', 'another member leaves', () => other.delete('/group/another'))
  await row('Membership', '`setData()`', () => group.setData('67890'))
  await row('Membership', '`close()`', () => group.close())
  for (const each of members) await each.close()

  await other.ensurePath('/shared/members')
  await other.ensurePath('/shared/owners')
  const stop = new AbortController()
  const run = (session: Client, id: string, signal: AbortSignal) =>
    new Partitioner(session, '/shared', names, { id }).run(() => undefined, { signal })
  let running: Promise<void> | undefined
  await row('Partitioner', '`run()`, alone', () => void (running = run(client, 'self', stop.signal)))
  const otherStop = new AbortController()
  let otherRunning: Promise<void> | undefined
  let mine = await ownedBy('self')
  expect(mine).to.equal(COUNT)
  await row('Partitioner', 'another member joins, and gets 5 items', () => {
    otherRunning = run(other, 'two', otherStop.signal)
  })
  mine = await ownedBy('self')
  expect(mine, 'items after another member joined').to.equal(COUNT / 2)
  await row('Partitioner', 'the other member leaves, and gives them back', () => {
    otherStop.abort()
    return otherRunning
  })
  expect(await ownedBy('self')).to.equal(COUNT)
  await row('Partitioner', 'the end of `run()`', () => {
    stop.abort()
    return running
  })

  async function ownedBy(id: string): Promise<number> {
    await measurement.pause()
    const owners = await new Partitioner(other, '/shared', names).owners()
    return [...owners.values()].filter(owner => owner === id).length
  }

  await other.ensurePath('/services/api')
  const theirs = new Services('/services')
  await theirs.start(other)
  const registrationTimeUTC = 1_700_000_000_000
  const given = (id: string) => ({ name: 'api', id, address: '10.0.0.1', port: 8080, registrationTimeUTC })
  for (const id of names) await theirs.register(given(id))
  const services = new Services('/services')
  await services.start(client)
  await row('Services', '`register()`', () => services.register(given('self')))
  await row('Services', '`provider()`', () => services.provider('api'))
  await row('Services', 'another instance is registered', () => theirs.register(given('another')))
  await row('Services', '`close()`', () => services.close())
  await theirs.close()
}

describe('docs/data.md', () => {
  it('lists the measured costs of members', async () => {
    const clock = new VirtualClock()
    const server = await Server.start({ listen: false, clock, random: seededRandom(1) })
    const options = { dial: server.dial, clock, random: seededRandom(1), sessionTimeout: 40_000 }
    const costs = new FrameCosts()
    const measurement = new Measurement(clock, costs)
    await clock.until(
      (async () => {
        await using other = await connect(server.connectString, options)
        await using client = await connect(server.connectString, { ...options, onFrame: costs.observe })
        await measure(measurement, client, other)
      })(),
    )
    await server.close()
    const listed = [...readDocument('docs/data.md').matchAll(/^\| (`(?:Pers|Memb|Part|Serv)\w+` \| .*) \|$/gm)]
    expect(listed.map(([, row]) => row)).to.deep.equal(
      measurement.rows,
      measurement.rows.map(r => `| ${r} |`).join('\n'),
    )
  })
})
