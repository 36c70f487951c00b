// `zkwire lock`.
import { hostname, userInfo } from 'node:os'
import type { Client } from '../../client/index.ts'
import { isCode } from '../../protocol/index.ts'
import { LONGEST_TIMER } from '../../runtime/clock.ts'
import { Mutex, ReadWriteLock, RecipeError, Semaphore, TicketMutex, type Held, type Lock } from '../../recipes/index.ts'
import { command, type Values } from '../runner/command.ts'
import { CommandError, statuses, UsageError } from '../runner/failure.ts'
import { graceOf, release, runGuarded } from '../guarded/guarded-program.ts'
import { escaped } from '../runner/text.ts'
import { secondsOf, wholeNumberOf } from '../runner/values.ts'

const options = {
  read: { type: 'boolean', help: 'acquires the read side of a read-write lock' },
  write: { type: 'boolean', help: 'acquires the write side of a read-write lock' },
  permits: { type: 'string', value: 'N', help: 'acquires one of N permits of a semaphore' },
  ticket: { type: 'boolean', help: 'uses a TicketMutex, for hundreds of waiters that are all zkwire' },
  dialect: {
    type: 'string',
    value: 'NAME',
    choices: ['curator', 'kazoo', 'zookeeper'],
    help: 'the library whose names of nodes are used; default curator',
  },
  wait: {
    type: 'string',
    short: 'w',
    value: 'SECONDS',
    help:
      'waits at most this long for the lock, and a server too without --connect-timeout; default: without limit for ' +
      'the lock',
  },
  'no-wait': { type: 'boolean', short: 'n', help: 'does not wait if the lock is taken' },
  grace: {
    type: 'string',
    value: 'SECONDS',
    help: 'how long CMD has to end when the lock is lost or not confirmed; default: a sixth of the session timeout, at most a third',
  },
  id: {
    type: 'string',
    value: 'TEXT',
    help: 'what zkwire who shows of this contender; default: user@host and process id',
  },
} as const

export const lock = command({
  name: 'lock',
  summary: 'runs a program while it holds a lock',
  details: [
    'If the session ends during the wait, as in a long outage, zkwire queues again at the end in a new session, until ' +
      '--wait is over.',
    'CMD gets the fencing token in $ZKWIRE_TOKEN, and the path of its node in $ZKWIRE_LOCK_NODE. Signals are handed on ' +
      'to all processes that it has started. The lock is released when the last of them has ended. The exit status is ' +
      'that of CMD.',
    'If the servers do not confirm the lock any more, all these processes get SIGTERM when --grace is left until ' +
      'another client may have it, and SIGKILL before that. If somebody deletes the node of the lock, they get SIGTERM ' +
      'at once, and SIGKILL after --grace. The exit status is then 76. It is 75 if the lock was not acquired in time.',
    'A second process, the watchdog, ends CMD in the same way if zkwire itself is killed or stopped.',
    'CMD runs in a session of its own, so it cannot open /dev/tty. A process that begins another session (setsid), as a ' +
      'daemon does, is not watched, and nothing can end a program while its machine is suspended. $ZKWIRE_TOKEN is the ' +
      'protection: it is larger for each holder, so let the resource refuse a smaller token than the largest that it ' +
      'has seen.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the lock; missing nodes are created' }],
  options,
  takesProgram: true,
  endsItself: true,
  hasJson: false,
  examples: [
    'zkwire lock /locks/backup -- ./backup.sh',
    "zkwire lock /locks/report --wait 60 -- sh -c 'echo $ZKWIRE_TOKEN'",
    'zkwire lock /locks/index --read -- ./search.sh',
  ],
  async run(context) {
    const { values, program, clock, err, signal } = context
    const path = context.argument('PATH')
    if (program.length === 0) throw new UsageError('there is no program: write it after --')
    const timeout = secondsOf('wait', values.wait, 0)
    if (timeout !== undefined && values['no-wait']) throw new UsageError('--wait and --no-wait exclude each other')
    const given = secondsOf('grace', values.grace, 0)
    const make = lockOf(values)
    let startedAt = clock.now()
    // A server may be just about to start. Without --wait, a wrong address must not be waited for.
    let client = await context.client(timeout === undefined || timeout === 0 ? undefined : timeout * 1000)
    if ((await context.sessions.target()).options.connectTimeout !== undefined) startedAt = clock.now()
    const say = (text: string) => err.notice(`zkwire lock: ${text}`)
    let grace: number
    let held: Held | null
    for (;;) {
      grace = graceOf(given, client)
      const passed = clock.now() - startedAt
      try {
        held = await acquire(make(client, path), values['no-wait'], timeout, passed, signal)
        break
      } catch (error) {
        if (values['no-wait'] || !isCode(error, 'SESSIONEXPIRED')) throw error
      }
      say(`the session has ended during the wait for ${escaped(path)}; waiting again, at the end of the queue`)
      const left = timeout === undefined ? LONGEST_TIMER : timeout * 1000 - (clock.now() - startedAt)
      client = await context.client(Math.max(1, left))
    }
    if (held === null) throw new CommandError(statuses.timeout, `${escaped(path)} is taken`)
    let status: number
    let isLost: boolean
    try {
      ;({ status, isLost } = await runGuarded(context, {
        ...{ client, held, grace, say, lost: `${escaped(path)} is lost` },
      }))
    } finally {
      // Also if the program cannot be started.
      await release(held, client, signal)
    }
    return isLost ? statuses.lost : status
  },
})

