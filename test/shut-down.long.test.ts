// Sends real signals to the services of docs/supervise.md, in child processes.
import { expect } from 'chai'
import { join } from 'node:path'
import { connect, type Client } from '../src/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../environment/apache-zookeeper.ts'
import { ChildProgram } from '../environment/child-program.ts'
import { codeBlocks, writeScript } from './support/document.ts'
import { freePort } from '../environment/free-port.ts'
import { LOAD_ALLOWANCE } from './support/load.ts'
import { until } from '../environment/until.ts'

/** The default session timeout of a client, ms. The node of a service that just dies stays at the server for so long. */
const SESSION_TIMEOUT = 30_000

const blocks = codeBlocks('docs/supervise.md').filter(({ heading }) => heading === 'Shut down')
const services = [
  { kind: 'lock', directory: '/locks/service', code: blocks[0]?.code ?? '' },
  { kind: 'leader', directory: '/election', code: blocks[1]?.code ?? '' },
]

const GRACEFUL = { status: 0, out: '', err: '' }

for (const { kind, directory, code } of services)
  describe(`a service with a ${kind}, as docs/supervise.md shows it`, function () {
    this.timeout(60_000)
    let server: ApacheZooKeeper
    let observer: Client
    let script: string
    const started: ChildProgram[] = []

    const write = (name: string, replaced = code, connectString = server.connectString) =>
      writeScript(join('shut-down', `${kind}-${name}`), replaced, connectString)
    const start = (file: string) => {
      const service = new ChildProgram([file])
      started.push(service)
      return service
    }
    /** Names of the nodes of the holder and the waiters, in the order of the queue. */
    const queue = async () => {
      if ((await observer.exists(directory)) === null) return []
      const { children } = await observer.getChildren(directory)
      return children.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1))
    }
    const untilQueued = (length: number) => until(async () => (await queue()).length === length)
    const startHolder = async (file = script) => {
      const service = start(file)
      await untilQueued(1)
      return service
    }

    before(async () => {
      server = await startApacheZooKeeper({ config: { maxSessionTimeout: SESSION_TIMEOUT } })
      script = await write('service')
    })
    after(() => server.close())
    beforeEach(async () => {
      observer = await connect(server.connectString)
    })
    afterEach(async () => {
      for (const service of started) service.kill('SIGKILL')
      await Promise.all(started.splice(0).map(service => service.ended))
      await observer.deleteRecursive(directory)
      await observer.close()
    })

    for (const name of ['SIGTERM', 'SIGINT'] as const)
      it(`deletes its node long before its session would expire, and ends with status 0, on ${name}`, async () => {
        const service = await startHolder()
        const [node = ''] = await queue()
        const deleted = new Promise(resolve => {
          void observer.exists(`${directory}/${node}`, { watch: resolve })
        })
        await observer.sync('/')
        const signalledAt = Date.now()
        service.kill(name)
        expect(await deleted).to.include({ type: 'NodeDeleted' })
        expect(Date.now() - signalledAt, 'ms until the node was deleted').to.be.below(1000 + LOAD_ALLOWANCE)
        expect(await service.ended).to.deep.equal(GRACEFUL)
      })

    it('leaves the queue, and ends with status 0, while another process holds the lock', async () => {
      const [holder, waiter] = [await startHolder(), start(script)]
      await untilQueued(2)
      const [first] = await queue()
      waiter.kill('SIGTERM')
      expect(await waiter.ended).to.deep.equal(GRACEFUL)
      expect(await queue()).to.deep.equal([first])
      holder.kill('SIGTERM')
      expect(await holder.ended).to.deep.equal(GRACEFUL)
    })

    it('ends at once on a second Ctrl-C, although its work goes on', async () => {
      const loop = /while \(!\w+(\.signal)?\.aborted\)/
      expect(code).to.match(loop)
      const stubborn = code
        .replace(loop, 'while (true)')
        .replace('stop.abort())', "(stop.abort(), console.log('stopping')))")
        .replace(
          "process.once('SIGINT', () => stop.abort())",
          "process.once('SIGINT', () => (stop.abort(), console.log('stopping')))",
        )
      const service = await startHolder(await write('stubborn', stubborn))
      service.kill('SIGINT')
      await until(() => service.out.includes('stopping'))
      service.kill('SIGINT')
      expect(await service.ended).to.deep.equal({ status: 'SIGINT', out: 'stopping\n', err: '' })
    })

    it('warns that it waits for a server, and ends with status 0 meanwhile', async () => {
      const nobody = `127.0.0.1:${await freePort()}`
      const service = start(await write('alone', code, nobody))
      const warning = /ZKWIRE_UNREACHABLE.* supervise\(\) keeps trying .*: connection refused/
      await until(() => warning.test(service.err))
      service.kill('SIGTERM')
      expect(await service.ended).to.include({ status: 0 })
    })

    it('ends with status 0 long before its session would expire if the server has died', async () => {
      const service = await startHolder()
      await observer.close()
      await server.kill()
      const signalledAt = Date.now()
      service.kill('SIGTERM')
      expect(await service.ended).to.deep.equal(GRACEFUL)
      expect(Date.now() - signalledAt, 'ms').to.be.below(2000 + LOAD_ALLOWANCE)
      await server.start()
      observer = await connect(server.connectString)
    })
  })
