// Sequence numbers at their maximum and below zero, on a server whose counters were set.
import { expect } from 'chai'
import { errnos, opcodes, operations } from '../../../src/protocol/index.ts'
import type { WireSession } from '../../support/wire-session.ts'
import { openACL, suite } from '../suite.ts'

const LAST = 0x7fff_ffff

/** Nodes that the server must have, and the next sequence number of each. */
export const counterStarts = { '/in-one': LAST, '/one-by-one': LAST, '/negative-in-one': -2, '/negative': -2 }

const sequential = (path: string) => ({ path: `${path}/n-`, data: '', acl: openACL, flags: 2 })

async function createOneByOne(
  session: WireSession,
  path: keyof typeof counterStarts,
  count: number,
): Promise<string[]> {
  const names: string[] = []
  while (names.length < count) names.push((await session.request(operations.create, sequential(path))).path)
  return names
}

async function createInMulti(
  session: WireSession,
  path: keyof typeof counterStarts,
  count: number,
): Promise<unknown[]> {
  const creates = Array.from({ length: count }, () => ({ type: opcodes.create, body: sequential(path) }))
  return (await session.request(operations.multi, creates)).map(({ body }) => ('path' in body ? body.path : body))
}

const cversion = async (session: WireSession, path: keyof typeof counterStarts) =>
  (await session.request(operations.exists, { path, watch: false })).stat.cversion

export const counters = suite('sequence numbers', it => {
  it('do not exceed their maximum if each request creates one node', async world => {
    const session = await world.session()
    expect(await createOneByOne(session, '/one-by-one', 1)).to.deep.equal(['/one-by-one/n-2147483647'])
    const { err } = await session.requestReply(operations.create, sequential('/one-by-one'))
    expect(err, 'it has the name of the last one').to.equal(errnos.NODEEXISTS)
    expect(await cversion(session, '/one-by-one')).to.equal(-3)
  })

  it('overflow within a multi', async world => {
    const session = await world.session()
    expect(await createInMulti(session, '/in-one', 2)).to.deep.equal(['/in-one/n-2147483647', '/in-one/n--2147483648'])
    expect(await cversion(session, '/in-one')).to.equal(-4)
    expect((await session.requestReply(operations.create, sequential('/in-one'))).err).to.equal(errnos.NODEEXISTS)
  })

  it('have a minus sign and nine digits below zero, and continue to zero', async world => {
    const session = await world.session()
    const names = ['-000000002', '-000000001', '0000000000']
    for (const [path, createThree] of [
      ['/negative-in-one', createInMulti],
      ['/negative', createOneByOne],
    ] as const) {
      expect(await createThree(session, path, 3)).to.deep.equal(names.map(name => `${path}/n-${name}`))
      expect(await cversion(session, path)).to.equal(-1)
    }
  })
})
