// Random scenarios: the steps of several sessions, as plain data that a failed test can print.
import fc from 'fast-check'
import { digest } from '../../src/index.ts'
import { createModes, perms } from '../../src/protocol/index.ts'

/** A request. Strings that begin with '/' are paths below the base node of the run. */
export type RequestSpec = readonly [operation: string, body: Readonly<Record<string, unknown>>]

export type Step = { readonly session: number } & (
  | { readonly requests: readonly RequestSpec[] }
  /** Authenticates as this user. */
  | { readonly auth: User }
  /** Moves the session to another connection, while the old one is closed ('gone') or still open ('taken over'). */
  | { readonly reconnect: 'gone' | 'taken over' }
  /** Closes the session, and opens another one to replace it. */
  | { readonly close: true }
)

export type User = 'ann' | 'bob'

export const passwords: Readonly<Record<User, string>> = { ann: 'secret', bob: 'other' }

/** Every ACL grants all permissions to the first user, who deletes the nodes at the end. */
const digests: Readonly<Record<User, string>> = {
  ann: digest('ann', passwords.ann),
  bob: digest('bob', passwords.bob),
}

/** A placeholder for a zxid: the last one that the session has seen, or 0. */
type Seen = 'seen' | 'never'

const paths = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('/a', '/a/b', '/b') },
  { weight: 2, arbitrary: fc.constantFrom('/a/b/c', '/a/s-', '/a/s-0000000000', '/s-0000000001', '/') },
)
/**
 * The empty path is missing, because it means the root, which other tests on the shared server change.
 * The contract covers it.
 */
const wrongPaths = fc.constantFrom('a', '/a/', '//a', '/a/../b', '/a/.', '/a\u0001', '/\ud7ff', '/\uf8ff', '/a\0b')
const anyPaths = fc.oneof({ weight: 30, arbitrary: paths }, { weight: 1, arbitrary: wrongPaths })
/** Paths that a scenario may create and delete: not the base node. */
const belowPaths = anyPaths.filter(path => path !== '/')

const versions = fc.oneof(
  { weight: 4, arbitrary: fc.constant(-1) },
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 2) },
  { weight: 1, arbitrary: fc.constantFrom(-2, 0x7fff_ffff) },
)
const data = fc.constantFrom('', 'x', 'longer', null)
const watch = fc.boolean()

const id = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ scheme: 'world', id: 'anyone' }) },
  { weight: 5, arbitrary: fc.constantFrom(...Object.values(digests)).map(id => ({ scheme: 'digest', id })) },
  { weight: 3, arbitrary: fc.constantFrom('', 'ann', 'whoever').map(id => ({ scheme: 'auth', id })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('127.0.0.1', '127.0.0.1/32', '127.0.0.0/8', '10.0.0.1', '0.0.0.0/0', '127.1', '1.2.3.4/33')
      .map(id => ({ scheme: 'ip', id })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        { scheme: 'world', id: 'nobody' },
        { scheme: 'nonsense', id: 'x' },
        { scheme: 'digest', id: 'ann' },
        { scheme: 'digest', id: 'a:b:c' },
        { scheme: 'sasl', id: 'ann' },
      ],
    ),
  },
)
const all = { perms: perms.all, id: { scheme: 'digest', id: digests.ann } }
const acls = fc.oneof(
  { weight: 6, arbitrary: fc.constant([{ perms: perms.all, id: { scheme: 'world', id: 'anyone' } }]) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.record({ perms: fc.integer({ min: 0, max: perms.all }), id }), { maxLength: 3 })
      .map(entries => [all, ...entries]),
  },
  { weight: 1, arbitrary: fc.constantFrom([], null) },
)

const { persistentTTL, persistentSequentialTTL, ...plainModes } = createModes
const { container, persistent, persistentSequential } = plainModes
const flags = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...Object.values(plainModes)) },
  { weight: 1, arbitrary: fc.constantFrom(-1, persistentTTL, persistentSequentialTTL, 7) },
)

