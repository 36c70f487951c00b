// zkwire's Mutex and go-zookeeper's Lock contend on the same path.
import { expect } from 'chai'
import { Mutex } from '../../src/recipes/index.ts'
import { describeInterop, SHORT } from './fixture.ts'
import { goZooKeeper } from './peers.ts'

describeInterop('locks with', [goZooKeeper], all => {
  it('Lock and Mutex have one holder at a time', () =>
    all.expectNoLostUpdate([...all.ours(client => new Mutex(client, all.path)), ...all.theirs('lock')]))

  it('contenders() lists Go’s holder, and our waiter gets the lock when that holder is killed', async () => {
    const victim = await all.start(all.connectString, SHORT)
    const session = BigInt(await victim.ask('session'))
    await victim.ask('acquire', 'lock', all.path)
    const mutex = new Mutex(all.client, all.path)
    expect((await mutex.contenders()).map(each => each.session)).to.deep.equal([session])
    const acquiring = mutex.acquire()
    await victim.kill()
    await (await acquiring).release()
  })
})
