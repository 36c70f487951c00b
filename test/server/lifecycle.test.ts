// The cost of a server in each test. It is counted in turns of the event loop, because times depend on the machine.
import { expect } from 'chai'
import { connect } from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { VirtualClock } from '../../src/testing/virtual-clock.ts'
import { until } from '../../environment/until.ts'

/** Counts the turns of the event loop during a task. */
async function turnsOf(task: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isDone = false
  const count = () => {
    if (isDone) return
    turns++
    setImmediate(count)
  }
  setImmediate(count)
  await task()
  isDone = true
  return turns
}

const inMemory = async () => {
  const server = await Server.start({ listen: false })
  const zk = await connect(server.connectString, { dial: server.dial })
  await zk.create('/here')
  await zk.close()
  await server.close()
}

describe('starting and closing an embedded server', () => {
  it('takes no timer and no turn of the event loop without sockets', async () => {
    expect(await turnsOf(inMemory)).to.equal(0)
  })

  it('is measured correctly: turnsOf() counts the turns of a task that waits for a timer', async () => {
    const waiting = () => new Promise(resolve => setTimeout(resolve, 20))
    expect(await turnsOf(waiting)).to.be.above(0)
  })

  it('takes at most three turns of the event loop with a socket', async () => {
    const turns = await turnsOf(async () => {
      const server = await Server.start()
      await server.close()
    })
    expect(turns).to.be.at.most(3)
  })

  it('issues different session ids than a server started in the same millisecond', async () => {
    const clock = new VirtualClock()
    const servers = await Promise.all([1, 2, 3].map(() => Server.start({ listen: false, clock })))
    const ids = servers.map(async ({ connectString, dial }) => {
      const zk = await connect(connectString, { dial, clock })
      await zk.close()
      return zk.sessionId
    })
    expect(new Set(await clock.until(Promise.all(ids))).size).to.equal(3)
    for (const server of servers) await server.close()
  })

  it('closes all handles and frees the port', async () => {
    const sockets = () => process.getActiveResourcesInfo().filter(name => name.startsWith('TCP')).length
    const before = sockets()
    const server = await Server.start()
    const zk = await connect(server.connectString)
    expect(sockets()).to.equal(before + 3)
    await zk.close()
    await server.close()
    await until(() => sockets() === before)
    await (await Server.start({ port: server.port })).close()
  })
})
