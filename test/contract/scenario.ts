// What several sessions do, one after another: drawn by fast-check, as plain data that can be read and written down.
import fc from 'fast-check'
import { digest } from '../../src/index.ts'
import { createModes, perms } from '../../src/protocol/index.ts'

/** Of an operation by its name. Strings that begin with '/' are paths below a node of the run's own. */
export type Ask = readonly [operation: string, body: Readonly<Record<string, unknown>>]

export type Step = { readonly session: number } & (
  | { readonly asks: readonly Ask[] }
  /** By a user of this name. */
  | { readonly auth: User }
  /** The session goes on with another connection; the old one is gone, or still there. */
  | { readonly reconnect: 'gone' | 'taken over' }
  /** And another session comes in its place. */
  | { readonly close: true }
)

export type User = 'ann' | 'bob'

export const passwords: Readonly<Record<User, string>> = { ann: 'secret', bob: 'other' }

/** The first may do everything everywhere: so a run can be cleared away. */
export const digests: Readonly<Record<User, string>> = {
  ann: digest('ann', passwords.ann),
  bob: digest('bob', passwords.bob),
}

/** In the place of a zxid: the last that this session has seen, or none. */
export type Seen = 'seen' | 'never'

const paths = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('/a', '/a/b', '/b') },
  { weight: 2, arbitrary: fc.constantFrom('/a/b/c', '/a/s-', '/a/s-0000000000', '/s-0000000001', '/') },
)
/** Not the empty path: that is the root's other name, where others have worked on a shared server. The contract knows it. */
const wrongPaths = fc.constantFrom('a', '/a/', '//a', '/a/../b', '/a/.', '/a\u0001', '/\ud7ff', '/\uf8ff', '/a\0b')
const anyPaths = fc.oneof({ weight: 30, arbitrary: paths }, { weight: 1, arbitrary: wrongPaths })
/** The run's own node stays, whatever happens. */
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

const ask = <T extends object>(operation: string, body: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<Ask> =>
  fc.record(body).map(each => [operation, each as Record<string, unknown>])

const creation = { path: belowPaths, data, acl: acls, flags }
const createTTL = ask('createTTL', {
  ...creation,
  // Not another mode: 3.8.0 stops itself over one.
  flags: fc.constantFrom(persistentTTL, persistentSequentialTTL),
  ttl: fc.constantFrom(1_000_000, 2 ** 40 - 1, 2 ** 40, 0, -1),
})
const creations = fc.oneof(
  { weight: 2, arbitrary: ask('create', creation) },
  { weight: 4, arbitrary: ask('create2', creation) },
  // Nor one that is ephemeral: 3.8.0 takes it for a container only once it is done.
  {
    weight: 1,
    arbitrary: ask('createContainer', {
      ...creation,
      flags: fc.constantFrom(container, container, persistent, persistentSequential),
    }),
  },
  { weight: 1, arbitrary: createTTL },
)
const changes = fc.oneof(
  { weight: 4, arbitrary: creations },
  { weight: 3, arbitrary: ask('delete', { path: belowPaths, version: versions }) },
  { weight: 2, arbitrary: ask('setData', { path: anyPaths, data, version: versions }) },
)
const setACL = ask('setACL', { path: anyPaths, acl: acls, version: versions })
const check = ask('check', { path: anyPaths, version: versions })

const reading = { path: anyPaths, watch }
const reads = fc.oneof(
  ...['exists', 'getData', 'getChildren', 'getChildren2'].map(each => ask(each, reading)),
  ask('getACL', { path: anyPaths }),
)
const rarely = fc.oneof(
  ask('getAllChildrenNumber', { path: anyPaths }),
  ask('getEphemerals', { prefixPath: fc.constantFrom('/', '/a', '/a/s') }),
  ask('sync', { path: anyPaths }),
  ask('whoAmI', {}),
  ask('ping', {}),
)

/** A plain create with the flags of a ttl makes 3.8.0 give up in the middle, and remember for a while what it did not do. */
const inMulti = fc
  .oneof({ weight: 6, arbitrary: changes }, { weight: 2, arbitrary: check })
  .filter(
    ([name, body]) =>
      name === 'createTTL' || ![persistentTTL, persistentSequentialTTL].some(each => each === body['flags']),
  )
const multi = fc.array(inMulti, { maxLength: 5 }).map((items): Ask => ['multi', { items }])
const multiRead = fc
  .array(fc.oneof(ask('getData', reading), ask('getChildren', reading)), { maxLength: 4 })
  .map((items): Ask => ['multiRead', { items }])

const watchTypes = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 2, 3) },
  { weight: 1, arbitrary: fc.constantFrom(0, 4, 5) },
)
const someWatched = fc.array(paths, { maxLength: 2 })
const before = {
  relativeZxid: fc.constantFrom<Seen>('seen', 'seen', 'never'),
  dataWatches: someWatched,
  existWatches: someWatched,
  childWatches: someWatched,
}
const watching = fc.oneof(
  {
    weight: 4,
    arbitrary: ask('addWatch', {
      path: paths,
      mode: fc.oneof({ weight: 9, arbitrary: fc.constantFrom(0, 1) }, { weight: 1, arbitrary: fc.constantFrom(-1, 2) }),
    }),
  },
  { weight: 2, arbitrary: ask('removeWatches', { path: paths, type: watchTypes }) },
  { weight: 1, arbitrary: ask('checkWatches', { path: paths, type: watchTypes }) },
  { weight: 1, arbitrary: ask('setWatches', before) },
  {
    weight: 2,
    arbitrary: ask('setWatches2', {
      ...before,
      persistentWatches: someWatched,
      persistentRecursiveWatches: someWatched,
    }),
  },
)

const asks = fc.oneof(
  { weight: 10, arbitrary: changes },
  { weight: 6, arbitrary: reads },
  { weight: 3, arbitrary: watching },
  { weight: 3, arbitrary: multi },
  { weight: 1, arbitrary: multiRead },
  { weight: 1, arbitrary: rarely },
)

export const SESSIONS = 3
const session = fc.nat(SESSIONS - 1)

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: fc.record({ session, asks: fc.array(asks, { minLength: 1, maxLength: 4 }) }) },
  // By itself: what is asked right behind it 3.8.0 judges by the list before, until the new one is applied.
  { weight: 2, arbitrary: fc.record({ session, asks: setACL.map(each => [each]) }) },
  { weight: 1, arbitrary: fc.record({ session, auth: fc.constantFrom<User>('ann', 'bob') }) },
  { weight: 2, arbitrary: fc.record({ session, reconnect: fc.constantFrom('gone' as const, 'taken over' as const) }) },
  { weight: 1, arbitrary: fc.record({ session, close: fc.constant(true as const) }) },
)

export const scenarios: fc.Arbitrary<Step[]> = fc.array(steps, { minLength: 1, maxLength: 20, size: 'max' })
