import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { startApacheZooKeeper } from './apache-zookeeper.ts'

describe('a real Apache ZooKeeper', function () {
  this.timeout(60_000)

  it('serves from start to kill, again after a restart, and leaves nothing behind', async () => {
    await using server = await startApacheZooKeeper()
    expect(await server.command('srvr')).to.contain('Mode: standalone')
    expect(await server.watchCount()).to.equal(0)
    expect(await server.ephemeralsCount()).to.equal(0)
    expect(server.cpuSeconds()).to.be.above(0)
    const pid = server.pid
    await server.kill()
    expect(() => process.kill(pid, 0)).to.throw('ESRCH')
    await server.start()
    expect(server.pid).not.to.equal(pid)
    expect((await server.mntr()).get('zk_server_state')).to.equal('standalone')
    await server.close()
    expect(existsSync(server.directory)).to.equal(false)
  })
})
