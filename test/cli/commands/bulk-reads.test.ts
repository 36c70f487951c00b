// The commands that read many nodes, while connections are lost and replies are limited.
import { expect } from 'chai'
import { connect, type Client } from '../../../src/index.ts'
import { Mutex } from '../../../src/recipes/index.ts'
import { Server, type FaultKind } from '../../../src/server/index.ts'
import { until } from '../../../environment/until.ts'
import { inProcess, type Starters } from './in-process.ts'

describe('in this process, a command that reads many nodes', () => {
  let server: Server
  let zk: Client
  let run: Starters['run']

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
    ;({ run } = await inProcess(server))
    for (const path of ['/a', '/a/b', '/a/b/c', '/a/d', '/a/e']) await zk.create(path, path)
  })
  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  // The number says which of the reads loses the connection.
  for (const [args, operations] of [
    ['export /a', { getChildren: 2, getData: 2, getACL: 2 }],
    ['ls -R /a', { getChildren: 2 }],
    ['ls -lR /a', { getChildren: 2 }],
    ['ls -l /a', { getChildren: 1, exists: 2 }],
    ['du /a', { getChildren: 2, getData: 1 }],
    ['diff /a /a/b', { getChildren: 2, getData: 2, getACL: 2 }],
    ['who -R /', { getChildren: 2, getData: 1 }],
    ['who /lock', { getChildren: 1, getData: 1 }],
  ] as const)
    for (const [operation, nth] of Object.entries(operations))
      it(`prints the same if the connection is lost at a ${operation}: ${args}`, async () => {
        await using _held = await new Mutex(zk, '/lock').acquire()
        const result = async () => {
          const { status, out, err } = await run(args.split(' '))
          return [status, out.replaceAll(/ \d+ s /g, ' AGE '), err]
        }
        const expected = await result()
        const planned = server.faults.drop(operation as FaultKind, { nth })
        expect(await result()).to.deep.equal(expected)
        await planned.triggered
      })

  const NEXT = 'the next contender of /lock'
  /** Lets a session hold a lock, and another one wait for it. */
  async function queue(): Promise<{ contenders: readonly string[]; leave: () => Promise<unknown> }> {
    const open = () => connect(server.connectString, { dial: server.dial })
    const [holder, next] = [await open(), await open()]
    const { path: first } = await new Mutex(holder, '/lock').acquire()
    const waiting = new Mutex(next, '/lock').acquire().catch(() => undefined)
    const nodes = () => server.snapshot().sessions.find(({ id }) => id === next.sessionId)?.ephemerals ?? []
    await until(() => nodes().length === 1)
    const contenders = [first, ...nodes()]
    return { contenders, leave: () => Promise.all([holder.close(), next.close(), waiting]) }
  }

  /** Each with the operations by which it reads, and the nodes that another client deletes meanwhile. */
  const bulkReads: Readonly<Record<string, { operations: readonly FaultKind[]; victims: readonly string[] }>> = {
    'export /a': { operations: ['getChildren', 'getData', 'getACL'], victims: ['/a/b/c', '/a/b'] },
    'ls -R /a': { operations: ['getChildren'], victims: ['/a/b/c', '/a/b'] },
    'ls -lR /a': { operations: ['getChildren'], victims: ['/a/b/c', '/a/b'] },
    'ls -l /a': { operations: ['getChildren', 'exists'], victims: ['/a/b', '/a/e'] },
    'du /a': { operations: ['getChildren', 'getData'], victims: ['/a/b/c', '/a/b'] },
    'rm -r /a': { operations: ['getChildren', 'delete'], victims: ['/a/b/c', '/a/b'] },
    'who -R /': { operations: ['getChildren', 'getData'], victims: ['/lock', NEXT] },
    'who /lock': { operations: ['getChildren', 'getData'], victims: [NEXT] },
  }
  for (const [args, { operations, victims }] of Object.entries(bulkReads))
    for (const operation of operations)
      for (const victim of victims)
        it(`ends well if another client deletes ${victim} after any ${operation}: ${args}`, async () => {
          for (let nth = 1; ; nth++) {
            for (const path of ['/a/b/c', '/a/e']) await zk.ensurePath(path)
            const { contenders, leave } = await queue()
            const held = server.faults.hold(operation, { nth })
            const running = run(args.split(' '))
            const isOver = await Promise.race([running.then(() => true), held.triggered.then(() => false)])
            if (!isOver) await zk.deleteRecursive(victim === NEXT ? (contenders[1] as string) : victim)
            held.release()
            const { status, err } = await running
            expect([status, args.startsWith('export') ? '' : err], `${operation} ${nth}`).to.deep.equal([0, ''])
            await leave()
            if (isOver) return
          }
        })

  it('deletes all if the connection is lost at the first read: rm -r', async () => {
    const planned = server.faults.drop('getChildren')
    expect(await run(['rm', '-r', '/a'])).to.deep.equal({ status: 0, out: '', err: '' })
    await planned.triggered
    expect(await zk.exists('/a')).to.equal(null)
  })

  describe('with a node that has very many children,', () => {
    beforeEach(async () => {
      for (let i = 0; i < 100; i++) await zk.create(`/a/b/${'x'.repeat(20)}${i}`)
    })

    for (const args of ['ls /a/b', 'ls -R /a', 'du /a', 'export /a', 'diff /a /a', 'rm -r /a'])
      it(`ends with 1, and names the option that raises the limit: ${args}`, async () => {
        const { status, err } = await run([...args.split(' '), '--max-reply', '2000'])
        expect(err).to.match(/^zkwire \w+: REPLYTOOLARGE: getChildren2? \/a\/b: .* exceeds --max-reply; raise it/)
        expect(status).to.equal(1)
        expect((await run(args.split(' '), { env: { ZKWIRE_MAX_REPLY: '20000' } })).status).to.equal(0)
      })
  })
})
