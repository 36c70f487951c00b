// The exports of the entry point `zkwire/recipes`, and the printed form of its errors and held locks.
import { expect } from 'chai'
import { inspect } from 'node:util'
import { connect } from '../../src/index.ts'
import * as recipes from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'

const { Barrier, MultiLock, Mutex, ReadWriteLock, RecipeError, ReentrantMutex } = recipes

describe('zkwire/recipes', () => {
  it('exports the recipes, RecipeError, revoke and uriOf, and nothing else', () => {
    expect(Object.keys(recipes).sort()).to.deep.equal([
      'Barrier',
      'Cache',
      'Counter',
      'DoubleBarrier',
      'EphemeralMutex',
      'HerdMutex',
      'LeaderElection',
      'Lease',
      'Membership',
      'MultiLock',
      'Mutex',
      'Partitioner',
      'PersistentEphemeral',
      'Queue',
      'ReadWriteLock',
      'RecipeError',
      'ReentrantMutex',
      'Semaphore',
      'Services',
      'SharedValue',
      'TicketMutex',
      'revoke',
      'uriOf',
    ])
  })

  it('says in a RecipeError which call failed, for which lock, and what to do', async () => {
    await using server = await Server.start()
    await using client = await connect(server.connectString)
    const held = await new Mutex(client, '/l').acquire()
    const failed = await failureOf(new Mutex(client, '/l').acquire({ timeout: 5 }))
    expect(failed).to.be.instanceOf(RecipeError).and.to.include({ code: 'TIMEOUT', path: '/l' })
    expect((failed as Error).message).to.match(
      /^TIMEOUT: \/l: acquire\(\) took longer than its timeout of 5 ms, because [^:]*: call it/,
    )
    const rest = await failureOf(new Mutex(client, '/l').acquire({ timeout: 4.8 })) // what another wait has left of a timeout
    expect((rest as Error).message).to.include('its timeout of 5 ms, because')
    const barrier = new Barrier(client, '/b')
    await barrier.raise()
    expect(((await failureOf(barrier.wait({ timeout: 5 }))) as Error).message).to.match(/^TIMEOUT: \/b: wait\(\) took/)
    await held.release()
    await client.settled()
  })

  it('shows a held lock by its class, path, token and validity', async () => {
    await using server = await Server.start()
    await using client = await connect(server.connectString)
    const held = await new ReadWriteLock(client, '/l').writeLock.acquire()
    const start = `WriteHeld { ${held.path}, token ${held.token}, `
    expect(inspect(held).startsWith(start), inspect(held)).to.equal(true)
    expect(inspect(held).slice(start.length)).to.match(/^held, valid for \d+ ms \}$/)
    await held.release()
    expect(inspect({ held })).to.include(`${start}not held }`)
    for (const lock of [new ReentrantMutex(client, '/r'), new MultiLock([new Mutex(client, '/m')])])
      await lock.use(each => {
        expect(inspect(each)).to.match(
          /^(ReentrantHold|MultiHeld) \{ \/[rm]\/_c_\S+, token \d+, held, valid for \d+ ms \}$/,
        )
      })
  })
})