const request = <T extends object>(
  operation: string,
  body: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<RequestSpec> => fc.record(body).map(each => [operation, each as Record<string, unknown>])

const creation = { path: belowPaths, data, acl: acls, flags }
const createTTL = request('createTTL', {
  ...creation,
  // No other mode, because 3.8.0 shuts itself down after a createTTL with one.
  flags: fc.constantFrom(persistentTTL, persistentSequentialTTL),
  ttl: fc.constantFrom(1_000_000, 2 ** 40 - 1, 2 ** 40, 0, -1),
})
const creations = fc.oneof(
  { weight: 2, arbitrary: request('create', creation) },
  { weight: 4, arbitrary: request('create2', creation) },
  // No ephemeral mode, because 3.8.0 treats a node with such flags as a container only after the transaction.
  {
    weight: 1,
    arbitrary: request('createContainer', {
      ...creation,
      flags: fc.constantFrom(container, container, persistent, persistentSequential),
    }),
  },
  { weight: 1, arbitrary: createTTL },
)
const changes = fc.oneof(
  { weight: 4, arbitrary: creations },
  { weight: 3, arbitrary: request('delete', { path: belowPaths, version: versions }) },
  { weight: 2, arbitrary: request('setData', { path: anyPaths, data, version: versions }) },
)
const setACL = request('setACL', { path: anyPaths, acl: acls, version: versions })
const check = request('check', { path: anyPaths, version: versions })

const reading = { path: anyPaths, watch }
const reads = fc.oneof(
  ...['exists', 'getData', 'getChildren', 'getChildren2'].map(each => request(each, reading)),
  request('getACL', { path: anyPaths }),
)
const rareRequests = fc.oneof(
  request('getAllChildrenNumber', { path: anyPaths }),
  request('getEphemerals', { prefixPath: fc.constantFrom('/', '/a', '/a/s') }),
  request('sync', { path: anyPaths }),
  request('whoAmI', {}),
  request('ping', {}),
)

/**
 * No plain create with the flags of a ttl, because 3.8.0 fails in the middle of it. For a while it then executes
 * requests as if the first half had been committed.
 */
const inMulti = fc
  .oneof({ weight: 6, arbitrary: changes }, { weight: 2, arbitrary: check })
  .filter(
    ([name, body]) =>
      name === 'createTTL' || ![persistentTTL, persistentSequentialTTL].some(each => each === body['flags']),
  )
const multi = fc.array(inMulti, { maxLength: 5 }).map((items): RequestSpec => ['multi', { items }])
const multiRead = fc
  .array(fc.oneof(request('getData', reading), request('getChildren', reading)), { maxLength: 4 })
  .map((items): RequestSpec => ['multiRead', { items }])

const watchTypes = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(0, 4, 5) },
)
const somePaths = fc.array(paths, { maxLength: 2 })
const earlierWatches = {
  relativeZxid: fc.constantFrom<Seen>('seen', 'seen', 'never'),
  dataWatches: somePaths,
  existWatches: somePaths,
  childWatches: somePaths,
}
const watching = fc.oneof(
  {
    weight: 4,
    arbitrary: request('addWatch', {
      path: paths,
      mode: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: fc.constantFrom(-1, 2) }),
    }),
  },
  { weight: 2, arbitrary: request('removeWatches', { path: paths, type: watchTypes }) },
  { weight: 1, arbitrary: request('checkWatches', { path: paths, type: watchTypes }) },
  { weight: 1, arbitrary: request('setWatches', earlierWatches) },
  {
    weight: 2,
    arbitrary: request('setWatches2', {
      ...earlierWatches,
      persistentWatches: somePaths,
      persistentRecursiveWatches: somePaths,
    }),
  },
)

const requests = fc.oneof(
  { weight: 10, arbitrary: changes },
  { weight: 6, arbitrary: reads },
  { weight: 3, arbitrary: watching },
  { weight: 3, arbitrary: multi },
  { weight: 1, arbitrary: multiRead },
  { weight: 1, arbitrary: rareRequests },
)

export const SESSIONS = 3
const session = fc.nat(SESSIONS - 1)

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ session, requests: fc.array(requests, { minLength: 1, maxLength: 4 }) }) },
  // A separate step, because 3.8.0 checks requests that follow a setACL with the old ACL until the new one is applied.
  { weight: 2, arbitrary: fc.record({ session, requests: setACL.map(each => [each]) }) },
  { weight: 1, arbitrary: fc.record({ session, auth: fc.constantFrom<User>('ann', 'bob') }) },
  { weight: 2, arbitrary: fc.record({ session, reconnect: fc.constantFrom('gone' as const, 'taken over' as const) }) },
  { weight: 1, arbitrary: fc.record({ session, close: fc.constant(true as const) }) },
)

export const scenarios: fc.Arbitrary<Step[]> = fc.array(steps, { minLength: 1, maxLength: 20, size: 'max' })
