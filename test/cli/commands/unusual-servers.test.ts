// What the program does when one server does not answer, when a server is read-only, and when a command ends early.
import { expect } from 'chai'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Server as NetServer } from 'node:net'
import { connect, perms, type Client } from '../../../src/index.ts'
import { systemClock, type Clock } from '../../../src/runtime/clock.ts'
import { Server } from '../../../src/server/index.ts'
import { VirtualClock } from '../../../src/testing/virtual-clock.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('zkwire herds', () => {
  const servers: NetServer[] = []
  afterEach(async () => {
    for (const each of servers.splice(0)) await new Promise(resolve => each.close(resolve))
  })

  const WORDS = ['wchp', 'mntr', 'dump'] as const
  /** A server with 3 watches on data and 20 on children. It closes the connection at each of the words `silent`. */
  async function answering(...silent: readonly string[]): Promise<string> {
    const answers: Readonly<Record<string, string>> = {
      wchp: '/a\n\t0x1\n\t0x2\n\t0x3\n',
      mntr: 'zk_version\t3.8.0\nzk_watch_count\t23\n',
      dump: 'SessionTracker dump:\nGlobal Sessions(0):\nephemeral nodes dump:\nSessions with Ephemerals (0):\n',
    }
    const server = createServer(socket => {
      socket.on('error', () => undefined)
      socket.once('data', word => socket.end(silent.includes(String(word)) ? '' : (answers[String(word)] ?? '')))
    })
    servers.push(server.listen(0, '127.0.0.1'))
    await once(server, 'listening')
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** Its time passes only in the pauses between two samples. */
  function pausingClock(pause: number): Clock {
    let passed = 0
    return {
      ...systemClock,
      now: () => passed,
      setTimeout(callback, ms) {
        if (ms !== pause) return systemClock.setTimeout(callback, ms)
        passed += ms
        return systemClock.setTimeout(callback, 0)
      },
    }
  }

  async function herds(connectString: string, args: readonly string[], clock: Clock = systemClock) {
    const { run } = await inProcess({ connectString, dial: () => expect.fail('no session is needed') })
    const { status, out, err } = await run(['herds', '--json', ...args], { clock })
    const { herds, samples } = JSON.parse(out) as { herds: { path?: string; watchers: number }[]; samples: number }
    return { status, err, samples, found: herds.map(({ path, watchers }) => [path, watchers]) }
  }

  // Without wchp or mntr of one server, the difference of their counts says nothing of the watches on children.
  for (const [silent, childWatches] of [
    [[], 40],
    [['dump'], 40],
    [['mntr'], undefined],
    [['wchp'], undefined],
    [['mntr', 'dump'], undefined],
    [['wchp', 'dump'], undefined],
    [['wchp', 'mntr'], 20],
    [WORDS, 20],
  ] as const)
    it(`counts ${childWatches ?? 'no'} watches on children of two servers, one without ${silent.join(', ') || 'a gap'}`, async () => {
      const both = `${await answering()},${await answering(...silent)}`
      const { found, err, status } = await herds(both, ['--for', '0.001', '--least', '1'])
      expect(found.filter(([path]) => path === undefined)).to.deep.equal(
        childWatches === undefined ? [] : [[undefined, childWatches]],
      )
      expect(found.filter(([path]) => path !== undefined)).to.deep.equal([
        ['/a', (silent as readonly string[]).includes('wchp') ? 3 : 6],
      ])
      for (const word of silent) expect(err).to.contain(`closed the connection without an answer to ${word}\n`)
      expect(status).to.equal(silent.length > 0 ? 1 : 0)
    })

  for (const [seconds, every, times] of [
    [1, 2, 1],
    [2, 2, 2],
    [4, 2, 3],
    [5, 2, 3],
    [6, 3, 3],
  ] as const)
    it(`asks ${times} times with --for ${seconds} --every ${every}`, async () => {
      const args = ['--for', String(seconds), '--every', String(every)]
      const { samples } = await herds(await answering(), args, pausingClock(every * 1000))
      expect(samples).to.equal(times)
    })
})

describe('zkwire doctor on a read-only server', () => {
  let ensemble: Server
  let connectString: string
  let run: Starters['run']

  before(async () => {
    // The servers become read-only in virtual time. The program asks them in real time.
    const clock = new VirtualClock()
    ensemble = await Server.start({ servers: 3, readOnlyMode: true, clock })
    const [last, ...others] = ensemble.members
    if (last === undefined) expect.fail('there are three servers')
    for (const each of others) await each.stop()
    await clock.advance(60_000)
    expect(last.mode).to.equal('read-only')
    ;({ connectString } = last)
    ;({ run } = await inProcess({ connectString, dial: ensemble.dial }))
  })
  after(() => ensemble.close())

  for (const args of [[], ['--no-write'], ['--strict']])
    it(`says that the session is read-only, and creates nothing${args.map(each => `, with ${each}`).join('')}`, async () => {
      const { status, out } = await run(['doctor', '--json', '--read-only', '-s', connectString, ...args])
      const { findings, session, failure } = JSON.parse(out) as {
        findings: string[]
        session?: { isReadOnly: boolean; writeMs?: number }
        failure?: string
      }
      expect(session).to.include({ isReadOnly: true }).and.not.to.have.property('writeMs')
      expect(failure).to.equal(undefined)
      expect(findings).to.include('The session is read-only, because its server has lost its quorum.')
      expect(status).to.equal(1)
    })
})

