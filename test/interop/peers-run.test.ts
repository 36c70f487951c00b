// `npm run bench -- peers` with the real libraries, on Apache ZooKeeper.
import { expect } from 'chai'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serverFor, type Server } from '../../bench/harness/server.ts'
import { Progress } from '../../bench/output/progress.ts'
import { libraries, type Library } from '../../bench/peers/libraries.ts'
import { measurePeers, type Availability } from '../../bench/peers/measure.ts'
import { provide } from '../../bench/peers/provide.ts'
import { readPeersResult, roundTripsAt, talliesOf, type PeersResult } from '../../bench/peers/result.ts'
import { until } from '../../environment/until.ts'
import { ChildProgram } from '../../environment/child-program.ts'
import { childrenOf, commandOf } from '../../environment/procfs.ts'

const main = fileURLToPath(new URL('../../bench/peers/main.ts', import.meta.url))
const SIZES = [2, 4]
const RECIPES = ['c-mutex', 'c-semaphore', 'c-read', 'z-lock', 'k-lock', 'k-semaphore', 'n-lock', 'n-herd']

describe('npm run bench -- peers', function () {
  this.timeout(300_000)

  let server: Server
  let result: PeersResult
  let available: Availability
  before(async () => {
    server = await serverFor('apache')
    available = { provided: new Map(), missing: new Map() }
    for (const { name, needs, recipes } of libraries) {
      const chosen: Library = { name, needs, recipes: recipes.filter(({ id }) => RECIPES.includes(id)) }
      if (chosen.recipes.length > 0) available.provided.set(chosen, await provide(name, {}))
      if (name === 'C client')
        await provide(name, {}).then(
          provided => available.provided.set({ name, needs, recipes }, provided),
          (error: unknown) => available.missing.set(chosen, (error as Error).message),
        )
    }
    const progress = new Progress({ write: () => undefined })
    const { signal } = new AbortController()
    result = await measurePeers({ sizes: SIZES, seed: 7, seconds: 240 }, available, [], [server, progress, signal])
  })
  after(() => server.close())

  const cellOf = (recipe: string, size: number) =>
    result.cells.find(cell => cell.recipe === recipe && cell.size === size) ?? expect.fail(`${recipe} ${size}`)
  const remainsOf = (recipe: string) => result.remains.find(each => each.recipe === recipe) ?? expect.fail(recipe)

  it('measures all recipes, with the same traffic in every step', () => {
    expect(result.ended).to.equal('complete')
    for (const recipe of RECIPES)
      for (const size of SIZES) expect(cellOf(recipe, size).isConstant, `${recipe} ${size}`).to.equal(true)
  })

  it('counts the same, to the byte, as the committed run of the same versions', async () => {
    const committed = await readPeersResult(fileURLToPath(new URL('../../docs/peers.json', import.meta.url)))
    const versionOf = ({ libraries }: PeersResult, name: string) =>
      libraries.find(library => library.name === name)?.version
    const inBoth = committed.libraries
      .filter(({ name, version }) => version === versionOf(result, name))
      .flatMap(({ recipes }) => recipes.map(({ id }) => id))
      .filter(id => result.cells.some(({ recipe }) => recipe === id))
    expect(inBoth).not.to.have.length(0)
    const of = (each: PeersResult) => talliesOf(each).filter(({ recipe }) => inBoth.includes(recipe))
    expect(of(result)).to.deep.equal(of(committed))
  })

  it('counts one notification for a queue whose waiters watch their predecessors, and the herd’s', () => {
    for (const recipe of ['c-mutex', 'z-lock', 'k-lock', 'n-lock'])
      expect(cellOf(recipe, 4).phases.release.tally.notifications, recipe).to.equal(1)
    for (const recipe of ['n-herd', 'c-read'])
      expect(cellOf(recipe, 4).phases.release.tally.notifications, recipe).to.equal(3)
  })

  it('counts the requests by their kinds', () => {
    expect(cellOf('c-mutex', 4).phases.release.tally.requests).to.deep.equal({ delete: 1, getChildren2: 1 })
    expect(cellOf('k-lock', 4).phases.join.tally.requests).to.deep.equal({ create: 1, getChildren: 2, getData: 1 })
  })

  it('counts the round trips in the frames, and their time agrees', () => {
    for (const size of SIZES) {
      const counted = Object.fromEntries(RECIPES.map(id => [id, roundTripsAt(result, id, size)?.counted]))
      const expected = { 'c-mutex': 2, 'z-lock': 3, 'k-lock': 2, 'k-semaphore': 5, 'n-lock': 2 }
      expect(counted, `${size} contenders`).to.deep.include(expected)
    }
    // A busy machine makes the time longer, but nothing makes it shorter.
    for (const { recipe, counted, timed } of result.roundTrips) expect(timed, recipe).to.be.at.least(counted ?? NaN)
  })

  it('compiles zoo_lock from the sources of Debian’s package, which not every machine can fetch', function () {
    for (const reason of available.missing.values()) {
      process.stderr.write(`zoo_lock is not measured: ${reason}\n`)
      this.skip()
    }
    for (const size of SIZES) {
      expect(cellOf('zoo-lock', size).isConstant).to.equal(true)
      expect(roundTripsAt(result, 'zoo-lock', size)?.counted).to.equal(4)
    }
    expect(remainsOf('zoo-lock').gaveUp).to.include({ watches: 3, cameBack: 3 })
  })

  it('finds no node of a killed contender after its session has expired', () => {
    for (const { recipe, nodesOfKilled } of result.remains) expect(nodesOfKilled, recipe).to.equal(0)
  })

  it('shows that Curator and kazoo find their nodes again after a lost answer', () => {
    for (const recipe of ['c-mutex', 'c-semaphore', 'k-lock'])
      for (const lost of remainsOf(recipe).lostAnswers)
        expect(lost, recipe).to.include({ gotLock: true, nodes: 0, nextGotLock: true })
    expect(remainsOf('c-semaphore').lostAnswers, 'one for each create').to.have.length(2)
  })

  it('shows that after a lost answer a lock written by hand, and WriteLock, block everybody', () => {
    for (const recipe of ['n-lock', 'n-herd', 'z-lock'])
      expect(remainsOf(recipe).lostAnswers[0], recipe).to.include({ gotLock: false, nextGotLock: false })
    expect(remainsOf('n-lock').lostAnswers[0]?.nodes, 'its lost node and its second one').to.equal(2)
  })

  it('exits with 1 if recipes failed, and names them', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'zkwire-peers-'))
    const args = ['--sessions', '2', '--seconds', '0.001', '--json', join(directory, 'peers.json')]
    const { status, out } = await new ChildProgram(['--import', 'tsx', main, ...args]).ended
    expect(status).to.equal(1)
    expect(out).to.contain('FAILED: InterProcessMutex. the time of 0.001 s was over')
    await rm(directory, { recursive: true })
  })

  it('leaves no process and no server after SIGINT, and exits with 130', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'zkwire-peers-'))
    const args = ['--import', 'tsx', main, '--sessions', '2', '--json', join(directory, 'peers.json')]
    const program = new ChildProgram(args)
    // The server starts after all programs are compiled, so no compiler is taken for a driver.
    const isServer = (pid: number) => commandOf(pid).includes('QuorumPeerMain')
    const isDriver = (pid: number) => /drivers|Contenders|contenders/.test(commandOf(pid))
    let children: number[] = []
    const hasServerAndContenders = () => {
      children = childrenOf(program.pid)
      return children.some(isServer) && children.some(isDriver)
    }
    await until(hasServerAndContenders, { within: 120_000 })
    program.kill('SIGINT')
    expect((await program.ended).status).to.equal(130)
    expect(children.filter(pid => commandOf(pid) !== '').map(commandOf)).to.deep.equal([])
    await rm(directory, { recursive: true })
  })
})
