// Compares the client's path validation with a real server.
import { expect } from 'chai'
import fc from 'fast-check'
import { isCode, operations, pathProblem } from '../../src/protocol/index.ts'
import { openACL } from '../../src/client/acl.ts'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { nodeSettingsOf } from '../../src/client/node.ts'
import { Session } from '../../src/session/session.ts'
import { connect } from '../../src/client/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { seed } from '../support/seeded-random.ts'
import { sharedServer } from '../support/shared-server.ts'

const ROOT = '/paths'
const PATHS = 3_000

/** Characters on both sides of each limit of PathUtils and UTF-8. */
const edges = [
  ...[0, 1, 0x1f, 0x20, 0x7e, 0x7f, 0x80, 0x9f, 0xa0, 0x7ff, 0x800, 0xd7ff, 0xf8ff, 0xf900],
  ...[0x2024, 0xff0e, 0xffef, 0xfff0, 0xfffd, 0xffff, 0x1_0000, 0x1_f993, 0x10_ffff],
].map(point => String.fromCodePoint(point))
const pieces = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('a', 'b', 'é', '日') },
  { weight: 4, arbitrary: fc.constantFrom('/', '.', '..', '/.', '//', './') },
  { weight: 1, arbitrary: fc.constantFrom(...edges) },
)
const paths = fc.array(pieces, { maxLength: 6 }).map(all => all.join(''))

describe(`path validation (SEED=${seed}):`, function () {
  this.timeout(60_000)
  let server: ApacheZooKeeper
  let session: Session

  before(async () => {
    server = await sharedServer()
    await using client = await connect(server.connectString)
    await client.create(ROOT)
    // The test uses the session, because the methods of the client reject invalid paths before they are sent.
    session = new Session(parseConnectString(server.connectString), nodeSettingsOf({}))
    session.hosts.dialNext()
  })
  after(async () => {
    await session.close()
    await using client = await connect(server.connectString)
    await client.deleteRecursive(ROOT)
  })

  const create = (path: string) =>
    session.requests.submit(operations.create, { path, data: '', acl: openACL, flags: 0 }, path, () => true)

  /** Creates the parents first if the server accepts them, so that a missing parent is no reason to reject the path. */
  async function isAccepted(path: string): Promise<boolean> {
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1))
      create(path.slice(0, end)).catch(() => undefined)
    try {
      return await create(path)
    } catch (error) {
      if (isCode(error, 'NODEEXISTS')) return true
      if (isCode(error, 'BADARGUMENTS', 'NONODE')) return false
      throw error
    }
  }

  const disagreements = async (all: readonly string[]) => {
    const accepted = await Promise.all(all.map(isAccepted))
    const wrong = all.filter((path, i) => (pathProblem(path) === undefined) !== accepted[i])
    return { wrong: wrong.map(path => JSON.stringify(path)), accepted: accepted.filter(Boolean).length }
  }

  it(`of ${PATHS} random paths, client and server reject the same ones`, async () => {
    const all = fc.sample(paths, { numRuns: PATHS, seed })
    const { wrong, accepted } = await disagreements(all.map(path => `${ROOT}/${path}`))
    expect(wrong).to.deep.equal([])
    expect(accepted, 'both verdicts occur').to.be.within(PATHS / 10, (PATHS * 9) / 10)
  })

  it('of edge cases, client and server reject the same ones', async () => {
    const alone = edges.flatMap(edge => [`${ROOT}/${edge}`, `${ROOT}/a${edge}b`])
    const odd = ['', '/', '//', '.', '/.', '/..', 'a', 'a/b', `${ROOT}/`, `${ROOT}/./a`, `${ROOT}/../a`, `//paths/a`]
    const { wrong, accepted } = await disagreements([...alone, ...odd])
    expect(wrong).to.deep.equal([])
    expect(accepted).to.be.above(20)
  })
})
