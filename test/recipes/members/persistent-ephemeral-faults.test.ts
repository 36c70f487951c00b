// A PersistentEphemeral with a fault at each of its requests: its node is there once, and close() leaves nothing.
import { expect } from 'chai'
import { opcodes } from '../../../src/protocol/index.ts'
import { PersistentEphemeral } from '../../../src/recipes/index.ts'
import { outcomeOf, failureOf } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

onBothServers('PersistentEphemeral under faults', (fixture, { itInVirtualTime, itEverywhere }) => {
  let path: string

  beforeEach(() => {
    path = `${fixture.path}/above/node`
  })

  const ownerOf = async () => (await fixture.observer.exists(path))?.ephemeralOwner
  const dataOf = async () => (await fixture.observer.getData(path)).data?.toString()

  for (const opcode of ['create2', 'getData', 'setData', 'multi', 'delete', 'sync', 'exists'] as const)
    for (const fault of ['dropRequest', 'dropReply'] as const) {
      const define = fault === 'dropRequest' ? itInVirtualTime : itEverywhere
      define(`starts, writes and closes if the connection is lost at a ${opcode} (${fault})`, async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const older = await fixture.open()
        await fixture.observer.ensurePath(`${fixture.path}/above`)
        if (opcode === 'multi') await older.create(path, '', { mode: 'ephemeral' })
        const happened = faultyDial[fault](opcodes[opcode])
        const node = new PersistentEphemeral(path, { data: 'one' })
        await node.start(client)
        expect(await ownerOf()).to.equal(client.sessionId)
        await node.setData('two')
        expect(await dataOf()).to.equal('two')
        await node.close()
        await happened
        expect(await ownerOf()).to.equal(undefined)
      })
    }

  for (const opcode of ['create2', 'getData', 'multi'] as const)
    for (const end of ['deliver', 'cut'] as const) {
      itInVirtualTime(`leaves no node if start() is cancelled during a ${opcode} (${end})`, async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const older = await fixture.open()
        await fixture.observer.ensurePath(`${fixture.path}/above`)
        if (opcode === 'multi') await older.create(path, '', { mode: 'ephemeral' })
        const abort = new AbortController()
        const held = faultyDial.holdReply(opcodes[opcode])
        const failing = failureOf(new PersistentEphemeral(path).start(client, { signal: abort.signal }))
        await held
        const reason = new Error('cancelled')
        abort.abort(reason)
        expect(await failing).to.equal(reason)
        faultyDial[end]()
        await client.settled()
        if (end === 'cut') await fixture.until(async () => (await fixture.watchCount()) === fixture.watchesBefore)
        expect(await fixture.ephemeralNodes()).to.deep.equal([])
      })

      itInVirtualTime(`rejects if the session expires during a ${opcode} of start() (${end})`, async () => {
        const { faultyDial, client } = await fixture.openWithFaults()
        const older = await fixture.open()
        await fixture.observer.ensurePath(`${fixture.path}/above`)
        if (opcode === 'multi') await older.create(path, '', { mode: 'ephemeral' })
        const held = faultyDial.holdReply(opcodes[opcode])
        const failing = failureOf(new PersistentEphemeral(path).start(client))
        await held
        await fixture.expire(client)
        faultyDial[end]()
        expect(await failing).to.have.property('code', 'SESSIONEXPIRED')
        await client.settled()
      })
    }

  itInVirtualTime('finds the sequential node of a create whose reply was lost', async () => {
    const { faultyDial, client } = await fixture.openWithFaults()
    await fixture.observer.ensurePath(`${fixture.path}/above`)
    const happened = faultyDial.dropReply(opcodes.create2)
    await using node = new PersistentEphemeral(`${path}-`, { mode: 'ephemeralSequential' })
    await node.start(client)
    await happened
    expect(await fixture.ephemeralNodes()).to.deep.equal([node.path])
  })

  itInVirtualTime(
    'rejects setData() when the session ends or close() is called, and has the data in the next session',
    async () => {
      const { faultyDial, client } = await fixture.openWithFaults()
      const node = new PersistentEphemeral(path, { data: 'one' })
      await node.start(client)
      faultyDial.refuse()
      const first = outcomeOf(node.setData('two'))
      await fixture.expire(client)
      faultyDial.accept()
      expect(await first).to.have.property('code', 'SESSIONEXPIRED')
      const next = await fixture.openWithFaults()
      await node.start(next.client)
      expect(await dataOf()).to.equal('two')
      next.faultyDial.refuse()
      const second = outcomeOf(node.setData('three'))
      const closing = node.close()
      expect(await second).to.have.property('code', 'CLOSED')
      next.faultyDial.accept()
      await closing
    },
  )
})
