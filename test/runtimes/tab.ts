// Runs the suite in a tab of a browser, against embedded servers in the same tab.
import { connect } from '../../src/index.ts'
import { ReentrantMutex } from '../../src/recipes/index.ts'
import { Server } from '../../src/server/index.ts'
import { run, stepsWithoutSockets, type SuiteResult } from './suite.ts'

const nowhere = { servers: '', resetUrl: '', secure: { servers: '', ca: '', impostors: [] } }

/** What a browser lacks, and the message of each error that says so. */
async function refusals(): Promise<Record<string, string>> {
  await using server = await Server.start({ listen: false })
  await using zk = await connect(server.connectString, { dial: server.dial })
  const messageOf = async (attempt: () => unknown): Promise<string> => {
    try {
      await attempt()
      return ''
    } catch (error) {
      return String(error)
    }
  }
  return {
    connect: await messageOf(() => connect('localhost:2181')),
    connectTls: await messageOf(() => connect('localhost:2181', { tls: true })),
    listen: await messageOf(() => Server.start()),
    dataFile: await messageOf(() => Server.start({ listen: false, dataFile: 'state.json' })),
    byContext: await messageOf(() => new ReentrantMutex(zk, '/lock', { byContext: true })),
  }
}

Object.assign(globalThis, {
  runSuite: (): Promise<SuiteResult> => run(nowhere, {}, stepsWithoutSockets),
  refusals,
})
