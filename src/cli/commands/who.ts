// `zkwire who`.
import type { Client } from '../../client/index.ts'
import { hex64, isCode, join, ZooKeeperError } from '../../protocol/index.ts'
import { idIn } from '../../recipes/node/owner-tag.ts'
import { foreignContendersIn } from '../../recipes/queue/dialect.ts'
import { forwardAbort, untilAborted } from '../../runtime/abort.ts'
import { command } from '../runner/command.ts'
import { CommandError, statuses } from '../runner/failure.ts'
import { aligned } from '../nodes/stat-text.ts'
import { escaped, timeText } from '../runner/text.ts'

/** The role of a contender, as its name says. */
type Role = 'reader' | 'permit' | 'exclusive'

interface Contender {
  readonly node: string
  readonly role: Role
  readonly sequence: number
  readonly session: string
  readonly since: string
  /** The data of the node, which says who it is. */
  readonly id: string
}

/** The directories of a semaphore: its permits, and the gate in which contenders wait (InterProcessSemaphoreV2). */
const PERMITS = 'leases'
const GATE = 'locks'

export const who = command({
  name: 'who',
  summary: 'prints who holds a lock and who waits for it, in order',
  details: [
    'Knows the locks of zkwire, Curator, kazoo and ZooKeeper, their read-write locks and semaphores, and elections. ' +
      'Prints for each contender since when it has queued, its session, and the data of its node: zkwire lock writes ' +
      'user, host and process there, and Curator the address of the host. The last holder of a semaphore may still wait.',
    'Ends with 1 if there is no such node, or if it has only other children than contenders, as a folder of locks.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the lock' }],
  options: { follow: { type: 'boolean', short: 'f', help: 'prints the queue again after each change, until Ctrl-C' } },
  examples: ['zkwire who /locks/backup', 'zkwire who --follow /locks/backup'],
  async run({ argument, values, sessions, client, out, signal }) {
    const path = argument('PATH')
    const print = (contenders: readonly Contender[]) => {
      const holders = holdersOf(contenders)
      return out.show(
        contenders.map((each, i) => ({ holds: i < holders, ...each })),
        () => [
          ...aligned(
            contenders.map(({ since, session, id }, i) => [
              i < holders ? 'holds' : 'waits',
              since,
              session,
              escaped(id),
            ]),
          ),
          ...(contenders.length === 0 ? ['free'] : []),
          ...(values.follow ? [''] : []),
        ],
      )
    }
    if (!values.follow) return print(await contendersAt(await client(), path, { signal }))
    await sessions.supervise(async (zk, ended) => {
      for (;;) {
        // Its end removes the watches that are left.
        const round = new AbortController()
        const stopForwarding = forwardAbort(ended, round)
        try {
          let watch = () => {}
          const changed = new Promise<void>(resolve => (watch = resolve))
          await print(await contendersAt(zk, path, { watch, signal: round.signal }))
          await untilAborted(changed, ended)
        } finally {
          stopForwarding()
          round.abort()
        }
      }
    }, signal)
  },
})

/** Returns how many contenders, the first ones, hold the lock. */
export function holdersOf(contenders: readonly Pick<Contender, 'role'>[]): number {
  const firstOther = contenders.findIndex(({ role }) => role === 'exclusive')
  const shared = firstOther === -1 ? contenders.length : firstOther
  return shared === 0 ? Math.min(1, contenders.length) : shared
}

interface ReadOptions {
  readonly watch?: (() => void) | undefined
  readonly signal: AbortSignal
}

/** Reads the queue of a lock of any kind. */
async function contendersAt(zk: Client, path: string, options: ReadOptions): Promise<Contender[]> {
  const children = await childrenOf(zk, path, options)
  // Whoever follows a lock may begin before the lock is used.
  if (children === undefined && options.watch === undefined) throw noLock(path)
  const names = children ?? []
  const isSemaphore = names.includes(PERMITS)
  const [other] = names
  if (!isSemaphore && other !== undefined && contendersIn(names).length === 0 && !isGate(names))
    throw notALock(path, other)
  const directories = isSemaphore ? [join(path, PERMITS), join(path, GATE)] : [path]
  const lists = await Promise.all(
    directories.map(async directory => {
      const contenders = isSemaphore ? await childrenOf(zk, directory, options) : names
      return readAll(zk, directory, contenders ?? [], options.signal)
    }),
  )
  const [first = [], gate = []] = lists
  // The contender in the gate that has taken a permit is in both.
  return [...first, ...gate.filter(({ session }) => first.every(each => each.session !== session))]
}

/** Lists a directory. Returns undefined if it does not exist. */
async function childrenOf(zk: Client, path: string, options: ReadOptions): Promise<readonly string[] | undefined> {
  for (;;) {
    try {
      return (await zk.getChildren(path, options)).children
    } catch (error) {
      if (!isCode(error, 'NONODE')) throw error
    }
    if (options.watch === undefined || (await zk.exists(path, options)) === null) return undefined
  }
}

const noLock = (path: string): ZooKeeperError =>
  new ZooKeeperError('NONODE', {
    ...{ op: 'who', path, fate: 'refused' },
    detail: 'nobody has used this lock, or the server has deleted its container while it was free',
  })

const notALock = (path: string, child: string): CommandError =>
  new CommandError(
    statuses.refused,
    `${path} is no lock: its children, such as ${child}, are no contenders; for a lock below it, try ${join(path, child)}`,
  )

/** True if the children are those of a semaphore without a permit that is taken. */
const isGate = (names: readonly string[]): boolean => names.every(name => name === GATE)

/** All contenders are foreign to a lock that knows no names. */
const contendersIn = (names: readonly string[]): string[] => foreignContendersIn(names, { sequenceOf: () => undefined })

async function readAll(zk: Client, directory: string, names: readonly string[], signal: AbortSignal) {
  const all = await Promise.all(contendersIn(names).map(name => read(zk, directory, name, signal)))
  return all.filter(each => each !== undefined).sort((a, b) => a.sequence - b.sequence)
}

async function read(zk: Client, directory: string, name: string, signal: AbortSignal): Promise<Contender | undefined> {
  const node = join(directory, name)
  try {
    const { data, stat } = await zk.getData(node, { signal })
    return {
      node,
      role: roleOf(name),
      sequence: sequenceOf(name),
      session: hex64(stat.ephemeralOwner),
      since: timeText(stat.ctime),
      id: idIn(data),
    }
  } catch (error) {
    if (isCode(error, 'NONODE')) return undefined
    throw error
  }
}

/** Returns the number that the server appended to the name, which may be negative. */
export const sequenceOf = (name: string): number => Number(/[-_](-?\d{9,10})$/.exec(name)?.[1])

export function roleOf(name: string): Role {
  if (/__(READ|rlock)__/.test(name)) return 'reader'
  return name.includes('-lease-') ? 'permit' : 'exclusive'
}