type Make = (client: Client, path: string) => Pick<Lock, 'path' | 'acquire' | 'tryAcquire'>

/** @throws UsageError if options exclude each other */
function lockOf({ read, write, permits, ticket, dialect, id }: Values<typeof options>): Make {
  const count = wholeNumberOf('permits', permits, 1)
  const kinds = { '--read': read, '--write': write, '--permits': count !== undefined, '--ticket': ticket }
  const [kind, another] = Object.entries(kinds).flatMap(([name, isGiven]) => (isGiven ? [name] : []))
  if (kind !== undefined && another !== undefined) throw new UsageError(`${kind} and ${another} exclude each other`)
  if (dialect !== undefined && (ticket || count !== undefined))
    throw new UsageError(`--dialect and ${kind} exclude each other: that lock has only one kind of names`)
  const own = id ?? `${userName()}@${hostname()} ${process.pid}`
  if (count !== undefined) return (client, path) => new Semaphore(client, path, count, { id: own })
  if (ticket) return (client, path) => new TicketMutex(client, path, { id: own })
  if (!read && !write) {
    const names = (dialect ?? 'curator') as 'curator'
    return (client, path) => new Mutex(client, path, { id: own, dialect: names })
  }
  if (dialect === 'zookeeper') throw new UsageError(`--dialect zookeeper and ${kind} exclude each other`)
  const side = read ? 'readLock' : 'writeLock'
  const names = (dialect ?? 'curator') as 'curator'
  return (client, path) => new ReadWriteLock(client, path, { id: own, dialect: names })[side]
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // The user id has no name, as in some containers.
    return 'unknown'
  }
}

async function acquire(
  lock: Pick<Lock, 'path' | 'acquire' | 'tryAcquire'>,
  isImmediate: boolean,
  seconds: number | undefined,
  passed: number,
  signal: AbortSignal,
): Promise<Held | null> {
  const options = { signal, watchOwnNode: true }
  if (isImmediate) return lock.tryAcquire(options)
  if (seconds === undefined) return lock.acquire(options)
  try {
    return await lock.acquire({ ...options, timeout: Math.max(0, seconds * 1000 - passed) })
  } catch (error) {
    if (!(error instanceof RecipeError) || error.code !== 'TIMEOUT') throw error
    const why = error.cause === undefined ? 'another contender holds it' : 'no server answers'
    throw new CommandError(statuses.timeout, `${escaped(lock.path)} was not acquired within ${seconds} s: ${why}`)
  }
}
