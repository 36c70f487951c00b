// A downgrade from the write lock to the read lock: no other contender gets the lock in between, whichever request or
// reply is lost.
import { expect } from 'chai'
import { once } from 'node:events'
import { aclOf, openACL, perms, type Client } from '../../../src/index.ts'
import { MultiRequest, opcodes } from '../../../src/protocol/index.ts'
import { RecipeError, ReadWriteLock, type ReadWriteLockOptions } from '../../../src/recipes/index.ts'
import { onRequest } from '../../support/sent-opcodes.ts'
import { failureOf, trackSettled } from '../../support/settled.ts'
import { onBothServers } from '../fixture.ts'

const hosts = {
  read: { prefix: 'host-R-', pattern: /^host-R-(\d+)$/ },
  write: { prefix: 'host-W-', pattern: /^host-W-(\d+)$/ },
}

onBothServers('a downgrade', (fixture, { itInVirtualTime, itEverywhere }) => {
  const lockOf = (client: Client, options?: ReadWriteLockOptions) => new ReadWriteLock(client, fixture.path, options)
  const paths = () => fixture.childPaths()

  async function writeLockWithFaults(options?: ReadWriteLockOptions) {
    const { faultyDial, client } = await fixture.openWithFaults()
    const held = await lockOf(client, options).writeLock.acquire()
    return { faultyDial, client, held }
  }

  for (const [variant, options] of [
    ['with Curator’s names', {}],
    ['with kazoo’s names', { dialect: 'kazoo' }],
    ['with custom names', { dialect: hosts }],
    ['with herd: true', { herd: true }],
  ] satisfies [string, ReadWriteLockOptions][])
    itEverywhere(`lets the next readers acquire, and no waiting writer, ${variant}`, async () => {
      const [client, writer, reader] = [await fixture.open(), await fixture.open(), await fixture.open()]
      const held = await lockOf(client, options).writeLock.acquire()
      const reading = lockOf(reader, options).readLock.acquire()
      await fixture.waitForWatches(1)
      const writing = lockOf(writer, options).writeLock.acquire()
      const isWritten = trackSettled(writing)
      await fixture.waitForWatches(2)

      const read = await held.downgrade()
      expect(read.path.slice(-10)).to.equal(held.path.slice(-10))
      expect(read.token).to.equal(held.token)
      const nextRead = await reading
      expect(await paths())
        .to.include(read.path)
        .and.not.include(held.path)
      await nextRead.release()
      await writer.sync('/')
      expect(isWritten()).to.equal(false)
      await read.release()
      const written = await writing
      expect(written.token > read.token).to.equal(true)
      await written.release()
    })

  itEverywhere(
    'sends one transaction that checks the write node and creates the read node, and then deletes the write node',
    async () => {
      const sent: number[] = []
      let multi: Uint8Array | undefined
      const client = await fixture.open({
        onFrame: onRequest('any', ({ opcode, body }) => {
          if (opcode === opcodes.multi) multi = body
          if (opcode !== opcodes.ping) sent.push(opcode)
        }),
      })
      const held = await lockOf(client, { id: 'me' }).writeLock.acquire()
      sent.length = 0
      const read = await held.downgrade()
      expect(sent).to.deep.equal([opcodes.multi, opcodes.exists, opcodes.delete])
      const [check, create] = MultiRequest.decode(Buffer.from(multi ?? []))
      expect(check).to.deep.include({ type: opcodes.check }).and.to.have.nested.property('body.path', held.path)
      expect(create).to.have.nested.property('body.path', read.path)
      const node = await fixture.observer.getData(read.path)
      expect(String(node.data)).to.equal('me')
      expect(node.stat.ephemeralOwner).to.equal(client.sessionId)
      await read.release()
    },
  )

  itInVirtualTime('makes the write hold behave as a released one', async () => {
    const held = await lockOf(await fixture.open()).writeLock.acquire({ watchOwnNode: true })
    const read = await held.downgrade()
    expect([held.validFor(), held.signal.aborted]).to.deep.equal([0, false])
    expect(await failureOf(held.guard().setData(fixture.path, '').commit())).to.have.property('code', 'NONODE')
    expect(await held.downgrade()).to.equal(read)
    await held.release()
    expect(await paths()).to.deep.equal([read.path])
    expect(read.validFor()).to.be.greaterThan(0)
    await read.guard().setData(fixture.path, 'guarded').commit()
    await read.release()
    expect(held.signal.aborted).to.equal(false)
  })

  itInVirtualTime('rejects with LOST after the release of the read lock', async () => {
    const held = await lockOf(await fixture.open()).writeLock.acquire()
    const read = await held.downgrade()
    await read.release()
    expect(await failureOf(held.downgrade())).to.include({ code: 'LOST' })
    expect(await paths()).to.deep.equal([])
  })

  itInVirtualTime('is not disturbed by a release() of the write hold before it resolves', async () => {
    const { faultyDial, held } = await writeLockWithFaults()
    const arrived = faultyDial.holdReply(opcodes.multi)
    const downgrading = held.downgrade()
    await arrived
    const releasing = held.release()
    expect(await paths()).to.have.length(2)
    faultyDial.deliver()
    const read = await downgrading
    await releasing
    expect(await paths()).to.deep.equal([read.path])
    await read.release()
  })

  for (const refused of ['multi', 'delete'] as const)
    for (const isReleased of [false, true]) {
      const then = isReleased ? 'and releases it by a release() meanwhile' : 'with no node beside its own'
      itInVirtualTime(`keeps the write lock if its ${refused} is refused, ${then}`, async () => {
        const client = await fixture.open()
        const held = await lockOf(client).writeLock.acquire()
        fixture.embedded.faults.replace(refused, 'NOAUTH', { session: client.sessionId })
        const downgrading = failureOf(held.downgrade())
        const releasing = isReleased ? held.release() : undefined
        expect(await downgrading).to.have.property('code', 'NOAUTH')
        await releasing
        await client.settled()
        expect(await paths()).to.deep.equal(isReleased ? [] : [held.path])
        await held.release()
      })
    }

  itInVirtualTime('rejects with LOST after release()', async () => {
    const held = await lockOf(await fixture.open()).writeLock.acquire()
    const releasing = held.release()
    expect(await failureOf(held.downgrade()))
      .to.be.instanceOf(RecipeError)
      .with.property('code', 'LOST')
    await releasing
    expect(held.signal.aborted).to.equal(false)
  })

  itEverywhere('keeps the write lock if the server rejects it with NOAUTH', async () => {
    const held = await lockOf(await fixture.open()).writeLock.acquire()
    await fixture.observer.setACL(fixture.path, [aclOf('world', 'anyone', perms.all & ~perms.create)])
    expect(await failureOf(held.downgrade())).to.have.property('code', 'NOAUTH')
    expect(held.validFor()).to.be.greaterThan(0)
    await fixture.observer.setACL(fixture.path, openACL)
    await (await held.downgrade()).release()
  })

  itInVirtualTime('keeps a write lock that still reports its loss if the write node cannot be deleted', async () => {
    const held = await lockOf(await fixture.open()).writeLock.acquire({ watchOwnNode: true })
    await fixture.observer.setACL(fixture.path, [aclOf('world', 'anyone', perms.all & ~perms.delete)])
    expect(await failureOf(held.downgrade())).to.have.property('code', 'NOAUTH')
    await fixture.observer.setACL(fixture.path, openACL)
    expect(held.validFor()).to.be.greaterThan(0)
    const lost = once(held.signal, 'abort')
    for (const path of await paths()) await fixture.observer.delete(path)
    await lost
  })

  itEverywhere(
    'rejects with NODEEXISTS if a node has the read node’s name, and does not delete that node',
    async () => {
      const { held } = await writeLockWithFaults({ dialect: hosts })
      const taken = `${fixture.path}/host-R-${held.path.slice(-10)}`
      await fixture.observer.create(taken)
      expect(await failureOf(held.downgrade())).to.have.property('code', 'NODEEXISTS')
      expect(await paths()).to.have.members([taken, held.path])
      await fixture.observer.delete(taken)
      await held.release()
    },
  )

  for (const dialect of ['curator', hosts] as const) {
    const names = dialect === hosts ? 'custom names' : 'Curator’s names'

    describe(`with ${names}, under faults`, () => {
      const steps = [
        ['the read node is being created', opcodes.multi],
        ['the read node is being checked', opcodes.exists],
        ['the write node is being deleted', opcodes.delete],
      ] as const

      for (const [step, opcode] of steps) {
        for (const fault of ['dropRequest', 'dropReply'] as const)
          itEverywhere(
            `is done once if ${fault === 'dropReply' ? 'the reply' : 'the request'} is lost while ${step}`,
            async () => {
              const { faultyDial, client, held } = await writeLockWithFaults({ dialect })
              const happened = faultyDial[fault](opcode)
              const [read] = await Promise.all([held.downgrade(), happened])
              expect(await paths()).to.deep.equal([read.path])
              expect((await fixture.observer.exists(read.path))?.ephemeralOwner).to.equal(client.sessionId)
              expect([read.token, read.signal.aborted]).to.deep.equal([held.token, false])
              expect(held.signal.aborted).to.equal(false)
              await read.release()
            },
          )

        itInVirtualTime(`rejects with LOST if the session expires while ${step}`, async () => {
          const { faultyDial, client, held } = await writeLockWithFaults({ dialect })
          const arrived = faultyDial.holdReply(opcode)
          const failing = failureOf(held.downgrade())
          await arrived
          await fixture.expire(client)
          expect(await failing)
            .to.be.instanceOf(RecipeError)
            .with.property('code', 'LOST')
          await held.release()
        })

        itInVirtualTime(
          `rejects with LOST and leaves no node if the client must consider its session lost while ${step}`,
          async () => {
            const { faultyDial, client, held } = await writeLockWithFaults({ dialect })
            const arrived = faultyDial.holdReply(opcode)
            const failing = failureOf(held.downgrade())
            await arrived
            // A server that is started again gives every session its whole timeout again, so the clean-up finds it alive.
            await fixture.embedded.stop()
            expect(await failing)
              .to.be.instanceOf(RecipeError)
              .with.property('code', 'LOST')
            expect([client.state, held.validFor()]).to.deep.equal(['suspended', 0])
            await fixture.embedded.start()
            await client.settled()
            expect(client.state).to.equal('connected')
          },
        )
      }

      itInVirtualTime(
        'rejects with LOST, and the write hold’s signal aborts, if another session has deleted the write node',
        async () => {
          const { held } = await writeLockWithFaults({ dialect })
          await fixture.observer.delete(held.path)
          expect(await failureOf(held.downgrade()))
            .to.be.instanceOf(RecipeError)
            .with.property('code', 'LOST')
          expect(held.signal.reason).to.have.property('code', 'LOST')
          await held.release()
        },
      )

      itEverywhere('rejects with LOST if the whole directory was deleted', async () => {
        const { held } = await writeLockWithFaults({ dialect })
        await fixture.observer.deleteRecursive(fixture.path)
        expect(await failureOf(held.downgrade())).to.have.property('code', 'LOST')
        expect(await fixture.observer.exists(fixture.path)).to.equal(null)
        await fixture.observer.create(fixture.path)
      })

      itInVirtualTime(
        'creates the read node again if another session deletes it before the reply arrives',
        async () => {
          const { faultyDial, held } = await writeLockWithFaults({ dialect })
          const arrived = faultyDial.holdReply(opcodes.multi)
          const downgrading = held.downgrade()
          await arrived
          const [readNode] = (await paths()).filter(each => each !== held.path)
          await fixture.observer.delete(readNode ?? '')
          faultyDial.deliver()
          const read = await downgrading
          expect(await paths()).to.deep.equal([read.path])
          await read.release()
        },
      )
    })
  }

  itEverywhere(
    'rejects with LOST if another session’s node has the write node’s name in a recreated directory',
    async () => {
      const { held } = await writeLockWithFaults({ dialect: hosts })
      await fixture.observer.deleteRecursive(fixture.path)
      await fixture.observer.create(fixture.path)
      const { writeLock } = lockOf(await fixture.open(), { dialect: hosts })
      const other = await writeLock.acquire()
      expect(other.path).to.equal(held.path)
      expect(await failureOf(held.downgrade())).to.have.property('code', 'LOST')
      expect(held.signal.aborted).to.equal(true)
      await held.release()
      await fixture.sessions.settled()
      expect(await paths()).to.deep.equal([other.path])
      await other.release()
    },
  )
})
