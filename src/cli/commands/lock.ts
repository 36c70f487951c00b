// `zkwire lock`.
import { hostname, userInfo } from 'node:os'
import type { Client } from '../../client/index.ts'
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
  wait: { type: 'string', short: 'w', value: 'SECONDS', help: 'waits at most this long; default: without limit' },
  'no-wait': { type: 'boolean', short: 'n', help: 'does not wait if the lock is taken' },
  grace: {
    type: 'string',
    value: 'SECONDS',
    help: 'how long CMD has to end when the lock is lost or no server confirms it; default: a third of the session timeout',
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
    'CMD gets the fencing token in $ZKWIRE_TOKEN, and the path of its node in $ZKWIRE_LOCK_NODE. Signals are handed on ' +
      'to its process group. When CMD ends, the lock is released. The exit status is that of CMD.',
    'If the connection is lost, CMD gets SIGTERM when the session is certainly alive for less than --grace, and SIGKILL ' +
      'before another client can have the lock. If somebody deletes the node of the lock, CMD gets SIGTERM at once, and ' +
      'SIGKILL after --grace. The exit status is then 76. It is 75 if the lock was not acquired in time.',
    'If zkwire itself is killed with SIGKILL, or stopped, CMD goes on without the lock. No lock service can prevent ' +
      'that. $ZKWIRE_TOKEN is the protection: it is larger for each holder, so let the resource refuse a smaller ' +
      'token than the largest that it has seen.',
    'CMD runs in a process group and a session of its own, so it cannot open /dev/tty.',
  ],
  arguments: [{ name: 'PATH', kind: 'path', help: 'the node of the lock; missing nodes are created' }],
  options,
  takesProgram: true,
  hasJson: false,
  examples: [
    'zkwire lock /locks/backup -- ./backup.sh',
    "zkwire lock /locks/report --wait 60 -- sh -c 'echo $ZKWIRE_TOKEN'",
    'zkwire lock /locks/index --read -- ./search.sh',
  ],
  async run(context) {
    const { values, program, clock, err, env, signals } = context
    const path = context.argument('PATH')
    if (program.length === 0) throw new UsageError('there is no program: write it after --')
    const timeout = secondsOf('wait', values.wait, 0)
    if (timeout !== undefined && values['no-wait']) throw new UsageError('--wait and --no-wait exclude each other')
    const given = secondsOf('grace', values.grace, 0)
    const make = lockOf(values)
    const client = await context.client()
    const grace = graceOf(given, client)
    const say = (text: string) => void err.stream.write(`zkwire lock: ${text}\n`)
    const held = await acquire(make(client, path), values['no-wait'], timeout, context.signal)
    if (held === null) throw new CommandError(statuses.timeout, `${escaped(path)} is taken`)
    const onEnding = (reason: string) => say(`${escaped(path)} is lost: ${reason}; ending ${program[0]}`)
    try {
      const { status, isLost } = await runGuarded({
        words: program,
        env,
        client,
        held,
        grace,
        clock,
        signals,
        onEnding,
      })
      await release(held, client)
      return isLost || held.signal.aborted ? statuses.lost : status
    } finally {
      // Also if the program cannot be started.
      await release(held, client)
    }
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
  signal: AbortSignal,
): Promise<Held | null> {
  const options = { signal, watchOwnNode: true }
  if (isImmediate) return lock.tryAcquire(options)
  if (seconds === undefined) return lock.acquire(options)
  try {
    return await lock.acquire({ ...options, timeout: seconds * 1000 })
  } catch (error) {
    if (!(error instanceof RecipeError) || error.code !== 'TIMEOUT') throw error
    throw new CommandError(statuses.timeout, `${escaped(lock.path)} was not acquired within ${seconds} s`)
  }
}
