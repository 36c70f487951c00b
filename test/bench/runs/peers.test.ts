// The measurement of the peers, with our own locks only: test/interop/peers-run.test.ts has the other libraries.
import { expect } from 'chai'
import { fileURLToPath } from 'node:url'
import { serverFor, type Server } from '../../../bench/harness/server.ts'
import { Progress } from '../../../bench/output/progress.ts'
import { libraries, type Library } from '../../../bench/peers/libraries.ts'
import { measurePeers, needs, provideAll, type Availability } from '../../../bench/peers/measure.ts'
import { provide } from '../../../bench/peers/provide.ts'
import { peersCaveats, peersTable } from '../../../bench/peers/table.ts'
import { peersReportOf } from '../../../bench/peers/report.ts'
import { readPeersResult, talliesOf } from '../../../bench/peers/result.ts'
import { connect } from '../../../src/index.ts'
import { childrenOf, commandOf } from '../../../environment/procfs.ts'
import { until } from '../../../environment/until.ts'

describe('npm run bench -- peers', function () {
  this.timeout(60_000)

  const progress = new Progress({ write: () => undefined })
  let server: Server
  let available: Availability
  before(async () => {
    server = await serverFor('embedded')
    const [ours] = libraries
    const recipes = ours?.recipes.filter(({ id }) => ['predecessor', 'herd', 'read'].includes(id)) ?? []
    const library: Library = { ...(ours ?? expect.fail('no library')), recipes }
    available = { provided: new Map([[library, await provide('zkwire', {})]]), missing: new Map() }
  })
  after(() => server.close())

  const measure = (sizes: number[], { signal } = new AbortController(), seconds = 60) =>
    measurePeers(
      { sizes, seed: 1, seconds },
      available,
      ['--tables', '--zoo-lock', '/somewhere'],
      [server, progress, signal],
    )

  const rootNodes = async () => {
    await using client = await connect(server.servers)
    return (await client.getChildren('/')).children.filter(name => name.startsWith('zkwire-bench'))
  }

  it('counts the frames of each release and join, equal in every step', async () => {
    const result = await measure([2, 4])
    expect(peersCaveats({ ...result, libraries: [] })).to.deep.equal([
      'All steps of a recipe caused the same traffic, to the byte.',
    ])
    const of = (recipe: string, size: number) =>
      result.cells.find(cell => cell.recipe === recipe && cell.size === size)?.phases ?? expect.fail(recipe)
    expect(of('predecessor', 4).release.tally).to.deep.include({
      ...{ notifications: 1, framesSent: 2, framesReceived: 3 },
      requests: { delete: 1, getChildren2: 1 },
    })
    expect(of('herd', 4).release.tally.notifications).to.equal(3)
    expect(of('herd', 2).release.tally.notifications).to.equal(1)
    expect(of('read', 4).release.tally, 'all readers get the lock').to.deep.include({ notifications: 3, framesSent: 4 })
    const committed = await readPeersResult(fileURLToPath(new URL('../../../docs/peers.json', import.meta.url)))
    expect(talliesOf(result), 'as on Apache, in the committed run').to.deep.equal(
      talliesOf(committed).filter(({ recipe }) => result.cells.some(cell => cell.recipe === recipe)),
    )
    expect(result.roundTrips.map(({ recipe, size, counted }) => [recipe, size, counted])).to.deep.equal(
      ['predecessor', 'herd', 'read'].flatMap(recipe => [2, 4].map(size => [recipe, size, 2])),
    )
    for (const { recipe, ...remains } of result.remains)
      expect(remains, recipe).to.deep.equal({
        gaveUp: { contenders: 3, nodes: 0, watches: 0, cameBack: 0 },
        lostAnswers: [{ create: 1, failures: 0, gotLock: true, nodes: 0, watches: 0, nextGotLock: true }],
        nodesOfKilled: 0,
      })
    expect(result.watchesAtEnd).to.equal(0)
    expect(result.recordings).to.have.length(3)
    expect(result.commandLine, 'no path of this machine').to.equal('npm run bench -- peers --tables')
    expect(await rootNodes()).to.deep.equal([])
    const page = await peersReportOf(result)
    for (const { id } of available.provided.keys().next().value?.recipes ?? [])
      expect(page).to.contain(`id="timeline-${id}"`)
    expect(page).not.to.match(/NaN|undefined|Infinity/)
    const table = peersTable(result, [2, 4])
    expect(table).to.match(
      /RELEASE, one of 4 contenders[^]*HerdMutex +3 +\d+[^]*Killed contenders left 0 nodes and 0 watches/,
    )
    expect(table.split('\n').filter(line => line.length > 84)).to.deep.equal([])
  })

  it('leaves no program and no node if it is interrupted', async () => {
    const stop = new AbortController()
    const running = measure([2], stop).catch((error: unknown) => error)
    await until(async () => contenders().length > 0 && (await rootNodes()).length > 0)
    stop.abort(new Error('interrupted'))
    expect(await running).to.have.property('message', 'interrupted')
    expect(contenders()).to.deep.equal([])
    expect(await rootNodes()).to.deep.equal([])
  })

  it('names the recipes that it does not measure because the time is over', async () => {
    const result = await measure([2], new AbortController(), 0)
    expect(result.ended).to.equal('without predecessor, herd, read')
    expect(peersCaveats(result)).to.include('FAILED: HerdMutex. the time of 0 s was over')
  })

  it('names a library that cannot be had, with the reason, and measures the others', async () => {
    const { provided, missing } = await provideAll({}, new AbortController().signal, (name, options) =>
      name === 'kazoo' || name === 'zkwire' ? provide('zkwire', options) : Promise.reject(new Error(`no ${name} here`)),
    )
    expect([...provided.keys()].map(({ name }) => name)).to.deep.equal(['zkwire', 'kazoo'])
    expect([...missing].map(([{ name }, reason]) => `${name}: ${reason}`)).to.include('Curator: no Curator here')
  })

  it('says which packages it needs, and which file of --zoo-lock is missing', async () => {
    for (const word of ['libcurator-recipes-java', 'python3-kazoo', 'libzookeeper-mt-dev', 'node-zookeeper-client'])
      expect(needs()).to.contain(word)
    expect(
      needs()
        .split('\n')
        .filter(line => line.length > 80),
    ).to.deep.equal([])
    expect(needs()).to.contain('apt-get source zookeeper')
    const reason = await provide('C client', { zooLock: '/nowhere' }).catch(String)
    expect(reason).to.match(/--zoo-lock: \/nowhere has no zookeeper-recipes.*zoo_lock\.c/)
  })
})

/** The running programs of contenders that this process has started. */
const contenders = (): number[] => childrenOf(process.pid).filter(pid => commandOf(pid).includes('drivers/zkwire.ts'))
