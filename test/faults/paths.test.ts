// Section 2.5 of the fault matrix, row E4: which paths are refused here, against what a real server says to them.
import { expect } from 'chai'
import fc from 'fast-check'
import { isCode, operations, pathProblem } from '../../src/protocol/index.ts'
import { openACL } from '../../src/client/acl.ts'
import { parseConnectString } from '../../src/session/servers/connect-string.ts'
import { nodeSettingsOf } from '../../src/client/node.ts'
import { Session } from '../../src/session/session.ts'
import { connect } from '../../src/client/index.ts'
import type { ApacheZooKeeper } from '../support/apache-zookeeper.ts'
import { seed } from '../support/seeded-random.ts'
import { sharedServer } from '../support/shared-server.ts'

const ROOT = '/e4'
const PATHS = 10_000

/** On both sides of each limit that PathUtils has, and of those of UTF-8. */
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

describe(`2.5 paths (SEED=${seed})`, function () {
  this.timeout(60_000)
  let server: ApacheZooKeeper
  let session: Session

  before(async () => {
    server = await sharedServer()
    await using client = await connect(server.connectString)
    await client.create(ROOT)
    // Below the methods, which refuse such paths before they are sent.
    session = new Session(parseConnectString(server.connectString), nodeSettingsOf({}))
    session.hosts.start()
  })
  after(async () => {
    await session.close()
    await using client = await connect(server.connectString)
    await client.deleteRecursive(ROOT)
  })

  const create = (path: string) =>
    session.requests.submit({
      op: operations.create,
      body: { path, data: '', acl: openACL, flags: 0 },
      path,
      result: () => true,
    })

  /** All that leads to it is made first as far as the server lets us, so that a missing parent is no reason to refuse. */
  async function isTaken(path: string): Promise<boolean> {
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
    const taken = await Promise.all(all.map(isTaken))
    const wrong = all.filter((path, i) => (pathProblem(path) === undefined) !== taken[i])
    return { wrong: wrong.map(path => JSON.stringify(path)), taken: taken.filter(Boolean).length }
  }

  it(`E4: of ${PATHS} paths made by chance, the server refuses those that are refused here`, async () => {
    const all = fc.sample(paths, { numRuns: PATHS, seed })
    const { wrong, taken } = await disagreements(all.map(path => `${ROOT}/${path}`))
    expect(wrong).to.deep.equal([])
    expect(taken, 'both verdicts come up').to.be.within(PATHS / 10, (PATHS * 9) / 10)
  })

  it('E4: of paths that do not begin below a node, and of each limit alone, too', async () => {
    const alone = edges.flatMap(edge => [`${ROOT}/${edge}`, `${ROOT}/a${edge}b`])
    const odd = ['', '/', '//', '.', '/.', '/..', 'a', 'a/b', `${ROOT}/`, `${ROOT}/./a`, `${ROOT}/../a`, `//e4/a`]
    const { wrong, taken } = await disagreements([...alone, ...odd])
    expect(wrong).to.deep.equal([])
    expect(taken).to.be.above(20)
  })
})
