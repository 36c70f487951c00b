import { expect } from 'chai'
import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createModes, operations, perms } from '../../src/protocol/index.ts'
import { type ApacheZooKeeper, startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { fourLetterWord } from '../../environment/four-letter-word.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { WireSession } from '../support/wire-session.ts'

describe('a real Apache ZooKeeper', function () {
  this.timeout(60_000)

  it('serves the same data after it was killed and restarted', async () => {
    await using server = await startApacheZooKeeper()
    expect(await server.command('srvr')).to.contain('Mode: standalone')
    await create(server, '/persistent')
    const { pid, port } = server
    await server.kill()
    expect(() => process.kill(pid, 0)).to.throw('ESRCH')
    await server.start()
    expect(server.port).to.equal(port)
    const session = await WireSession.open(server)
    const { data } = await session.request(operations.getData, { path: '/persistent', watch: false })
    session.drop()
    expect(data?.toString()).to.equal('precious')
  })

  it('is ended by close(), which removes the data and may be called twice', async () => {
    const server = await startApacheZooKeeper()
    const { pid, directory } = server
    await Promise.all([server.close(), server.close()])
    await server.close()
    expect(() => process.kill(pid, 0)).to.throw('ESRCH')
    expect(existsSync(directory)).to.equal(false)
  })

  it('accepts lines of configuration and JVM options', async () => {
    const jvm = ['-Dzookeeper.extendedTypesEnabled=true']
    await using server = await startApacheZooKeeper({ config: { tickTime: 333 }, jvm })
    expect(await server.command('conf')).to.contain('tickTime=333')
    const session = await WireSession.open(server)
    await session.request(operations.createTTL, {
      path: '/with-ttl',
      data: '',
      acl: openToAll,
      flags: createModes.persistentTTL,
      ttl: 60_000,
    })
    session.drop()
  })

  it('reports its output in an error if it does not start', async () => {
    const error = await startApacheZooKeeper({ config: { tickTime: 'soon' } }).catch((e: unknown) => e)
    expect(error).to.be.an('error')
    expect((error as Error).message).to.match(/ended before it served.*NumberFormatException.*"soon"/s)
  })

  it('sends no reply while it is paused, and replies after resume()', async () => {
    await using server = await startApacheZooKeeper()
    await server.pause()
    if (existsSync('/proc')) expect(readFileSync(`/proc/${server.pid}/stat`, 'utf8')).to.match(/\) T /)
    const answer = server.command('srvr')
    server.resume()
    expect(await answer).to.contain('Mode: standalone')
  })

  it('reports the number of watches and ephemeral nodes, and CPU time', async () => {
    await using server = await startApacheZooKeeper()
    const session = await WireSession.open(server)
    await session.request(operations.exists, { path: '/absent', watch: true }).catch(() => undefined)
    expect(await server.watchCount()).to.equal(1)
    expect(await server.ephemeralsCount()).to.equal(0)
    if (existsSync('/proc')) expect(server.cpuSeconds()).to.be.above(0)
    session.drop()
  })

  for (const [ending, statement, outcome] of [
    ['ends normally', '', 0],
    ['calls process.exit', 'process.exit(3)', 3],
    ['dies of an uncaught error', 'setImmediate(() => { throw new Error("on purpose") })', 1],
    ['is interrupted', 'process.kill(process.pid, "SIGINT"); setInterval(() => {}, 1000)', 'SIGINT'],
    ['is terminated', 'process.kill(process.pid, "SIGTERM"); setInterval(() => {}, 1000)', 'SIGTERM'],
  ] as const) {
    it(`does not outlive a process that ${ending}`, async () => {
      const support = new URL('../../environment/apache-zookeeper.ts', import.meta.url).href
      const script = `
        const { startApacheZooKeeper } = await import(${JSON.stringify(support)})
        const { port, directory } = await startApacheZooKeeper()
        process.stdout.write(JSON.stringify({ port, directory }))
        ${statement}`
      const { status, out } = await ChildProgram.of(script).ended
      expect(status).to.equal(outcome)
      const { port, directory } = JSON.parse(out) as { port: number; directory: string }
      while (await answers(port)) await delay(5)
      expect(existsSync(directory)).to.equal(false)
    })
  }
})

const openToAll = [{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]

async function create(server: ApacheZooKeeper, path: string): Promise<void> {
  const session = await WireSession.open(server)
  const flags = createModes.persistent
  await session.request(operations.create, { path, data: 'precious', acl: openToAll, flags })
  session.drop()
}

/** Returns whether the server still replies: a killed process may run for a moment longer. */
function answers(port: number): Promise<boolean> {
  return fourLetterWord('127.0.0.1', port, 'srvr').then(
    () => true,
    () => false,
  )
}
