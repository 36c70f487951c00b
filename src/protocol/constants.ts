// ZooKeeper's numbers. Their names are those of Java's ZooDefs, CreateMode and Watcher.

/**
 * The opcodes of requests (ZooDefs.OpCode).
 * @example constants.opcodes.getData // => 4
 */
export const opcodes = {
  notification: 0,
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  getACL: 6,
  setACL: 7,
  getChildren: 8,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  reconfig: 16,
  checkWatches: 17,
  removeWatches: 18,
  createContainer: 19,
  deleteContainer: 20,
  createTTL: 21,
  multiRead: 22,
  auth: 100,
  setWatches: 101,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
  createSession: -10,
  closeSession: -11,
  error: -1,
} as const

/**
 * The xids reserved for one purpose (ClientCnxn). All other requests have positive xids.
 * @example constants.xids.notification // => -1
 */
export const xids = {
  notification: -1,
  ping: -2,
  auth: -4,
  setWatches: -8,
} as const

/**
 * The flags of a create request, by mode (CreateMode).
 * @example createModes.ephemeralSequential // => 3
 */
export const createModes = {
  persistent: 0,
  ephemeral: 1,
  persistentSequential: 2,
  ephemeralSequential: 3,
  container: 4,
  persistentTTL: 5,
  persistentSequentialTTL: 6,
} as const

/**
 * A mode of {@link Client.create}.
 * @example
 * const mode: CreateMode = 'ephemeralSequential'
 * const { path } = await zk.create('/worker-', '', { mode })
 * path // => '/worker-0000000000'
 */
export type CreateMode = keyof typeof createModes

/**
 * Returns true if the server appends a number to the path of a node created with these flags.
 * @example constants.isSequential(createModes.ephemeralSequential) // => true
 */
export const isSequential = (flags: number): boolean =>
  flags === createModes.persistentSequential ||
  flags === createModes.ephemeralSequential ||
  flags === createModes.persistentSequentialTTL

/**
 * The longest ttl of a node, in milliseconds: 40 bits of ephemeralOwner are free to hold it (EphemeralType.TTL).
 * @example
 * await zk.create('/a', '', { mode: 'persistentTTL', ttl: constants.longestTtl })
 * await zk.create('/b', '', { mode: 'persistentTTL', ttl: constants.longestTtl + 1 }) // throws BADARGUMENTS
 */
export const longestTtl = 0xff_ffff_ffff

/**
 * The permissions of an ACL, one bit each (ZooDefs.Perms).
 * @example
 * const acl = [aclOf('world', 'anyone', perms.read | perms.create)]
 * await zk.create('/log', '', { acl })
 * await zk.create('/log/entry')
 * await zk.setData('/log', 'v2') // throws NOAUTH
 */
export const perms = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const

/**
 * The types of events (Watcher.Event.EventType), without None, which servers do not send. Servers do not send the
 * `…Removed` types either: Java's client creates them.
 * @example constants.eventTypes.NodeDataChanged // => 3
 */
export const eventTypes = {
  NodeCreated: 1,
  NodeDeleted: 2,
  NodeDataChanged: 3,
  NodeChildrenChanged: 4,
  DataWatchRemoved: 5,
  ChildWatchRemoved: 6,
  PersistentWatchRemoved: 7,
} as const

/**
 * The states that an event reports (Watcher.Event.KeeperState).
 * @example constants.keeperStates.SyncConnected // => 3
 */
export const keeperStates = {
  Disconnected: 0,
  SyncConnected: 3,
  AuthFailed: 4,
  ConnectedReadOnly: 5,
  SaslAuthenticated: 6,
  Closed: 7,
  Expired: -112,
} as const

/**
 * The kinds of watches that removeWatches removes (Watcher.WatcherType). Servers know the persistent types from 3.9 on.
 * @example constants.watcherTypes.data | constants.watcherTypes.children // => constants.watcherTypes.any
 */
export const watcherTypes = { children: 1, data: 2, any: 3, persistent: 4, persistentRecursive: 5 } as const

/**
 * The modes of persistent watches (AddWatchMode).
 * @example constants.addWatchModes.persistentRecursive // => 1
 */
export const addWatchModes = { persistent: 0, persistentRecursive: 1 } as const