describe('in this process,', () => {
  let server: Server
  let zk: Client
  let start: Starters['start']
  let run: Starters['run']

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ start, run } = await inProcess(server))
    for (const path of ['/a', '/a/b', '/a/b/c', '/copy', '/copy/b']) await zk.create(path, '')
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  const sessions = () => server.snapshot().sessions.map(({ id }) => id)

  describe('zkwire diff --with leaves no session behind', () => {
    for (const [what, args, expected] of [
      ['if there is no difference', ['/a'], 0],
      ['if there are differences', ['/a', '/copy'], 1],
      ['if the first node is missing', ['/missing', '/a'], 1],
      ['if the second node is missing', ['/a', '/missing'], 1],
    ] as const)
      it(what, async () => {
        const { status } = await run(['diff', ...args, '--with', server.connectString])
        expect(status).to.equal(expected)
        expect(sessions()).to.deep.equal([zk.sessionId])
      })

    it('if it is interrupted while it reads', async () => {
      const read = server.faults.hold('getData', { times: Infinity })
      const running = start(['diff', '/a', '--with', server.connectString])
      await read.triggered
      running.signals.deliver('SIGINT')
      read.release()
      await running.ended
      expect(sessions()).to.deep.equal([zk.sessionId])
    })
  })

  describe('zkwire import --mirror', () => {
    const input = `${JSON.stringify({ path: '/a' })}\n${JSON.stringify({ nodes: 1 })}\n`
    const anyoneMayWrite = [{ perms: perms.write, id: { scheme: 'world', id: 'anyone' } }]
    const counts = (remove: number, keep: number) => ({ create: 0, overwrite: 1, skip: 0, conflict: 0, remove, keep })

    for (const [what, keepOne] of [
      ['an ephemeral node', () => zk.create('/a/b/c/d', '', { mode: 'ephemeral' })],
      ['a node that it may not read', () => zk.create('/a/b/c/d', '', { acl: anyoneMayWrite })],
    ] as const)
      for (const isDry of [true, false])
        it(`keeps all nodes above ${what}, and asks to delete none of them${isDry ? ', with --dry-run' : ''}`, async () => {
          await keepOne()
          await zk.create('/a/gone', '')
          const refused = server.faults.replace('delete', 'SYSTEMERROR', { nth: 2 })
          const { out } = await run(['import', '--mirror', '--json', ...(isDry ? ['-n'] : [])], { input: [input] })
          expect(JSON.parse(out)).to.deep.equal({ ...counts(1, 3), dryRun: isDry })
          expect(refused.isOver).to.equal(false)
          server.faults.clear()
        })

    for (const [what, foreignWrite, left, remove, keep] of [
      ['writes data', () => zk.setData('/a/b/c', 'new'), ['/a', '/a/b', '/a/b/c'], 0, 2],
      ['writes the same data', () => zk.setData('/a/b/c', ''), ['/a', '/a/b', '/a/b/c'], 0, 2],
      ['writes data of the parent', () => zk.setData('/a/b', 'new'), ['/a', '/a/b'], 1, 1],
      ['creates a child', () => zk.create('/a/b/c/d', ''), ['/a', '/a/b', '/a/b/c', '/a/b/c/d'], 0, 2],
      ['creates a sibling', () => zk.create('/a/b/d', ''), ['/a', '/a/b', '/a/b/d'], 1, 1],
      ['deletes the node', () => zk.delete('/a/b/c'), ['/a'], 2, 0],
      ['deletes the subtree', () => zk.deleteRecursive('/a/b'), ['/a'], 2, 0],
    ] as const)
      it(`deletes nothing that is new if another client ${what} after the last read`, async () => {
        const read = server.faults.hold('getChildren', { nth: 3 })
        const importing = run(['import', '--mirror', '--json'], { input: [input] })
        await read.triggered
        await foreignWrite()
        read.release()
        expect(JSON.parse((await importing).out)).to.deep.equal({ ...counts(remove, keep), dryRun: false })
        const paths = [...server.snapshot().nodes.keys()].filter(each => each.startsWith('/a'))
        expect(paths.toSorted()).to.deep.equal(left)
      })
  })
})
