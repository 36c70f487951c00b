// Quotas: the server counts nodes and bytes below a path, and refuses more only if it is told to enforce hard limits.
import { expect } from 'chai'
import { errnos, opcodes, operations } from '../../../src/protocol/index.ts'
import { isCode } from '../../../src/index.ts'
import type { WireSession } from '../../support/wire-session.ts'
import { errOf, openACL, suite, type World } from '../suite.ts'

/** A path that has a quota, and the session that sets it. */
class Quota {
  readonly session: WireSession
  readonly path: string
  readonly #base: string

  constructor(world: World, session: WireSession) {
    this.session = session
    this.path = world.at('/limited')
    this.#base = `/zookeeper/quota${this.path}`
  }

  create(path: string, data: string | null = ''): Promise<number> {
    return errOf(this.session, operations.create, { path, data, acl: openACL, flags: 0 })
  }

  setData(path: string, data: string, version = -1): Promise<number> {
    return errOf(this.session, operations.setData, { path, data, version })
  }

  /** Creates the nodes that `setquota` of Apache's shell creates. */
  async set(limits: string): Promise<void> {
    const names = this.#base.split('/')
    for (let end = 4; end <= names.length; end++) await this.create(names.slice(0, end).join('/'))
    await this.create(`${this.#base}/zookeeper_limits`, limits)
    await this.create(`${this.#base}/zookeeper_stats`, 'count=0,bytes=0')
  }

  /** Reads the counts, and whether the node looks as if it was not written since its creation. */
  async stats(): Promise<string> {
    const { data, stat } = await this.session.request(operations.getData, {
      path: `${this.#base}/zookeeper_stats`,
      watch: false,
    })
    return `${data?.toString()} version ${stat.version} ${stat.mzxid === stat.czxid}`
  }

  /** Deletes the nodes of the quota, because they are not below the node of the case. */
  async clear(): Promise<void> {
    const paths = [`${this.#base}/zookeeper_limits`, `${this.#base}/zookeeper_stats`]
    for (let path = this.#base; path !== '/zookeeper/quota'; path = path.slice(0, path.lastIndexOf('/')))
      paths.push(path)
    for (const path of paths) await errOf(this.session, operations.delete, { path, version: -1 })
  }
}

const withQuota = (run: (quota: Quota) => Promise<void>) => async (world: World) => {
  const quota = new Quota(world, await world.session())
  try {
    await run(quota)
  } finally {
    await quota.clear()
  }
}

export const quotas = suite('quotas:', it => {
  it(
    'counts the nodes and bytes of a path that has one, and changes no version',
    withQuota(async quota => {
      const { path, session } = quota
      await quota.create(path, 'four')
      await quota.create(`${path}/a`, 'xx')
      await quota.create(`${path}other`, 'not counted')
      await quota.set('count=100,bytes=100')
      expect(await quota.stats()).to.equal('count=2,bytes=6 version 0 true')
      await quota.create(`${path}/a/b`, 'yyy')
      await quota.setData(`${path}/a`, 'x')
      expect(await quota.stats()).to.equal('count=3,bytes=8 version 0 true')
      await session.request(operations.delete, { path: `${path}/a/b`, version: -1 })
      expect(await quota.stats()).to.equal('count=2,bytes=5 version 0 true')
      await quota.setData(`${path}other`, 'still not counted')
      expect(await quota.stats()).to.equal('count=2,bytes=5 version 0 true')
    }),
  )

  it(
    'counts neither a rejected write nor a rejected multi',
    withQuota(async quota => {
      const { path, session } = quota
      await quota.create(path)
      await quota.set('count=100,bytes=100')
      await quota.create(path, 'exists')
      const item = (name: string) => ({ path: path + name, data: 'x', acl: openACL, flags: 0 })
      const reply = await session.requestReply(operations.multi, [
        { type: opcodes.create, body: item('/a') },
        { type: opcodes.create, body: item('/no/parent') },
      ])
      expect(reply.body?.map(({ type }) => type)).to.deep.equal([-1, -1])
      expect(await quota.stats()).to.equal('count=1,bytes=0 version 0 true')
    }),
  )

  it(
    'stops counting when the limits are deleted, and counts anew for a new stats node',
    withQuota(async quota => {
      const { path } = quota
      await quota.create(path, null)
      await quota.set('count=100,bytes=100')
      expect(await quota.stats()).to.equal('count=1,bytes=0 version 0 true')
      await quota.clear()
      await quota.create(`${path}/a`, 'x')
      await quota.set('count=100,bytes=100')
      expect(await quota.stats()).to.equal('count=2,bytes=1 version 0 true')
    }),
  )
})

/** These need a server that enforces quotas. */
export const enforcedQuotas = suite('enforced quotas:', it => {
  it(
    'a create beyond the hard limit of nodes is rejected, and one beyond the soft limit is not',
    withQuota(async quota => {
      const { path } = quota
      await quota.create(path)
      await quota.set('count=1,bytes=-1=;byteHardLimit=-1;countHardLimit=3')
      const errors = []
      for (const name of ['/a', '/b', '/c']) errors.push(await quota.create(path + name))
      expect(errors).to.deep.equal([0, 0, errnos.QUOTAEXCEEDED])
      expect(await quota.stats()).to.equal('count=3,bytes=0 version 0 true')
    }),
  )

  it(
    'data beyond the hard limit of bytes is rejected before its version is checked',
    withQuota(async quota => {
      const { path } = quota
      await quota.create(path, '12345')
      await quota.set('count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=-1')
      expect(await quota.create(`${path}/a`, '123456')).to.equal(errnos.QUOTAEXCEEDED)
      expect(await quota.create(`${path}/a`, '12345')).to.equal(0)
      expect(await quota.setData(path, '123456', 77)).to.equal(errnos.QUOTAEXCEEDED)
      expect(await quota.setData(path, '1234', 77)).to.equal(errnos.BADVERSION)
      expect(await quota.setData(path, '1234')).to.equal(0)
      expect(await quota.stats()).to.equal('count=2,bytes=9 version 0 true')
    }),
  )

  it(
    'data that adds no bytes, and any data below a node that has too many, is accepted',
    withQuota(async quota => {
      const { path } = quota
      await quota.create(path, '12345')
      await quota.create(`${path}/a`)
      await quota.set('count=-1,bytes=-1=;byteHardLimit=10;countHardLimit=1')
      expect(await quota.setData(path, '123456')).to.equal(0)
      await quota.clear()
      await quota.set('count=-1,bytes=-1=;byteHardLimit=1;countHardLimit=-1')
      expect(await quota.setData(path, 'abcdef')).to.equal(0)
      expect(await quota.setData(path, 'abcdefg')).to.equal(errnos.QUOTAEXCEEDED)
      expect(await quota.setData(path, 'abcde')).to.equal(errnos.QUOTAEXCEEDED)
      expect(await quota.setData(path, '')).to.equal(0)
    }),
  )

  it(
    'each operation of a multi is compared with the count before the multi',
    withQuota(async quota => {
      const { path, session } = quota
      await quota.create(path)
      await quota.set('count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2')
      const item = (name: string) => ({ path: path + name, data: '', acl: openACL, flags: 0 })
      const items = ['/a', '/b', '/c'].map(name => ({ type: opcodes.create, body: item(name) }))
      await session.request(operations.multi, items)
      expect(await quota.stats()).to.equal('count=4,bytes=0 version 0 true')
      const error: unknown = await session.request(operations.create, item('/d')).catch((failure: unknown) => failure)
      expect(isCode(error, 'QUOTAEXCEEDED')).to.equal(true)
    }),
  )
})
