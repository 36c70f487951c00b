// `zkwire who`.
import { forwardAbort, untilAborted } from '../../runtime/abort.ts'
import { deferred } from '../../runtime/deferred.ts'
import { command, type Context } from '../runner/command.ts'
import { UsageError } from '../runner/failure.ts'
import { contendersAt, holdersOf, locksBelow, type Contender, type LockInUse } from '../nodes/contenders.ts'
import { aligned } from '../nodes/stat-text.ts'
import { escaped, timeText } from '../runner/text.ts'

export const who = command({
  name: 'who',
  summary: 'prints who holds a lock and who waits for it, in order',
  details: [
    'Knows the locks of zkwire, Curator, kazoo and ZooKeeper, their read-write locks and semaphores, and elections. ' +
      'Prints for each contender since when it has queued, its session, and the data of its node: zkwire lock writes ' +
      'user, host and process there, and Curator the address of the host. The last holder of a semaphore may still wait.',
    'With -R, prints the holders of all locks below the node, and how many contenders wait. The age is the time since ' +
      'the holder has queued, by the clocks of the server and of this machine. Locks that nobody uses are not found.',
    'Ends with 1 if there is no such node, or if it has only other children than contenders, as a folder of locks.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the lock, or with -R of a folder' }],
  options: {
    follow: { type: 'boolean', short: 'f', help: 'prints the queue again after each change, until Ctrl-C' },
    recursive: { type: 'boolean', short: 'R', help: 'prints the holders of all locks below the node' },
  },
  examples: ['zkwire who /locks/backup', 'zkwire who -R /', 'zkwire who --follow /locks/backup'],
  async run(context) {
    const { values, sessions, client, out, signal } = context
    const path = context.argument('PATH')
    if (values.follow && values.recursive) throw new UsageError('--follow and --recursive exclude each other')
    if (values.recursive) return overview(context, path)
    const print = (contenders: readonly Contender[]) => {
      const queue = queueOf(contenders)
      return out.show(queue, () => [
        ...aligned(
          queue.map(({ holds, since, session, id }) => [holds ? 'holds' : 'waits', since, session, escaped(id)]),
        ),
        ...(queue.length === 0 ? ['free'] : []),
        ...(values.follow ? [''] : []),
      ])
    }
    if (!values.follow) return print(await contendersAt(await client(), path, { signal }))
    await sessions.supervise(async (zk, ended) => {
      for (;;) {
        // Its end removes the watches that are left.
        const round = new AbortController()
        const stopForwarding = forwardAbort(ended, round)
        try {
          const changed = deferred()
          await print(await contendersAt(zk, path, { watch: changed.resolve, signal: round.signal }))
          await untilAborted(changed.promise, ended)
        } finally {
          stopForwarding()
          round.abort()
        }
      }
    }, signal)
  },
})

/** Returns the contenders as they are printed. */
function queueOf(contenders: readonly Contender[]) {
  const holders = holdersOf(contenders)
  return contenders.map(({ ctime, ...each }, i) => ({ holds: i < holders, ...each, since: timeText(ctime) }))
}

/** Prints a line for each holder of a lock below the node. */
async function overview({ client, out, clock, signal }: Context, root: string): Promise<void> {
  const locks: LockInUse[] = []
  for await (const lock of locksBelow(await client(), root, signal)) locks.push(lock)
  const rows = locks.flatMap(({ path, contenders }) => {
    const holders = holdersOf(contenders)
    return contenders
      .slice(0, holders)
      .map(({ ctime, session, id }) => [
        ...[escaped(path), ageText(clock.wallNow() - ctime), `${contenders.length - holders} wait`],
        ...[session, escaped(id)],
      ])
  })
  const document = locks.map(({ path, contenders }) => ({ path, contenders: queueOf(contenders) }))
  await out.show(document, () => (rows.length === 0 ? 'no lock is in use' : aligned(rows)))
}

/** Returns a duration in its largest unit, such as `3 min`. */
function ageText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? [1, 's']
  return `${Math.floor(seconds / size)} ${unit}`
}

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const
