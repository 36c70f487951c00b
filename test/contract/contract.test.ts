// The same contract for the embedded server and for Apache ZooKeeper.
import { connect } from '../../src/index.ts'
import { Server, type ServerOptions } from '../../src/server/index.ts'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { setCounters } from '../support/sequence-counter.ts'
import { sharedServer } from '../support/shared-server.ts'
import { keepers } from './keeper.ts'
import { runCase, type Suite } from './suite.ts'
import { counterSuites, quotaSuites, suites, timeSuites } from './suites.ts'
import { counterStarts } from './suites/counters.ts'
import { superDigest } from './suites/superuser.ts'
import { shortIntervals } from './suites/time.ts'

const leaveRunning = () => Promise.resolve()

function runContract<S extends Server | ApacheZooKeeper>(
  name: string,
  contract: readonly Suite[],
  start: () => Promise<S>,
  stop: (server: S) => Promise<void> = server => server.close(),
): void {
  describe(`${name} keeps the contract:`, () => {
    let server: S
    before(async function () {
      this.timeout(60_000)
      server = await start()
    })
    after(() => stop(server))

    for (const { title, cases } of contract)
      describe(title, () => {
        for (const each of cases) it(each.title, () => runCase(server, each))
      })
  })
}

const options: ServerOptions = { tickTime: 500, extendedTypes: true }
runContract('the embedded server', suites, () => Server.start(options))
for (const version of ['3.8.6', '3.9.5', '3.9.6'])
  runContract(`the embedded server, version ${version},`, suites, () => Server.start({ ...options, version }))
for (const [keeper, lost] of Object.entries(keepers)) {
  const kept = suites.map(({ title, cases }) => ({ title, cases: cases.filter(each => !lost.includes(each.title)) }))
  const start = () => Server.start({ ...options, keeper })
  runContract(`the embedded server as ClickHouse Keeper ${keeper}`, kept, start)
}
runContract('Apache ZooKeeper', suites, sharedServer, leaveRunning)

const { containerCheckInterval, ...ticks } = shortIntervals
runContract('the embedded server with short intervals', timeSuites, () =>
  Server.start({ ...options, ...shortIntervals }),
)
runContract('Apache ZooKeeper with short intervals', timeSuites, () =>
  startApacheZooKeeper({
    config: ticks,
    jvm: ['-Dzookeeper.extendedTypesEnabled=true', `-Dznode.container.checkIntervalMs=${containerCheckInterval}`],
  }),
)

runContract('the embedded server with quotas and a superuser', quotaSuites, () =>
  Server.start({ ...options, enforceQuota: true, superDigest }),
)
runContract('Apache ZooKeeper with quotas and a superuser', quotaSuites, () =>
  startApacheZooKeeper({
    jvm: ['-Dzookeeper.enforceQuota=true', `-Dzookeeper.DigestAuthenticationProvider.superDigest=${superDigest}`],
  }),
)

async function createCounterNodes({ connectString }: Server | ApacheZooKeeper): Promise<void> {
  await using zk = await connect(connectString)
  for (const path of Object.keys(counterStarts)) await zk.create(path)
}

runContract('the embedded server with high sequence counters', counterSuites, async () => {
  const server = await Server.start(options)
  await createCounterNodes(server)
  for (const [path, next] of Object.entries(counterStarts)) server.setSequenceCounter(path, next)
  return server
})
runContract('Apache ZooKeeper with high sequence counters', counterSuites, async () => {
  const server = await startApacheZooKeeper()
  await createCounterNodes(server)
  // The next start writes the snapshot that setCounters edits, and the start after it reads the snapshot.
  await server.kill()
  await server.start()
  await server.kill()
  setCounters(server.directory, counterStarts)
  await server.start()
  return server
})
