// One real server for the whole run of mocha, for tests that neither restart it nor need a configuration of their own.
import { isCode, operations, ZooKeeperError } from '../../src/protocol/index.ts'
import { type ApacheZooKeeper, startApacheZooKeeper } from './apache-zookeeper.ts'
import { findApacheZooKeeper } from './find-apache-zookeeper.ts'
import { type Address, WireSession } from './wire-session.ts'

let server: Promise<ApacheZooKeeper> | undefined

/** Nodes may have a ttl, and none is reaped while a test looks on. */
const jvm = ['-Dzookeeper.extendedTypesEnabled=true', '-Dznode.container.checkIntervalMs=86400000']

/** Starts with the first that asks, and ends with mocha. */
export const sharedServer = (): Promise<ApacheZooKeeper> => (server ??= startApacheZooKeeper({ jvm }))

const ATTEMPTS = 10

/**
 * Expires a session at the server: a second connection takes it up and closes it. Its ephemeral nodes are gone. Whose session it is may take
 * it back before that, which ends the second connection: then it is taken up again.
 */
export async function expireSession(server: Address, sessionId: bigint, password: Uint8Array): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    let session: WireSession | undefined
    try {
      session = await WireSession.open(server, { sessionId, password })
      await session.request(operations.closeSession, {})
      return
    } catch (error) {
      if (attempt > 1 && isCode(error, 'SESSIONEXPIRED')) return
      if (error instanceof ZooKeeperError || attempt === ATTEMPTS) throw error
    } finally {
      session?.drop()
    }
  }
}

/** Installing takes longer than a test may. Where there is no way to, the tests that want a server are to say so. */
export async function mochaGlobalSetup(): Promise<void> {
  await findApacheZooKeeper().catch(() => undefined)
}
