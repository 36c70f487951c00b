// The public interface of version 1.0: the arguments that calls accept and reject, and the printed form of objects.
import { expect } from 'chai'
import { inspect } from 'node:util'
import {
  connect,
  isCode,
  type Client,
  type CreatedInMulti,
  type MultiResult,
  type Stat,
  type State,
} from '../../src/index.ts'
import { Server } from '../../src/server/index.ts'
import { failureOf } from '../support/settled.ts'

describe('in the client’s interface,', () => {
  let server: Server
  let zk: Client

  beforeEach(async () => {
    server = await Server.start({ listen: false })
    zk = await connect(server.connectString, { dial: server.dial })
  })

  afterEach(async () => {
    await zk.close()
    await server.close()
  })

  describe('create with parents', () => {
    it('creates missing ancestors as empty persistent nodes', async () => {
      const { path, stat } = await zk.create('/a/b/c-', 'x', { mode: 'ephemeralSequential', parents: true })
      expect(path).to.equal('/a/b/c-0000000000')
      expect(stat.dataLength).to.equal(1)
      expect((await zk.exists('/a/b'))?.ephemeralOwner).to.equal(0n)
    })

    it('sends one request if the parent exists', async () => {
      const { received } = server.stats
      await zk.create('/a', '', { parents: true })
      expect(server.stats.received - received).to.equal(1)
    })

    it('rejects with NODEEXISTS if the node exists', async () => {
      await zk.create('/a/b', '', { parents: true })
      expect(await failureOf(zk.create('/a/b', '', { parents: true }))).to.have.property('code', 'NODEEXISTS')
    })

    it('works below a chroot whose own nodes are missing', async () => {
      const { path } = await zk.chroot('/x/y').create('/a/b', '', { parents: true })
      expect(path).to.equal('/a/b')
      expect(await zk.exists('/x/y/a/b')).to.not.equal(null)
    })
  })

  describe('an unknown option is rejected with an error that names it and the most similar known one, in', () => {
    const refusals: [name: string, call: () => unknown, told: RegExp][] = [
      [
        'create',
        () => zk.create('/a', '', { ephemeral: true } as never),
        /no option 'ephemeral'; did you mean mode: 'ephemeral'/,
      ],
      ['create', () => zk.create('/a', '', { acls: [] } as never), /no option 'acls'; did you mean 'acl'/],
      ['delete', () => zk.delete('/a', { verison: 1 } as never), /no option 'verison'; did you mean 'version'/],
      ['setData', () => zk.setData('/', '', { Version: 1 } as never), /no option 'Version'; did you mean 'version'/],
      [
        'getData',
        () => zk.getData('/', { watcher: () => undefined } as never),
        /no option 'watcher'; did you mean 'watch'/,
      ],
      [
        'exists',
        () => zk.exists('/', { sginal: AbortSignal.abort() } as never),
        /no option 'sginal'; did you mean 'signal'/,
      ],
      [
        'addWatch',
        () => zk.addWatch('/', { recursiv: true } as never),
        /no option 'recursiv'; did you mean 'recursive'/,
      ],
      ['ensurePath', () => zk.ensurePath('/a', { modes: 'x' } as never), /no option 'modes'; did you mean 'mode'/],
      ['multi', () => zk.multi([{ create: '/a', ephemeral: true } as never]), /mode: 'ephemeral'/],
      ['multi', () => zk.multi([{ delete: '/a', verison: 1 } as never]), /no option 'verison'; did you mean 'version'/],
      [
        'whenConnected',
        () => zk.whenConnected({ readonly: true } as never),
        /no option 'readonly'; did you mean 'readOnly'/,
      ],
      [
        'connect',
        () => connect('zk', { sesionTimeout: 1 } as never),
        /no option 'sesionTimeout'; did you mean 'sessionTimeout'/,
      ],
      ['connect', () => connect('zk', { observe: () => undefined } as never), /no option 'observe'/],
    ]
    for (const [name, call, told] of refusals)
      it(`${name}: ${String(told)}`, async () => {
        const { received } = server.stats
        const failure = await failureOf(call() as Promise<unknown>)
        expect(failure).to.include({ code: 'BADARGUMENTS', fate: 'notSent' })
        expect(String(failure)).to.match(told)
        expect(server.stats.received).to.equal(received)
      })

    it('a transaction, before commit()', () => {
      expect(() => zk.transaction().delete('/a', { verison: 1 } as never)).to.throw(/did you mean 'version'/)
      expect(() => zk.transaction().create('/a', '', { ephemeral: true } as never)).to.throw(/mode: 'ephemeral'/)
    })
  })

  describe('a transaction', () => {
    it('is committed once: a second commit is refused, and nothing is sent', async () => {
      const transaction = zk.transaction().create('/a')
      await transaction.commit()
      const { received } = server.stats
      const failure = await failureOf(transaction.commit())
      expect(isCode(failure, 'BADARGUMENTS')).to.equal(true)
      expect(String(failure)).to.include('was committed before')
      expect(server.stats.received).to.equal(received)
    })
  })

  describe('the results of a multi', () => {
    it('are typed by its operations', async () => {
      const [created, stat, deleted] = await zk.multi([
        { create: '/a', data: 'x' },
        { setData: '/a', data: 'y' },
        { delete: '/a' },
      ])
      const path: string = created.path
      const version: number = stat.version
      const nothing: undefined = deleted
      expect([path, version, nothing]).to.deep.equal(['/a', 1, undefined])
      const ops = [{ create: '/b' }, { check: '/b' }]
      const results: (CreatedInMulti | Stat | undefined)[] = await zk.multi(ops)
      const same: MultiResult[] = results
      expect(same).to.have.length(2)
    })

    it('of reads are typed too', async () => {
      const [data, children] = await zk.multiRead([{ getData: '/' }, { getChildren: '/' }])
      if (data instanceof Error || children instanceof Error) throw new Error('refused')
      const names: string[] = children.children
      expect([data.stat.numChildren, names]).to.deep.equal([1, ['zookeeper']])
    })
  })

  describe('the states', () => {
    it('are iterated from the current one to the last one of the session', async () => {
      const states: State[] = []
      const iterating = (async () => {
        for await (const state of zk.states()) states.push(state)
      })()
      const suspended = new Promise(resolve => zk.on('state', resolve))
      server.dropConnections()
      await suspended
      await zk.whenConnected()
      await zk.close()
      await iterating
      expect(states.slice(0, 3)).to.deep.equal(['connected', 'suspended', 'connected'])
      expect(states.at(-1)).to.equal('closed')
    })

    it('are not listened to any more after the loop was left, its signal has aborted, or the session has ended', async () => {
      const off = zk.off.bind(zk)
      let [listeners, removed] = [0, 0]
      const on = zk.on.bind(zk)
      zk.on = (...args) => (listeners++, on(...args))
      zk.off = (...args) => (removed++, off(...args))
      for await (const state of zk.states()) if (state === 'connected') break
      const controller = new AbortController()
      const states = zk.states({ signal: controller.signal })
      controller.abort()
      await states.next().catch(() => undefined)
      const last = zk.states()
      await zk.close()
      for await (const state of last) expect(['connected', 'suspended', 'closed']).to.include(state)
      expect([listeners, removed]).to.deep.equal([3, 3])
    })
  })

  describe('the printed form', () => {
    it('of a client has its state, server, session and root, and no password', () => {
      const shown = inspect(zk.chroot('/app'))
      expect(shown)
        .to.match(/^Client \{/)
        .and.include("state: 'connected'")
        .and.include("chroot: '/app'")
      expect(shown)
        .to.include(`sessionId: '0x${zk.sessionId.toString(16)}'`)
        .and.include('sessionTimeout: 30000')
      expect(shown).not.to.match(/password|settings|#/i)
    })

    it('of a Stat as JSON has decimal strings for 64-bit numbers', async () => {
      const stat = (await zk.exists('/')) as Stat
      const json = JSON.parse(JSON.stringify({ stat })) as { stat: Record<string, unknown> }
      expect(json.stat).to.include({ czxid: String(stat.czxid), numChildren: 1, ephemeralOwner: '0' })
      expect(Object.keys(json.stat)).to.deep.equal(Object.keys(stat))
    })

    it('of a Stat by util.inspect is that of a plain object', async () => {
      expect(inspect(await zk.exists('/'))).to.match(/^\{\s+czxid: 0n/)
    })

    it('of an error has its code, operation, path and fate', async () => {
      const failure = await failureOf(zk.getData('/nothing'))
      expect(inspect(failure))
        .to.include("code: 'NONODE'")
        .and.include("path: '/nothing'")
        .and.include("fate: 'refused'")
    })
  })

  it('no class Client is exported, so that only connect() creates clients', async () => {
    expect(await import('../../src/index.ts')).to.not.have.any.keys('Client', 'badArguments')
  })

  it('a listener that is not a function is rejected, and so is an unknown event', () => {
    expect(() => zk.on('state', undefined as never)).to.throw('the listener must be a function')
    expect(() => zk.on('expired' as never, () => undefined)).to.throw("no event 'expired'")
  })
})
