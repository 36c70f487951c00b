// Each test of a suite gets a new client that reaches the shared server through a new fault proxy.
import { connect, type Client, type ConnectOptions } from '../../src/client/index.ts'
import type { ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import { FaultProxy } from '../../environment/fault-proxy.ts'
import { sharedServer } from './shared-server.ts'

export interface BehindProxy {
  server: ApacheZooKeeper
  proxy: FaultProxy
  client: Client
  /** The path of a node created for this test. The node's data is the text 'what is there'. */
  path: string
  /** Opens another session through the same proxy. */
  open: (options?: ConnectOptions) => Promise<Client>
}

/** The session timeout of these clients in milliseconds, unless a suite or a test gives another. */
export const PROXIED_TIMEOUT = 2000

let run = 0

/** Must be called inside a suite. The fields of the returned object are set before each test. */
export function behindProxy(ofSuite?: ConnectOptions): BehindProxy {
  const all = {} as BehindProxy
  all.open = options =>
    connect(all.proxy.connectString, { sessionTimeout: PROXIED_TIMEOUT, attemptTimeout: 1000, ...ofSuite, ...options })
  before(async () => {
    all.server = await sharedServer()
  })
  beforeEach(async () => {
    all.proxy = await FaultProxy.start(all.server)
    all.client = await all.open()
    all.path = `/behind-proxy-${++run}`
    await all.client.create(all.path, 'what is there')
  })
  afterEach(async () => {
    all.proxy.heal()
    await all.client.close()
    await all.proxy.close()
    await using other = await connect(all.server.connectString)
    await other.deleteRecursive(all.path)
  })
  return all
}
