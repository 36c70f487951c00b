// One real server for the whole mocha run, for tests that do not restart it and need no special configuration.
import type { Address } from '../../environment/proxied-connection.ts'
import { isCode, operations, ZooKeeperError } from '../../src/protocol/index.ts'
import { type ApacheZooKeeper, startApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'
import { WireSession } from './wire-session.ts'

let server: Promise<ApacheZooKeeper> | undefined

/** Allows TTL nodes. The container check runs once a day, so that no node is removed during a test. */
const jvm = ['-Dzookeeper.extendedTypesEnabled=true', '-Dznode.container.checkIntervalMs=86400000']

/** Returns the server. The first call starts it; it is killed when mocha exits. */
export const sharedServer = (): Promise<ApacheZooKeeper> => (server ??= startApacheZooKeeper({ jvm }))

const ATTEMPTS = 10

/**
 * Expires a session at the server and removes its ephemeral nodes: a second connection reattaches to the session and
 * closes it. If the session's own client reattaches first, which ends the second connection, this retries.
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

/**
 * Installs the server before the tests, because the installation may exceed the timeout of a test. If the installation
 * fails, the tests that need the server report it.
 */
export async function mochaGlobalSetup(): Promise<void> {
  await findApacheZooKeeper().catch(() => undefined)
}
