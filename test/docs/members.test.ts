// Measures the table of costs of docs/data.md that is about members, in virtual time, where each run has the same frames.
import { expect } from 'chai'
import type { Client } from '../../src/index.ts'
import { Membership, Partitioner, PersistentEphemeral, Services } from '../../src/recipes/index.ts'
import { readDocument } from '../support/document.ts'
import { measured, type Measurement } from './frame-costs.ts'

/** The number of members, items and instances that are there before the first step. */
const COUNT = 10

const names = Array.from({ length: COUNT }, (_, i) => `name-${i}`)

/** Returns the rows of the table. */
async function measure({ virtual, costs, client, other }: Measurement): Promise<string[]> {
  const rows: string[] = []
  const row = async (recipe: string, step: string, change: () => unknown) => {
    await virtual.sleep(100)
    costs.take()
    await change()
    await virtual.sleep(100)
    rows.push(`\`${recipe}\` | ${step} | ${costs.take()}`)
  }

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
    await virtual.sleep(100)
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
  return rows
}

describe('docs/data.md', () => {
  it('lists the measured costs of members', async () => {
    let rows: string[] = []
    await measured(async measurement => (rows = await measure(measurement)))
    const listed = [...readDocument('docs/data.md').matchAll(/^\| (`(?:Pers|Memb|Part|Serv)\w+` \| .*) \|$/gm)]
    expect(listed.map(([, row]) => row)).to.deep.equal(rows, rows.map(row => `| ${row} |`).join('\n'))
  })
})
